//! Changes of JSON documents as edits of their texts, formatted as the text around them.

use super::patch::Patch;
use agent_diagnostic::{Change, ChangeKind};
use agent_json_schema::{at_pointer, unescaped};
use agent_syntax::{Node, Value, json_string};
use agent_text::Span;
use std::collections::BTreeMap;

/// Returns the patches that make changes of a document, ordered and apart. A change within a
/// removed value has no separate patch. `None` if a change has no place.
pub(crate) fn patches(text: &str, root: &Node<'_>, changes: &[&Change]) -> Option<Vec<Patch>> {
    let removed = |pointer: &str| {
        changes.iter().any(|change| {
            let within = pointer.strip_prefix(&*change.pointer);
            change.kind == ChangeKind::Remove && within.is_some_and(|it| it.starts_with('/'))
        })
    };
    let mut patches = Vec::new();
    let mut gone: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut new: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for change in changes.iter().filter(|change| !removed(&change.pointer)) {
        let (parent, token) = change.pointer.rsplit_once('/')?;
        let container = at_pointer(root, parent)?;
        let token = unescaped(token)?;
        match &change.kind {
            ChangeKind::Replace(value) => patches.push(Patch {
                span: at_pointer(root, &change.pointer)?.span,
                text: value.clone(),
            }),
            ChangeKind::Remove => {
                let place = place(container, &token)?;
                gone.entry(parent).or_default().push(place);
            }
            ChangeKind::Add(value) => {
                let item = item(container, &token, value)?;
                let items = new.entry(parent).or_default();
                if !items.contains(&item) {
                    items.push(item);
                }
            }
        }
    }
    for (parent, mut places) in gone {
        agent_text::sort::sort_by_key(&mut places, |it| *it);
        places.dedup();
        cut(at_pointer(root, parent)?, &places, &mut patches);
    }
    for (parent, items) in new {
        patches.push(added(text, at_pointer(root, parent)?, &items)?);
    }
    agent_text::sort::sort_by(&mut patches, |a, b| {
        (a.span, &a.text).cmp(&(b.span, &b.text))
    });
    patches.dedup_by(|b, a| a.span == b.span && a.text == b.text);
    Some(patches)
}

/// Returns the position of an item or a member in its container.
fn place(container: &Node<'_>, token: &str) -> Option<usize> {
    match &container.value {
        Value::Mapping(entries) => entries.iter().position(|entry| entry.key == token),
        Value::Sequence(items) => token.parse().ok().filter(|place| *place < items.len()),
        _ => None,
    }
}

/// Returns the bytes of every item, or of every member with its key.
fn spans(container: &Node<'_>) -> Vec<Span> {
    match &container.value {
        Value::Mapping(entries) => entries
            .iter()
            .map(|entry| Span {
                start: entry.key_span.start,
                end: entry.value.span.end,
            })
            .collect(),
        Value::Sequence(items) => items.iter().map(|item| item.span).collect(),
        _ => Vec::new(),
    }
}

/// Removes items or members, each run of them with the commas that separate it.
fn cut(container: &Node<'_>, places: &[usize], patches: &mut Vec<Patch>) {
    let spans = spans(container);
    let mut rest = places;
    while let Some(&first) = rest.first() {
        let run = rest.iter().enumerate();
        let run = run.take_while(|(n, place)| **place == first + n).count();
        let last = first + run - 1;
        rest = &rest[run..];
        let (start, end) = match (first.checked_sub(1), spans.get(last + 1)) {
            (_, Some(next)) => (spans[first].start, next.start),
            (Some(before), None) => (spans[before].end, spans[last].end),
            (None, None) => (spans[first].start, spans[last].end),
        };
        patches.push(Patch {
            span: Span { start, end },
            text: String::new(),
        });
    }
}

/// Returns the text of a new item or member.
fn item(container: &Node<'_>, token: &str, value: &str) -> Option<String> {
    match &container.value {
        Value::Mapping(_) if place(container, token).is_none() => {
            Some(format!("{}: {value}", json_string(token)))
        }
        Value::Sequence(_) if token == "-" => Some(value.to_owned()),
        _ => None,
    }
}

/// Adds items behind the last one of a container, separated as that one is.
pub(super) fn added(text: &str, container: &Node<'_>, items: &[String]) -> Option<Patch> {
    let between = |start: u32, end: u32| Span { start, end }.of(text);
    let (start, end) = (container.span.start + 1, container.span.end - 1);
    let (separator, end) = match &spans(container)[..] {
        [] => {
            return Some(Patch {
                span: Span { start, end },
                text: items.join(", "),
            });
        }
        [only] => {
            let before = between(start, only.start);
            let broken = before.contains('\n');
            let space = if broken { line_break(before) } else { " " };
            (format!(",{space}"), only.end)
        }
        [.., before, last] => {
            let (before, behind) = between(before.end, last.start).split_once(',')?;
            let separator = format!("{},{}", line_break(before), line_break(behind));
            (separator, last.end)
        }
    };
    let items = items.iter().map(|item| format!("{separator}{item}"));
    Some(Patch {
        span: Span { start: end, end },
        text: items.collect(),
    })
}

/// Returns white space without blank lines: the last line break and the indentation behind it.
fn line_break(space: &str) -> &str {
    let Some(at) = space.rfind('\n') else {
        return space;
    };
    let start = at - usize::from(space[..at].ends_with('\r'));
    &space[start..]
}
