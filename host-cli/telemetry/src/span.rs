//! Spans.

use super::context::{SpanId, TraceContext, TraceId};
use agent_host::unix_time;
use std::ops::Range;
use std::time::Instant;

/// Maximum number of attributes of a span. Further ones are left out.
const ATTRIBUTES: usize = 64;

/// Maximum number of characters of a text in a span. The rest is left out.
const TEXT_CHARS: usize = 256;

/// Maximum number of texts of an attribute with several. Further ones are left out.
const TEXTS: usize = 32;

/// What a span is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A received request.
    Server,
    /// A sent request.
    Client,
    /// A part of the program's own work.
    Internal,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
    /// Yes or no.
    Flag(bool),
    /// Several texts.
    Texts(Vec<String>),
}

/// An attribute with its name.
pub type Attribute = (&'static str, Value);

/// Something that a program did, from its begin to its end.
#[derive(Debug, Clone)]
pub struct Span {
    pub(crate) context: TraceContext,
    pub(crate) parent: Option<SpanId>,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) attributes: Vec<Attribute>,
    /// The reason, if it failed.
    pub(crate) error: Option<String>,
    /// Nanoseconds since 1970.
    pub(crate) began: u64,
    /// Nanoseconds since 1970; the begin until it ends.
    pub(crate) ended: u64,
    /// When it began; `None` for a span that has ended already.
    clock: Option<Instant>,
}

impl Span {
    /// Begins a span. Without a parent it begins a trace. Returns `None` if the system has no random bytes.
    #[must_use]
    pub fn begin(kind: Kind, name: &str, parent: Option<TraceContext>) -> Option<Self> {
        let began = u64::try_from(unix_time().as_nanos()).unwrap_or(u64::MAX);
        let trace = match parent {
            Some(parent) => parent.trace,
            None => TraceId::random()?,
        };
        Some(Self {
            context: TraceContext {
                trace,
                span: SpanId::random()?,
            },
            parent: parent.map(|it| it.span),
            name: cut(name),
            kind,
            attributes: Vec::new(),
            error: None,
            began,
            ended: began,
            clock: Some(Instant::now()),
        })
    }

    /// Returns a span of something that was observed later, from its begin to its end in milliseconds since 1970. Returns
    /// `None` if the system has no random bytes.
    #[must_use]
    pub fn past(
        kind: Kind,
        name: &str,
        parent: Option<TraceContext>,
        ms: Range<u64>,
    ) -> Option<Self> {
        const NANOS: u64 = 1_000_000;
        let span = Self::begin(kind, name, parent)?;
        let began = ms.start.saturating_mul(NANOS);
        Some(Self {
            began,
            ended: ms.end.saturating_mul(NANOS).max(began),
            clock: None,
            ..span
        })
    }

    /// Returns what spans within this one belong to.
    #[must_use]
    pub fn context(&self) -> TraceContext {
        self.context
    }

    /// Names the span otherwise.
    pub fn rename(&mut self, name: &str) {
        self.name = cut(name);
    }

    /// Sets an attribute, instead of an earlier one of the name.
    pub fn set(&mut self, name: &'static str, value: Value) {
        let value = match value {
            Value::Text(text) => Value::Text(cut(&text)),
            Value::Texts(texts) => {
                Value::Texts(texts.iter().take(TEXTS).map(|it| cut(it)).collect())
            }
            other => other,
        };
        let number = self.attributes.len();
        match self.attributes.iter_mut().find(|(own, _)| *own == name) {
            Some((_, own)) => *own = value,
            None if number < ATTRIBUTES => self.attributes.push((name, value)),
            None => {}
        }
    }

    /// Sets an attribute to a text.
    pub fn text(&mut self, name: &'static str, text: &str) {
        self.set(name, Value::Text(text.to_owned()));
    }

    /// Says that what the span is about failed.
    pub fn fail(&mut self, reason: &str) {
        self.error = Some(cut(reason));
    }

    /// Ends the span now.
    pub(crate) fn end(&mut self) {
        if let Some(clock) = self.clock {
            let time = u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.ended = self.began.saturating_add(time);
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, Span, TEXT_CHARS, Value};

    #[test]
    fn texts_and_attributes_are_bounded() {
        let mut span = Span::begin(Kind::Server, &"é".repeat(1000), None).unwrap();
        assert_eq!(span.name.chars().count(), TEXT_CHARS);
        span.text("a", &"x".repeat(1000));
        span.text("a", "y");
        span.set("b", Value::Texts(vec!["z".repeat(1000); 1000]));
        assert_eq!(span.attributes[0], ("a", Value::Text("y".to_owned())));
        let Value::Texts(texts) = &span.attributes[1].1 else {
            panic!("not texts");
        };
        assert_eq!((texts.len(), texts[0].len()), (super::TEXTS, TEXT_CHARS));
    }

    #[test]
    fn a_span_belongs_to_its_parent() {
        let parent = Span::begin(Kind::Server, "a", None).unwrap();
        let child = Span::begin(Kind::Client, "b", Some(parent.context())).unwrap();
        assert_eq!(child.context().trace, parent.context().trace);
        assert_eq!(child.parent, Some(parent.context().span));
        assert_ne!(child.context().span, parent.context().span);
    }
}
