//! Where the entry of a server says what the checks look at.

use agent_diagnostic::Code;
use agent_model::ServerView;
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value};
use agent_text::Place;

/// Where in the index the value stands that the check of a code looked at, brackets and quotes
/// included: `categories`, `scopes`, `data.residency`, `data.maxSensitivity` or `trust.signed`
/// of the server. None for a code that no check has.
///
/// An index keeps no trees, so the entry is read again.
pub fn offered_at(server: ServerView<'_>, code: Code) -> Option<Place> {
    let path: &[&str] = match code {
        Code::MissingCategory => &["categories"],
        Code::MissingScope => &["scopes"],
        Code::ResidencyMismatch => &["data", "residency"],
        Code::SensitivityExceeded => &["data", "maxSensitivity"],
        Code::UnsignedNotAllowed => &["trust", "signed"],
        _ => return None,
    };
    let entry = parse_value(&mut Reader::new(server.entry())).ok()?;
    Some(server.place_of(value_at(&entry, path)?.span))
}

/// The value under some keys, each in the mapping under the one before.
pub(super) fn value_at<'n, 't>(node: &'n Node<'t>, path: &[&str]) -> Option<&'n Node<'t>> {
    path.iter().try_fold(node, |node, key| match &node.value {
        Value::Mapping(entries) => entries
            .iter()
            .find(|entry| entry.key == *key)
            .map(|entry| &entry.value),
        _ => None,
    })
}
