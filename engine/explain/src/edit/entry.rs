//! Edits of the entry of a server in the index.

use super::document;
use super::patch::{Patch, patched};
use agent_decide::Change;
use agent_diagnostic::{Change as DocumentChange, ChangeKind};
use agent_json_schema::at_pointer;
use agent_lower::{INDEX_LIMIT, index};
use agent_model::{Index, ServerView};
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value, json_string};
use agent_text::DocumentKind;

/// Returns the patches of the entry that make these changes, and an index of the changed entry, if
/// there are changes. `None` if they can't be made.
///
/// Only the entry is read again: the others of a large index take long to read and stay as they
/// are. `index_len` is the size of the whole index in bytes.
pub(super) fn extend(
    server: ServerView<'_>,
    index_len: usize,
    changes: &[Change<'_>],
) -> Option<(Vec<Patch>, Option<Index>)> {
    if changes.is_empty() {
        return Some((Vec::new(), None));
    }
    let entry = server.entry();
    let tree = parse_value(&mut Reader::new(entry)).ok()?;
    let changes = document_changes(entry, &tree, changes)?;
    let changes: Vec<_> = changes.iter().collect();
    let patches = document::patches(entry, &tree, &changes)?;
    let changed = patched(entry, &patches);
    let others = index_len - entry.len();
    if others + changed.len() > INDEX_LIMIT {
        return None;
    }
    let index = index(format!("[{changed}]").into_bytes()).ok()?.value;
    (index.len() == 1).then_some((patches, Some(index)))
}

fn document_changes(
    entry: &str,
    tree: &Node<'_>,
    changes: &[Change<'_>],
) -> Option<Vec<DocumentChange>> {
    const RESIDENCY: &str = "/data/residency";
    let change = |pointer: &str, kind| DocumentChange {
        source: DocumentKind::Index,
        pointer: pointer.to_owned(),
        kind,
        widens: false,
    };
    let add =
        |list: &str, name: &str| change(&format!("{list}/-"), ChangeKind::Add(json_string(name)));
    // One residency may be a string; several are a list.
    let residency = at_pointer(tree, RESIDENCY)?;
    let mut residencies = match residency.value {
        Value::String(_) => vec![residency.span.of(entry).to_owned()],
        _ => Vec::new(),
    };
    let single = !residencies.is_empty();
    let mut found = Vec::new();
    for one in changes {
        found.push(match *one {
            Change::AddCategory(category) => add("/categories", category),
            Change::AddScope(scope) => add("/scopes", scope),
            Change::AddResidency(residency) if single => {
                residencies.push(json_string(residency.as_str()));
                continue;
            }
            Change::AddResidency(residency) => add(RESIDENCY, residency.as_str()),
            Change::RaiseSensitivity(level) => change(
                "/data/maxSensitivity",
                ChangeKind::Replace(json_string(level.as_str())),
            ),
            Change::Sign => change("/trust/signed", ChangeKind::Replace("true".to_owned())),
            _ => return None,
        });
    }
    if residencies.len() > 1 {
        let list = format!("[{}]", residencies.join(", "));
        found.push(change(RESIDENCY, ChangeKind::Replace(list)));
    }
    Some(found)
}
