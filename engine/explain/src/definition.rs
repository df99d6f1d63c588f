//! The differences between definitions of a locked tool.
//!
//! A lock contains the digest of a definition and not its text. The index that it was made from has
//! the text with that digest.

use agent_decide::Drift;
use agent_diagnostic::Code;
use agent_json_schema::token;
use agent_lower::{definition, digest, stored_definitions};
use agent_model::{Grant, Index, Lock, Name};
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Entry, Node, Value, canonical_node};
use agent_text::sort::map_of;
use std::collections::BTreeMap;

/// Maximum number of differences that are listed for one definition.
const LIMIT: usize = 20;

/// The source of the definitions of an older lock.
#[derive(Debug, Clone, Copy)]
pub enum Former<'o> {
    /// The index that it was made from.
    Index(&'o Lock, &'o Index),
    /// The text of its `agents.definitions.json`.
    Definitions(&'o Lock, &'o [u8]),
}

/// Returns the drifts, with the differences of each changed definition. Nothing is added where the
/// definitions of the older lock, or the index of the newer, lack the locked definition.
pub fn detailed(
    drifts: &[Drift],
    former: Former<'_>,
    (newer, after): (&Lock, &Index),
) -> Vec<Drift> {
    let (older, mut texts) = match former {
        Former::Index(older, before) => (older, definitions(older, before)),
        Former::Definitions(older, text) => {
            let stored = stored_definitions(text).unwrap_or_default().into_iter();
            let texts = stored.map(|entry| (entry.actual(), entry.json));
            (older, texts.collect())
        }
    };
    // The newer definitions of the tools of both locks.
    texts.extend(definitions(newer, after));
    texts.extend(definitions(older, after));
    detailed_by(drifts, &texts)
}

/// Returns the drifts, with the differences of each changed definition of which both texts are known, by
/// their digests.
pub fn detailed_by(drifts: &[Drift], texts: &BTreeMap<String, String>) -> Vec<Drift> {
    let text = |digest: &Option<String>| texts.get(digest.as_ref()?);
    drifts
        .iter()
        .map(|drift| {
            let mut drift = drift.clone();
            if drift.code == Code::DefinitionChanged
                && let (Some(before), Some(after)) = (text(&drift.before), text(&drift.after))
            {
                drift.details = changes(before, after);
            }
            drift
        })
        .collect()
}

/// Returns the definitions of a lock's tools in an index, by their digest.
pub fn definitions(lock: &Lock, index: &Index) -> BTreeMap<String, String> {
    map_of(lock.selections.iter().filter_map(|selection| {
        let Grant::Capability { tool, .. } = &selection.grant else {
            return None;
        };
        let server = index.find(selection.id.as_str(), selection.version.as_str())?;
        let text = definition(server.tool(tool.as_str())?);
        Some((digest(&text), text))
    }))
}

/// Returns the differences of two definitions, by JSON pointers.
pub fn changes(before: &str, after: &str) -> Vec<String> {
    let tree = |text| parse_value(&mut Reader::new(text)).ok();
    // Both were written from trees.
    let (Some(before), Some(after)) = (tree(before), tree(after)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    compare(&before, &after, "", &mut found);
    let more = found.len().saturating_sub(LIMIT);
    found.truncate(LIMIT);
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    found
}

fn compare(before: &Node<'_>, after: &Node<'_>, path: &str, found: &mut Vec<String>) {
    let (Value::Mapping(a), Value::Mapping(b)) = (&before.value, &after.value) else {
        let (was, is) = (text(before), text(after));
        if was != is {
            found.push(format!(
                "`{path}` was `{}` and is `{}`",
                short(&was),
                short(&is)
            ));
        }
        return;
    };
    let inner = |key: &str| format!("{path}/{}", token(key));
    let value = |entries: &[Entry<'_>], key: &str| entries.iter().position(|e| e.key == key);
    for entry in a {
        match value(b, &entry.key) {
            None => found.push(format!("`{}` is missing", inner(&entry.key))),
            Some(other) => compare(&entry.value, &b[other].value, &inner(&entry.key), found),
        }
    }
    for entry in b.iter().filter(|entry| value(a, &entry.key).is_none()) {
        let is = text(&entry.value);
        found.push(format!("`{}` is new: `{}`", inner(&entry.key), short(&is)));
    }
}

fn text(node: &Node<'_>) -> String {
    let mut text = String::new();
    canonical_node(node, &mut text);
    text
}

/// Maximum length of a value in a difference, in characters.
const SHOWN: usize = 60;

/// Returns the start of a value.
fn short(value: &str) -> String {
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn differences_are_named_by_their_place() {
        let before = r#"{"description":"a","inputSchema":{"properties":{"x":{"type":"string"}},"required":["x"]},"name":"t"}"#;
        let after = r#"{"description":"b","inputSchema":{"properties":{"x":{"type":"number"},"y/z":{}}},"name":"t"}"#;
        assert_eq!(
            changes(before, after),
            [
                "`/description` was `\"a\"` and is `\"b\"`",
                "`/inputSchema/properties/x/type` was `\"string\"` and is `\"number\"`",
                "`/inputSchema/properties/y~1z` is new: `{}`",
                "`/inputSchema/required` is missing",
            ]
        );
        assert!(changes(before, before).is_empty());
    }
}
