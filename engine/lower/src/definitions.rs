//! `agents.definitions.json`: the definitions of locked tools by digest.

use super::integrity::digest;
use agent_syntax::{Value, canonical_node, json};

/// An entry of `agents.definitions.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDefinition {
    /// The key: the digest under which it is stored.
    pub digest: String,
    /// The RFC 8785 form of the value.
    pub json: String,
}

impl StoredDefinition {
    /// Returns the digest of the value, which is the key unless the file was edited.
    pub fn actual(&self) -> String {
        digest(&self.json)
    }
}

/// Reads `agents.definitions.json`. Returns `None` if the text is not strict JSON or not an object.
pub fn stored_definitions(text: &[u8]) -> Option<Vec<StoredDefinition>> {
    let text = std::str::from_utf8(text).ok()?;
    let Value::Mapping(entries) = json::parse_strict(text)?.value else {
        return None;
    };
    let entries = entries.into_iter().map(|entry| {
        let mut json = String::new();
        canonical_node(&entry.value, &mut json);
        StoredDefinition {
            digest: entry.key.into_owned(),
            json,
        }
    });
    Some(entries.collect())
}
