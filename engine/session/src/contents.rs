//! The results of `resources/read` and `prompts/get`: what a client gets of them.

use super::calls::OpenCall;
use super::client::Generation;
use super::delivery::{Passed, write_observed};
use super::limits::LIST_TTL_MS;
use super::method::Method;
use agent_api::served::deliver_unlocked;
use agent_api::text::visible;
use agent_record::Redactor;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{items, member, string};
use agent_syntax::{Node, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Maximum number of faults of a result that a refusal lists.
const FAULTS_MAX: usize = 16;

/// Checks a result by its shape, its size and the secrets of the host, and keeps what MCP defines.
///
/// # Errors
/// A sentence for each reason to withhold it.
pub(crate) fn pass(
    call: &OpenCall,
    method: Method,
    result: &[u8],
    max_bytes: u64,
    redactor: &Redactor,
) -> Result<Passed, Vec<String>> {
    let one = |text: String| vec![text];
    if result.len() as u64 > max_bytes {
        let size = result.len();
        return Err(one(format!(
            "the result has {size} bytes; the limit is {max_bytes}"
        )));
    }
    let text = core::str::from_utf8(result).map_err(|_| one("the result is not UTF-8".into()))?;
    let root = parse_strict(text).filter(|it| matches!(it.value, Value::Mapping(_)));
    let root = root.ok_or_else(|| one("the result is not a strict JSON object".into()))?;
    let mut faults = Vec::new();
    let of_type = member(&root, "resultType").map(|it| string(it).unwrap_or_default());
    if let Some(other) = of_type.filter(|it| *it != "complete") {
        let other = visible(other);
        faults.push(format!("its `resultType` is `{other}`, not `complete`"));
    }
    if redactor.is_in(text) {
        faults.push("it holds the value of a secret of the host".to_owned());
    }
    let is_read = method == Method::ReadResource;
    let name = if is_read { "contents" } else { "messages" };
    let listed = member(&root, name);
    match listed.and_then(items) {
        None => faults.push(format!("its `{name}` is not a list")),
        Some(items) if is_read => contents(items, &mut faults),
        Some(items) => messages(items, text, &mut faults),
    }
    let description = match member(&root, "description").filter(|_| !is_read) {
        Some(node) if string(node).is_none() => {
            faults.push("its `description` is not a string".to_owned());
            None
        }
        other => other,
    };
    let Some(listed) = listed.filter(|_| faults.is_empty()) else {
        faults.truncate(FAULTS_MAX);
        return Err(faults);
    };
    let is_new = call.generation == Generation::Stateless;
    let mut w = Writer::dense();
    w.object(|w| {
        if !call.observed.is_empty() {
            w.key("_meta").object(|w| write_observed(w, call));
        }
        if is_new && is_read {
            w.key("cacheScope").string("private");
        }
        if is_read {
            w.key(name).json(listed.span.of(text));
        }
        if let Some(description) = description {
            w.key("description").json(description.span.of(text));
        }
        if !is_read {
            w.key(name).json(listed.span.of(text));
        }
        if is_new {
            w.key("resultType").string("complete");
        }
        if is_new && is_read {
            w.key("ttlMs").number(LIST_TTL_MS);
        }
    });
    let mut kept = w.finish();
    kept.pop();
    Ok(match kept == text {
        true => Passed::AsReceived,
        false => Passed::Changed(kept.into_bytes()),
    })
}

/// Checks the contents of a resource.
fn contents(items: &[Node<'_>], faults: &mut Vec<String>) {
    for (number, item) in items.iter().enumerate() {
        let text_of = |name: &str| member(item, name).map(string);
        let fault = match (text_of("text"), text_of("blob")) {
            _ if text_of("uri").flatten().is_none() => "has no string `uri`",
            _ if text_of("mimeType") == Some(None) => "has a `mimeType` that is not a string",
            (Some(Some(_)), None) => continue,
            (None, Some(Some(blob))) if STANDARD.decode(blob).is_ok() => continue,
            (None, Some(Some(_))) => "has a `blob` that is not base64",
            _ => "has not one string `text` or `blob`",
        };
        faults.push(format!("`/contents/{number}` {fault}"));
        if faults.len() >= FAULTS_MAX {
            return;
        }
    }
}

/// Checks the messages of a prompt.
fn messages(items: &[Node<'_>], text: &str, faults: &mut Vec<String>) {
    let mut blocks = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let role = member(item, "role").and_then(string);
        if !matches!(role, Some("assistant" | "user")) {
            faults.push(format!(
                "`/messages/{number}/role` is neither `user` nor `assistant`"
            ));
        }
        let content = member(item, "content").map_or("null", |it| it.span.of(text));
        blocks.push(content);
        if faults.len() >= FAULTS_MAX {
            return;
        }
    }
    // The content of a message is a block of a tool's result.
    let payload = format!(r#"{{"content":[{}]}}"#, blocks.join(","));
    if let Err(found) = deliver_unlocked(payload.into_bytes()) {
        let found = found.into_iter();
        faults.extend(found.map(|it| it.replace("/content/", "/messages/")));
    }
}
