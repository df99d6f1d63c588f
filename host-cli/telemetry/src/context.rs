//! What spans of several programs have in common \[W3C Trace Context\].

use agent_host::{hex, random};

/// The id of a trace: 16 bytes that are not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceId([u8; 16]);

/// The id of a span: 8 bytes that are not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanId([u8; 8]);

/// A span that others belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace: TraceId,
    /// The span.
    pub span: SpanId,
}

impl TraceId {
    /// Returns a random id, or `None` if the system has no random bytes.
    #[must_use]
    pub fn random() -> Option<Self> {
        random_id().map(Self)
    }

    /// Returns the 32 digits of the id.
    #[must_use]
    pub fn hex(&self) -> String {
        hex(&self.0)
    }
}

impl SpanId {
    /// Returns a random id, or `None` if the system has no random bytes.
    #[must_use]
    pub fn random() -> Option<Self> {
        random_id().map(Self)
    }

    /// Returns the 16 digits of the id.
    #[must_use]
    pub fn hex(&self) -> String {
        hex(&self.0)
    }
}

impl TraceContext {
    /// Returns the `traceparent` of what belongs to this span. Every span is recorded, so it is sampled.
    #[must_use]
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-01", self.trace.hex(), self.span.hex())
    }

    /// Reads a `traceparent`. Returns `None` for one that is not valid: its span belongs to nothing then.
    #[must_use]
    pub fn parse(traceparent: &str) -> Option<Self> {
        let mut parts = traceparent.splitn(5, '-');
        let (version, trace, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let [version] = bytes::<1>(version)?;
        bytes::<1>(flags)?;
        // Later versions may add parts, this one has none.
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return None;
        }
        let (trace, span) = (bytes(trace)?, bytes(span)?);
        let is_valid = trace != [0; 16] && span != [0; 8];
        is_valid.then_some(Self {
            trace: TraceId(trace),
            span: SpanId(span),
        })
    }
}

fn random_id<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = random::<N>().ok()?;
    // Zero is no id.
    bytes[N - 1] |= u8::from(bytes == [0; N]);
    Some(bytes)
}

/// Reads lower-case digits.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 2 * N || !text.bytes().all(is_digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{SpanId, TraceContext, TraceId};

    #[test]
    fn a_parent_is_read_strictly() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let span = "00f067aa0ba902b7";
        for right in [
            format!("00-{trace}-{span}-01"),
            format!("00-{trace}-{span}-00"),
            format!("cc-{trace}-{span}-01-more"),
        ] {
            let read = TraceContext::parse(&right).unwrap();
            assert_eq!(
                (read.trace.hex(), read.span.hex()),
                (trace.to_owned(), span.to_owned())
            );
            assert_eq!(read.traceparent(), format!("00-{trace}-{span}-01"));
        }
        for wrong in [
            String::new(),
            format!("00-{trace}-{span}"),
            format!("00-{trace}-{span}-01-more"),
            format!("ff-{trace}-{span}-01"),
            format!("00-{}-{span}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-{}-{span}-01", trace.to_uppercase()),
            format!("00-{}-{span}-01", &trace[2..]),
            format!("00-{trace}-{span}-é"),
            format!("00-{trace}é-{span}-01"),
        ] {
            assert_eq!(TraceContext::parse(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn ids_are_random() {
        let (one, other) = (TraceId::random().unwrap(), TraceId::random().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.hex().len(), 32);
        assert_eq!(SpanId::random().unwrap().hex().len(), 16);
    }
}
