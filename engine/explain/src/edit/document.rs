//! Changes of JSON documents as edits of their texts, in the formatting of what stands around
//! them.

use super::Patch;
use agent_diagnostic::{Change, ChangeKind};
use agent_json_schema::{at_pointer, unescaped};
use agent_syntax::{Node, Value, write_string};
use agent_text::Span;
use std::collections::BTreeMap;

/// What makes changes of a document: ordered, apart. What stands within something that is removed
/// goes with it. None if there is no place for one of them.
pub(crate) fn patches(text: &str, root: &Node<'_>, changes: &[&Change]) -> Option<Vec<Patch>> {
    let removed = |pointer: &str| {
        changes.iter().any(|change| {
            let within = pointer.strip_prefix(&*change.pointer);
            change.kind == ChangeKind::Remove && within.is_some_and(|it| it.starts_with('/'))
        })
    };
    let mut patches = Vec::new();
    let mut gone: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
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
            ChangeKind::Add(value) => patches.push(added(text, container, &token, value)?),
        }
    }
    for (parent, mut places) in gone {
        places.sort_unstable();
        places.dedup();
        cut(at_pointer(root, parent)?, &places, &mut patches);
    }
    agent_text::sort::sort_by(&mut patches, |a, b| {
        (a.span, &a.text).cmp(&(b.span, &b.text))
    });
    patches.dedup_by(|b, a| a.span == b.span && a.text == b.text);
    Some(patches)
}

/// Where an item or a member stands among the others.
fn place(container: &Node<'_>, token: &str) -> Option<usize> {
    match &container.value {
        Value::Mapping(entries) => entries.iter().position(|entry| entry.key == token),
        Value::Sequence(items) => token.parse().ok().filter(|place| *place < items.len()),
        _ => None,
    }
}

/// The bytes of every item or member, with its key.
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

/// Removes items or members, each run of them with the commas that set it apart.
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

/// Puts a value behind the last one of a container, set apart as that one is.
fn added(text: &str, container: &Node<'_>, token: &str, value: &str) -> Option<Patch> {
    let named = match &container.value {
        Value::Mapping(_) if place(container, token).is_none() => {
            let mut named = String::new();
            write_string(token, &mut named);
            format!("{named}: {value}")
        }
        Value::Sequence(_) if token == "-" => value.to_owned(),
        _ => return None,
    };
    let spans = spans(container);
    let Some(last) = spans.last() else {
        let inside = Span {
            start: container.span.start + 1,
            end: container.span.end - 1,
        };
        return Some(Patch {
            span: inside,
            text: named,
        });
    };
    let before = &text[container.span.start as usize + 1..last.start as usize];
    let blank = before.trim_end_matches([' ', '\t', '\r', '\n']).len();
    let space = &before[blank..];
    let space = if spans.len() == 1 && !space.contains('\n') {
        " "
    } else {
        space
    };
    Some(Patch {
        span: Span {
            start: last.end,
            end: last.end,
        },
        text: format!(",{space}{named}"),
    })
}
