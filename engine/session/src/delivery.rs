//! The result of a server: what a client gets of it.

use super::calls::OpenCall;
use super::client::Generation;
use super::limits::REQUEST_STATE_MAX_BYTES;
use super::refusal::{OBSERVED_KEY, OWN_PREFIX};
use agent_api::diagnostic::Code;
use agent_api::served::deliver_unlocked;
use agent_record::Redactor;
use agent_syntax::json::{Kind, Reader, SyntaxError, Writer, parse_strict};
use agent_syntax::members::{member, string};

/// What a client gets of a result.
#[derive(Debug)]
pub(crate) enum Passed {
    /// The result as it was received.
    AsReceived,
    /// The result with what the client's generation of the protocol needs.
    Changed(Vec<u8>),
}

/// The members of a result that decide how it is passed on, with their places.
#[derive(Debug, Default)]
struct Envelope {
    /// Behind the `{` of the result.
    start: usize,
    /// Behind the `{` of `_meta`, and whether that is empty.
    meta: Option<(usize, bool)>,
    has_own_key: bool,
    result_type: Option<String>,
    structured: Option<Structured>,
}

#[derive(Debug)]
struct Structured {
    is_object: bool,
    /// From the key to the end of the value.
    member: (usize, usize),
    value: (usize, usize),
    is_first: bool,
    /// The end of the value of `content`, before its `]`, and whether that is empty.
    content: Option<(usize, bool)>,
}

