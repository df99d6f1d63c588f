//! Edits of the frontmatter of a manifest.

use super::cut::{Comments, Cutter, gone, prune};
use super::patch::{Patch, patched};
use agent_decide::Change;
use agent_diagnostic::Problems;
use agent_json_schema::child;
use agent_model::{Manifest, Sensitivity};
use agent_syntax::{Entry, Node, Value, frontmatter, yaml};
use agent_text::{DocumentKind, Span, Text};
use std::borrow::Cow;

/// A field by the keys that lead to it.
pub(super) type Path = &'static [&'static str];

pub(super) const RESIDENCY: Path = &["constraints", "data", "residency"];
pub(super) const SENSITIVITY: Path = &["constraints", "data", "sensitivity"];
pub(super) const REQUIRE_SIGNED: Path = &["constraints", "trust", "requireSigned"];

/// Returns the patches that make these changes, and the changed manifest, if there are changes.
/// `None` if they can't be made, or if anything else in the frontmatter would change.
pub(super) fn relax(
    manifest: &Manifest,
    changes: &[Change<'_>],
) -> Option<(Vec<Patch>, Option<Manifest>)> {
    if changes.is_empty() {
        return Some((Vec::new(), None));
    }
    let text = &manifest.text;
    let (content, mut tree) = parse(text)?;
    let mut dropped = Vec::new();
    let mut level = None;
    for change in changes {
        match change {
            Change::DropResidency => dropped.push(RESIDENCY),
            Change::AllowUnsigned => dropped.push(REQUIRE_SIGNED),
            Change::LowerSensitivity(lower) => level = Some(*lower),
            _ => return None,
        }
    }
    if dropped.iter().any(|path| value_at(&tree, path).is_none()) || gone(&tree, &dropped) {
        return None;
    }
    let lowered = match level {
        Some(level) => Some(lower_level(text.as_str(), &tree, level)?),
        None => None,
    };
    // Comments within removed lines are kept where they remain comments: behind a block scalar they
    // would become part of it.
    let candidates = [Comments::Kept, Comments::Removed].map(|comments| {
        let mut patches: Vec<_> = Cutter::new(text.as_str(), content, comments)
            .cut(&tree, &dropped)
            .into_iter()
            .map(|span| Patch {
                span,
                text: String::new(),
            })
            .collect();
        patches.extend(lowered.as_ref().map(|(span, text)| Patch {
            span: *span,
            text: text.clone(),
        }));
        agent_text::sort::sort_by_key(&mut patches, |patch| patch.span);
        patches
    });
    prune(&mut tree, &dropped);
    if let Some(level) = level {
        set_level(&mut tree, level);
    }
    candidates.into_iter().find_map(|patches| {
        let changed = patched(text.as_str(), &patches);
        let relaxed = agent_lower::manifest(changed.into_bytes()).ok()?.value;
        let (_, found) = parse(&relaxed.text)?;
        same(&tree, &found).then_some((patches, Some(relaxed)))
    })
}

/// Returns the place of the frontmatter, and its tree.
pub(super) fn parse(text: &Text) -> Option<(Span, Node<'_>)> {
    debug_assert_eq!(text.source(), DocumentKind::Manifest);
    let mut problems = Problems::new(text);
    let content = frontmatter(&mut problems)?.content;
    Some((content, yaml::parse(content, &mut problems)?))
}

/// Returns the value under some keys, each in the mapping under the one before.
pub(super) fn value_at<'n, 't>(node: &'n Node<'t>, path: &[&str]) -> Option<&'n Node<'t>> {
    path.iter().try_fold(node, |node, key| child(node, key))
}

/// Replaces the level, in the quotes that it has.
fn lower_level(text: &str, tree: &Node<'_>, level: Sensitivity) -> Option<(Span, String)> {
    let span = value_at(tree, SENSITIVITY)?.span;
    Some((span, in_quotes(text, span, level.as_str())))
}

/// Returns a value in the quotes of the one that it replaces.
pub(super) fn in_quotes(text: &str, replaced: Span, value: &str) -> String {
    let quote = replaced.of(text).chars().next();
    let quote = quote.filter(|c| matches!(c, '"' | '\'')).map(String::from);
    let quote = quote.unwrap_or_default();
    format!("{quote}{value}{quote}")
}

fn set_level(tree: &mut Node<'_>, level: Sensitivity) {
    let found = SENSITIVITY.iter().try_fold(tree, |node, key| {
        let Value::Mapping(entries) = &mut node.value else {
            return None;
        };
        let entry = entries.iter_mut().find(|entry| entry.key == *key);
        entry.map(|entry| &mut entry.value)
    });
    if let Some(Value::String(value) | Value::Plain(value)) = found.map(|node| &mut node.value) {
        *value = Cow::Borrowed(level.as_str());
    }
}

/// Returns whether two trees are the same, apart from places.
pub(super) fn same(a: &Node<'_>, b: &Node<'_>) -> bool {
    let entries = |(a, b): (&Entry<'_>, &Entry<'_>)| a.key == b.key && same(&a.value, &b.value);
    match (&a.value, &b.value) {
        (Value::Mapping(a), Value::Mapping(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(entries)
        }
        (Value::Sequence(a), Value::Sequence(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (a, b) => a == b,
    }
}
