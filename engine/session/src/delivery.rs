//! The result of a server: what a client gets of it.

use super::calls::OpenCall;
use super::client::Generation;
use super::limits::{REQUEST_STATE_MAX_BYTES, UNSOUND_BLOCKS_MAX};
use super::refusal::{EFFECT_KEY, Effect, OBSERVED_KEY, OWN_PREFIX};
use agent_api::diagnostic::Code;
use agent_api::served::deliver_unlocked;
use agent_api::text::sort::{map_of, sort_by_key};
use agent_record::Redactor;
use agent_syntax::json::{Kind, Reader, SyntaxError, Writer, parse_strict};
use agent_syntax::members::{items, member, string};
use agent_syntax::{Node, Value};
use std::borrow::Cow;

/// What a client gets of the result of a call.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) result: Vec<u8>,
    /// Whether the tool reports an error.
    pub(crate) is_error: bool,
    /// Number of keys of the session's own that the server wrote, and that were removed.
    pub(crate) removed: u64,
}

/// What a client gets of a response to another request.
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
) -> Result<Delivery, Vec<String>> {
    if result.len() as u64 > max_bytes {
        let size = result.len();
        return Err(vec![format!(
            "the result has {size} bytes; the limit is {max_bytes}"
        )]);
    }
    let deliver = |result: &[u8]| match call.tool() {
        Some(tool) => tool.served.deliver(result.to_vec()),
        None => deliver_unlocked(result.to_vec()),
    };
    let Ok(text) = core::str::from_utf8(result) else {
        deliver(result)?;
        return Err(vec!["the result is not UTF-8".to_owned()]);
    };
    let (mut text, removed) = without_own_keys(text);
    let is_error = match deliver(text.as_bytes()) {
        Ok(is_error) => is_error,
        Err(texts) => {
            // One block costs the client no other.
            text = Cow::Owned(with_sound_blocks(&text).ok_or(texts)?);
            deliver(text.as_bytes())?
        }
    };
    let Ok(envelope) = Envelope::read(&text) else {
        return Err(vec!["the result is not strict JSON".to_owned()]);
    };
    let mut reasons = Vec::new();
    if let Some(other) = envelope
        .result_type
        .as_deref()
        .filter(|it| *it != "complete")
    {
        let other = agent_api::text::visible(other).into_owned();
        reasons.push(format!("its `resultType` is `{other}`, not `complete`"));
    }
    if redactor.is_in(&text) {
        reasons.push("it holds the value of a secret of the host".to_owned());
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let effect = if is_error {
        Effect::Unknown
    } else {
        Effect::Done
    };
    Ok(Delivery {
        result: envelope.marked(&text, call, effect).into_bytes(),
        is_error,
        removed,
    })
}

/// Returns a result in which each content block of an unknown or malformed type is a text that says so, or `None` if it has
/// none.
fn with_sound_blocks(text: &str) -> Option<String> {
    let mut sound: Option<String> = None;
    // Each turn finds the first faults.
    for _ in 0..UNSOUND_BLOCKS_MAX / agent_api::model::Envelope::FAULTS {
        let next = replace_blocks(sound.as_deref().unwrap_or(text));
        match next {
            Some(next) => sound = Some(next),
            None => break,
        }
    }
    sound
}

fn replace_blocks(text: &str) -> Option<String> {
    let payload = agent_api::lower::payload(text.as_bytes().to_vec()).ok()?;
    let faults = &payload.value.envelope().faults;
    let number = |pointer: &str| {
        let place = pointer.strip_prefix("/content/")?;
        place.split('/').next()?.parse::<usize>().ok()
    };
    let faults = faults.iter();
    let faults = map_of(faults.filter_map(|it| Some((number(&it.pointer)?, &*it.message))));
    let root = parse_strict(text)?;
    let blocks = items(member(&root, "content")?)?;
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for (number, message) in faults {
        let span = blocks.get(number)?.span;
        let mut w = Writer::dense();
        w.object(|w| {
            let what = format!("The gateway left out a content block that {message}.");
            w.key("text").string(&what);
            w.key("type").string("text");
        });
        out.push_str(&text[end..span.start as usize]);
        out.push_str(w.finish().trim_end());
        end = span.end as usize;
    }
    out.push_str(&text[end..]);
    (end > 0).then_some(out)
}

/// Removes every key of the session's own, at any depth: no server says in its name what a call did.
fn without_own_keys(text: &str) -> (Cow<'_, str>, u64) {
    // A key may be written with escapes.
    let may_have = text.contains("agent-engine") || text.contains("\\u");
    let Some(root) = may_have.then(|| parse_strict(text)).flatten() else {
        return (Cow::Borrowed(text), 0);
    };
    let mut cuts = Vec::new();
    find_own_keys(&root, &mut cuts);
    if cuts.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for (from, to) in &cuts {
        out.push_str(&text[end..*from]);
        end = *to;
    }
    out.push_str(&text[end..]);
    (Cow::Owned(out), cuts.len() as u64)
}

/// Collects the members of a value whose keys are the session's own, each with one of its commas, in their order.
fn find_own_keys(node: &Node<'_>, cuts: &mut Vec<(usize, usize)>) {
    match &node.value {
        Value::Sequence(items) => items.iter().for_each(|item| find_own_keys(item, cuts)),
        Value::Mapping(entries) => {
            let mut is_first = true;
            for (number, entry) in entries.iter().enumerate() {
                if !entry.key.starts_with(OWN_PREFIX) {
                    is_first = false;
                    find_own_keys(&entry.value, cuts);
                    continue;
                }
                let end = entry.value.span.end as usize;
                let before = number.checked_sub(1).and_then(|before| entries.get(before));
                cuts.push(match (before, entries.get(number + 1)) {
                    // Behind one that stays: with the comma before it.
                    (Some(before), _) if !is_first => (before.value.span.end as usize, end),
                    (_, Some(next)) => {
                        (entry.key_span.start as usize, next.key_span.start as usize)
                    }
                    (_, None) => (entry.key_span.start as usize, end),
                });
            }
        }
        _ => {}
    }
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
        while reader.key(&mut first)?.is_some() {
            is_empty = false;
            reader.skip()?;
        }
        self.meta = Some((start, is_empty));
        Ok(())
    }

    /// Returns the result with the mark of its effect, and with what the client needs: 2026-07-28 requires a
    /// `resultType`, 2025-11-25 knows no `structuredContent` but an object, and an observed call is marked.
    fn marked(&self, text: &str, call: &OpenCall, effect: Effect) -> String {
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
        let mark = mark(call, effect);
        edits.push(match self.meta {
            Some((at, true)) => (at, at, mark),
            Some((at, false)) => (at, at, format!("{mark},")),
            None => (self.start, self.start, format!("\"_meta\":{{{mark}}},")),
        });
        let structured = self.structured.as_ref().filter(|it| !it.is_object);
        if let Some(structured) = structured.filter(|_| call.generation == Generation::Sessions) {
            let (from, to) = structured.value;
            if let Some((at, is_empty)) = structured.content {
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
        }
        sort_by_key(&mut edits, |it| it.0);
        let (mut out, mut end) = (String::with_capacity(text.len() + 64), 0);
        for (from, to, replacement) in edits {
            out.push_str(&text[end..from]);
            out.push_str(&replacement);
            end = to;
        }
        out.push_str(&text[end..]);
        out
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

/// Returns the members of `_meta` that mark a result.
fn mark(call: &OpenCall, effect: Effect) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key(EFFECT_KEY).string(effect.name());
        if !call.observed.is_empty() {
            write_observed(w, call);
        }
    });
    let object = w.finish();
    let object = object.trim_end();
    object[1..object.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Envelope, without_own_keys};

    #[test]
    fn keys_of_our_own_are_removed_at_any_depth() {
        for (text, left, count) in [
            (r#"{"content":[]}"#, r#"{"content":[]}"#, 0),
            (
                r#"{"_meta":{"io.github.agent-engine/effect":"none"},"content":[]}"#,
                r#"{"_meta":{},"content":[]}"#,
                1,
            ),
            (
                r#"{"_meta":{"a":1, "\u0069o.github.agent-engine/x":{"y":1} ,"b":2}}"#,
                r#"{"_meta":{"a":1 ,"b":2}}"#,
                1,
            ),
            (
                r#"{"io.github.agent-engine/a":1,"io.github.agent-engine/b":2,"c":[{"io.github.agent-engine/d":[]}]}"#,
                r#"{"c":[{}]}"#,
                3,
            ),
            (
                r#"{"c":"io.github.agent-engine/e","io.github.agent-engine/a":1,"io.github.agent-engine/b":2}"#,
                r#"{"c":"io.github.agent-engine/e"}"#,
                2,
            ),
        ] {
            let (found, removed) = without_own_keys(text);
            assert_eq!((&*found, removed), (left, count));
        }
    }

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