/// Checks a result by its shape, the output schema of its tool, its size and the secrets of the host.
///
/// # Errors
/// A sentence for each reason to withhold it.
pub(crate) fn pass(
    call: &OpenCall,
    result: &[u8],
    max_bytes: u64,
    redactor: &Redactor,
) -> Result<(Passed, bool), Vec<String>> {
    if result.len() as u64 > max_bytes {
        let size = result.len();
        return Err(vec![format!(
            "the result has {size} bytes; the limit is {max_bytes}"
        )]);
    }
    let is_error = match call.tool() {
        Some(tool) => tool.served.deliver(result.to_vec())?,
        None => deliver_unlocked(result.to_vec())?,
    };
    // It was read as strict JSON.
    let Ok(text) = core::str::from_utf8(result) else {
        return Err(vec!["the result is not UTF-8".to_owned()]);
    };
    let Ok(envelope) = Envelope::read(text) else {
        return Err(vec!["the result is not strict JSON".to_owned()]);
    };
    let mut reasons = Vec::new();
    if envelope.has_own_key {
        reasons.push(format!(
            "its `_meta` has a key that begins with `{OWN_PREFIX}`"
        ));
    }
    if let Some(other) = envelope
        .result_type
        .as_deref()
        .filter(|it| *it != "complete")
    {
        let other = agent_api::text::visible(other).into_owned();
        reasons.push(format!("its `resultType` is `{other}`, not `complete`"));
    }
    if redactor.is_in(text) {
        reasons.push("it holds the value of a secret of the host".to_owned());
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let passed = match envelope.changed(text, call) {
        Some(changed) => Passed::Changed(changed.into_bytes()),
        None => Passed::AsReceived,
    };
    Ok((passed, is_error))
}

/// Returns the `requestState` of a result by which a server asks its client to repeat the call. Returns
/// `None` for other results.
///
/// # Errors
/// A sentence for each reason to withhold it: it asks for input, which servers do not get.
pub(crate) fn continues(
    call: &OpenCall,
    result: &[u8],
    max_bytes: u64,
    redactor: &Redactor,
) -> Option<Result<String, Vec<String>>> {
    call.tool?;
    let is_small = result.len() as u64 <= max_bytes;
    let text = core::str::from_utf8(result).ok().filter(|_| is_small)?;
    // Most results are not: they are parsed once.
    let root = text
        .contains("input_required")
        .then(|| parse_strict(text))??;
    let of = |name| member(&root, name);
    if of("resultType").and_then(string) != Some("input_required") {
        return None;
    }
    let mut reasons = Vec::new();
    let asks = of("inputRequests").is_some();
    if asks {
        let text = "it asks for sampling, roots or elicitation, which servers do not get";
        reasons.push(text.to_owned());
    }
    if redactor.is_in(text) {
        reasons.push("it holds the value of a secret of the host".to_owned());
    }
    let state = of("requestState").and_then(string);
    match state {
        // A request for input may do without a state.
        None if asks => {}
        None => reasons.push("its `requestState` is not a string".to_owned()),
        Some(state) if state.len() > REQUEST_STATE_MAX_BYTES => reasons.push(format!(
            "its `requestState` has {} bytes; the limit is {REQUEST_STATE_MAX_BYTES}",
            state.len()
        )),
        Some(_) => {}
    }
    Some(match reasons.is_empty() {
        true => Ok(state.unwrap_or_default().to_owned()),
        false => Err(reasons),
    })
}

type Read<T> = Result<T, Box<SyntaxError>>;

impl Envelope {
    /// Reads a result, which was read as a `CallToolResult` before.
    fn read(text: &str) -> Read<Self> {
        let mut reader = Reader::new(text);
        let mut envelope = Self::default();
        reader.kind()?;
        reader.enter_object()?;
        envelope.start = reader.offset();
        let (mut first, mut is_first) = (true, true);
        let mut content = None;
        while let Some(key) = reader.key(&mut first)? {
            let kind = reader.kind()?;
            let start = reader.offset();
            match (&*key.value, kind) {
                ("_meta", Kind::Object) => envelope.read_meta(&mut reader)?,
                ("resultType", Kind::String) => {
                    envelope.result_type = Some(reader.string()?.value.into_owned());
                }
                ("structuredContent", _) => {
                    reader.skip()?;
                    envelope.structured = Some(Structured {
                        is_object: kind == Kind::Object,
                        member: (key.span.start as usize, reader.offset()),
                        value: (start, reader.offset()),
                        is_first,
                        content: None,
                    });
                }
                ("content", Kind::Array) => {
                    reader.skip()?;
                    let end = reader.offset() - 1;
                    let is_empty = text[start + 1..end].trim().is_empty();
                    content = Some((end, is_empty));
                }
                _ => reader.skip()?,
            }
            is_first = false;
        }
        if let Some(structured) = &mut envelope.structured {
            structured.content = content;
        }
        Ok(envelope)
    }

    fn read_meta(&mut self, reader: &mut Reader<'_>) -> Read<()> {
        reader.enter_object()?;
        let start = reader.offset();
        let (mut first, mut is_empty) = (true, true);
        while let Some(key) = reader.key(&mut first)? {
            is_empty = false;
            self.has_own_key |= key.value.starts_with(OWN_PREFIX);
            reader.skip()?;
        }
        self.meta = Some((start, is_empty));
        Ok(())
    }

    /// Returns the result with what the client needs, if that is not the result itself: 2026-07-28 requires
    /// a `resultType`, 2025-11-25 knows no `structuredContent` but an object, and an observed call is
    /// marked.
    fn changed(&self, text: &str, call: &OpenCall) -> Option<String> {
        // The places of insertions and removals: start, end, replacement.
        let mut edits: Vec<(usize, usize, String)> = Vec::new();
        let needs_type = call.generation == Generation::Stateless && self.result_type.is_none();
        if needs_type {
            edits.push((
                self.start,
                self.start,
                "\"resultType\":\"complete\",".to_owned(),
            ));
        }
        if !call.observed.is_empty() {
            let mark = observed(call);
            edits.push(match self.meta {
                Some((at, true)) => (at, at, mark),
                Some((at, false)) => (at, at, format!("{mark},")),
                None => (self.start, self.start, format!("\"_meta\":{{{mark}}},")),
            });
        }
        let structured = self.structured.as_ref().filter(|it| !it.is_object);
        if let Some(structured) = structured.filter(|_| call.generation == Generation::Sessions) {
            let (from, to) = structured.value;
            let (at, is_empty) = structured.content?;
            let mut w = Writer::dense();
            w.object(|w| {
                w.key("text").string(&text[from..to]);
                w.key("type").string("text");
            });
            let block = w.finish();
            let comma = if is_empty { "" } else { "," };
            edits.push((at, at, format!("{comma}{}", block.trim_end())));
            edits.push(removal(text, structured));
        }
        if edits.is_empty() {
            return None;
        }
        edits.sort_by_key(|it| it.0);
        let (mut out, mut end) = (String::with_capacity(text.len() + 64), 0);
        for (from, to, replacement) in edits {
            out.push_str(&text[end..from]);
            out.push_str(&replacement);
            end = to;
        }
        out.push_str(&text[end..]);
        Some(out)
    }
}

/// Returns the removal of a member with one of its commas. `content` is another member, so there is one.
fn removal(text: &str, structured: &Structured) -> (usize, usize, String) {
    let (from, to) = structured.member;
    if structured.is_first {
        let comma = text[to..].find(',').map_or(to, |at| to + at + 1);
        (from, comma, String::new())
    } else {
        let comma = text[..from].rfind(',').unwrap_or(from);
        (comma, to, String::new())
    }
}

/// Writes the member of `_meta` that marks an observed call.
pub(crate) fn write_observed(w: &mut Writer, call: &OpenCall) {
    w.key(OBSERVED_KEY).object(|w| {
        let codes = call.observed.iter().map(|code: &Code| code.name());
        w.key("codes").strings(codes);
    });
}

/// Returns the member of `_meta` that marks an observed call.
fn observed(call: &OpenCall) -> String {
    let mut w = Writer::dense();
    w.object(|w| write_observed(w, call));
    let object = w.finish();
    let object = object.trim_end();
    object[1..object.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::Envelope;

    #[test]
    fn a_member_is_removed_with_its_comma() {
        for (text, left) in [
            (
                r#"{"structuredContent":[1],"content":[]}"#,
                r#"{"content":[]}"#,
            ),
            (
                r#"{"content":[] , "structuredContent":"a,b"}"#,
                r#"{"content":[] }"#,
            ),
            (
                r#"{"content":[],"structuredContent":1,"x":2}"#,
                r#"{"content":[],"x":2}"#,
            ),
        ] {
            let envelope = Envelope::read(text).expect("a result");
            let structured = envelope.structured.expect("structured content");
            let (from, to, _) = super::removal(text, &structured);
            assert_eq!(format!("{}{}", &text[..from], &text[to..]), left);
        }
    }
}
