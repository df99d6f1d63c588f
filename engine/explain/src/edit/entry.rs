//! Edits of the entry of a server in the index.

use super::{Patch, patched};
use crate::offer::value_at;
use agent_decide::Change;
use agent_lower::{INDEX_LIMIT, index};
use agent_model::{Index, ServerView};
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value, write_string};
use agent_text::Span;

/// What makes these changes, in the bytes of the entry, and an index of the entry after them: of
/// it alone, because the others of a large index would take long to read and are as they were;
/// `index_len` is how many bytes the whole has. No index if there are no changes. None if they
/// can't be made.
pub(super) fn extend(
    server: ServerView<'_>,
    index_len: usize,
    changes: &[Change<'_>],
) -> Option<(Vec<Patch>, Option<Index>)> {
    if changes.is_empty() {
        return Some((Vec::new(), None));
    }
    let entry = server.entry();
    let patches = patches(entry, changes)?;
    let changed = patched(entry, &patches);
    let others = index_len - entry.len();
    if others + changed.len() > INDEX_LIMIT {
        return None;
    }
    let index = index(format!("[{changed}]").into_bytes()).ok()?.value;
    (index.len() == 1).then_some((patches, Some(index)))
}

fn patches(entry: &str, changes: &[Change<'_>]) -> Option<Vec<Patch>> {
    let tree = parse_value(&mut Reader::new(entry)).ok()?;
    let (mut categories, mut scopes, mut residencies) = (Vec::new(), Vec::new(), Vec::new());
    let mut patches = Vec::new();
    for change in changes {
        let (path, text) = match *change {
            Change::AddCategory(category) => {
                categories.push(category);
                continue;
            }
            Change::AddScope(scope) => {
                scopes.push(scope);
                continue;
            }
            Change::AddResidency(residency) => {
                residencies.push(residency.as_str());
                continue;
            }
            Change::RaiseSensitivity(level) => (["data", "maxSensitivity"], string(level.as_str())),
            Change::Sign => (["trust", "signed"], "true".to_owned()),
            Change::DropResidency
            | Change::LowerSensitivity(_)
            | Change::AllowUnsigned
            | Change::Advertise(_)
            | Change::AddConstraint(_)
            | Change::Recover
            | Change::DropConstraint(_)
            | Change::AllowAction(_) => return None,
        };
        let span = value_at(&tree, &path)?.span;
        patches.push(Patch { span, text });
    }
    let lists: [(&[&str], _); 3] = [
        (&["categories"], categories),
        (&["scopes"], scopes),
        (&["data", "residency"], residencies),
    ];
    for (path, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        patches.push(add(entry, value_at(&tree, path)?, names)?);
    }
    agent_text::sort::sort_by_key(&mut patches, |patch| patch.span);
    Some(patches)
}

/// Add names behind the last one of a list, as that one is set apart from the one before it. One
/// value that may be a list becomes one.
fn add(entry: &str, list: &Node<'_>, names: &[&str]) -> Option<Patch> {
    let between = |start: u32, end: u32| Span { start, end }.of(entry);
    let names = names.iter().map(|name| string(name));
    match &list.value {
        Value::String(_) => Some(Patch {
            span: list.span,
            text: bracketed([list.span.of(entry).to_owned()].into_iter().chain(names)),
        }),
        Value::Sequence(items) => {
            let (separator, last) = match &items[..] {
                [] => {
                    return Some(Patch {
                        span: list.span,
                        text: bracketed(names),
                    });
                }
                [only] => {
                    let before = between(list.span.start + 1, only.span.start);
                    let broken = before.contains('\n');
                    let space = if broken { line_break(before) } else { " " };
                    (format!(",{space}"), only)
                }
                [.., before, last] => {
                    let (before, behind) =
                        between(before.span.end, last.span.start).split_once(',')?;
                    (
                        format!("{},{}", line_break(before), line_break(behind)),
                        last,
                    )
                }
            };
            Some(Patch {
                span: Span {
                    start: last.span.end,
                    end: last.span.end,
                },
                text: names.map(|name| format!("{separator}{name}")).collect(),
            })
        }
        _ => None,
    }
}

/// White space without blank lines: the last line break and the indentation behind it.
fn line_break(space: &str) -> &str {
    let Some(at) = space.rfind('\n') else {
        return space;
    };
    let start = if space[..at].ends_with('\r') {
        at - 1
    } else {
        at
    };
    &space[start..]
}

fn bracketed(values: impl Iterator<Item = String>) -> String {
    let values: Vec<_> = values.collect();
    format!("[{}]", values.join(", "))
}

fn string(value: &str) -> String {
    let mut out = String::new();
    write_string(value, &mut out);
    out
}
