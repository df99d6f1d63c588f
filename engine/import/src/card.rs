//! The card of a server, as it was before it took the form of a registry's `server.json`: what a client learns of a
//! server without a session.

use super::capture::{at, listed};
use super::described::{DescribedServer, FieldValue, Unusable, member};
use super::endpoint::{Refusal, check_url};
use super::registry::{spanned_text, version};
use agent_diagnostic::Problems;
use agent_lower::fields::{Object, opening};
use agent_syntax::{Node, Value};
use std::borrow::Cow;

/// The members that may have the endpoint.
const ENDPOINTS: [&[&str]; 3] = [
    &["transport", "endpoint"],
    &["transport", "url"],
    &["endpoint"],
];

/// Reads the server of a card. Returns `None` if it has no name.
pub(super) fn read<'a>(
    root: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Option<DescribedServer<'a>> {
    let card = Object::of(root, "the server card", opening(root), problems)?.rename("");
    let info = card.object("serverInfo", problems)?;
    let help = "add the name of the server:\n\"name\": \"reports\"";
    let name = info.read("name", help, problems, spanned_text)?;
    let is_object = |item: &Node<'_>| matches!(item.value, Value::Mapping(_));
    let tools = match card.optional("tools").map(|it| &it.value.value) {
        // `["dynamic"]` leaves the tools to the session.
        Some(Value::Sequence(items)) if items.iter().all(is_object) => {
            Some(listed(items, problems))
        }
        _ => None,
    };
    Some(DescribedServer {
        document: problems.text().number(),
        names: vec![name],
        at: name.1,
        version: version(info.optional("version"), problems),
        endpoint: endpoint(root),
        tools,
    })
}

fn endpoint<'a>(root: &'a Node<'a>) -> FieldValue<'a> {
    let found = ENDPOINTS.iter().find_map(|path| at(root, path));
    let Some(Node {
        value: Value::String(url),
        span,
    }) = found.map(|it| &it.value)
    else {
        return FieldValue::Absent;
    };
    match check_url(url) {
        Err(Refusal::NoUrl) if url.starts_with('/') => FieldValue::Unusable(Unusable {
            span: *span,
            label: "a path".to_owned(),
            message: "the endpoint of the server card is a path on the host of the card".to_owned(),
            choices: Vec::new(),
        }),
        checked => {
            let checked = checked.map(|()| Cow::Borrowed(&**url));
            FieldValue::of(checked, "the endpoint of the server card", *span)
        }
    }
}

/// Returns whether a document is a card.
pub(super) fn fits(root: &Node<'_>) -> bool {
    let Value::Mapping(entries) = &root.value else {
        return false;
    };
    let has = |key| member(entries, key).is_some();
    let is_object =
        at(root, &["serverInfo"]).is_some_and(|it| matches!(it.value.value, Value::Mapping(_)));
    is_object && (has("transport") || has("protocolVersion"))
}
