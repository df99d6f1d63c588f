//! Edits of the entry of a server in the index.

use super::document::added;
use super::patch::{Patch, patched};
use agent_decide::Change;
use agent_json_schema::child;
use agent_lower::{INDEX_LIMIT, index};
use agent_model::{Index, ServerView};
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value, json_string};
use agent_text::sort::sort_by_key;

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
    let patches = patches(entry, &tree, changes)?;
    let changed = patched(entry, &patches);
    let others = index_len - entry.len();
    if others + changed.len() > INDEX_LIMIT {
        return None;
    }
    let index = index(format!("[{changed}]").into_bytes()).ok()?.value;
    (index.len() == 1).then_some((patches, Some(index)))
}

fn patches(entry: &str, tree: &Node<'_>, changes: &[Change<'_>]) -> Option<Vec<Patch>> {
    let data = child(tree, "data")?;
    let mut lists = [
        (child(tree, "categories")?, Vec::new()),
        (child(tree, "scopes")?, Vec::new()),
        (child(data, "residency")?, Vec::new()),
    ];
    let replaced = |value: &Node<'_>, text: String| Patch {
        span: value.span,
        text,
    };
    let mut patches = Vec::new();
    for change in changes {
        let (list, name) = match *change {
            Change::AddCategory(category) => (0, category),
            Change::AddScope(scope) => (1, scope),
            Change::AddResidency(residency) => (2, residency.as_str()),
            Change::RaiseSensitivity(level) => {
                let level = json_string(level.as_str());
                patches.push(replaced(child(data, "maxSensitivity")?, level));
                continue;
            }
            Change::Sign => {
                let signed = child(child(tree, "trust")?, "signed")?;
                patches.push(replaced(signed, "true".to_owned()));
                continue;
            }
            _ => return None,
        };
        lists[list].1.push(json_string(name));
    }
    for (list, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        patches.push(match list.value {
            // One residency may be a string; several are a list.
            Value::String(_) => {
                let names = names.join(", ");
                replaced(list, format!("[{}, {names}]", list.span.of(entry)))
            }
            _ => added(entry, list, names)?,
        });
    }
    sort_by_key(&mut patches, |patch| patch.span);
    Some(patches)
}
