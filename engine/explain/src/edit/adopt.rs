//! Supposed constraints, written into the manifest.

use super::cut::{Comments, Cutter, prune};
use super::frontmatter::{
    Path, REQUIRE_SIGNED, RESIDENCY, SENSITIVITY, in_quotes, parse, same, value_at,
};
use super::patch::{Patch, patched};
use agent_decide::Resolution;
use agent_diagnostic::{Applicability, Edit, Fix};
use agent_model::{Constraints, Manifest, Residency, Sensitivity};
use agent_syntax::{Node, Value};
use agent_text::{DocumentKind, Span, Text};

/// A constraint and its value, if it has one.
type Setting = (Path, Option<&'static str>);

/// Returns the fix that gives the manifest the constraints of a supposition. A value is replaced where it
/// is, and a missing one is added with the mappings above it. The changed manifest was read again: nothing
/// else is different. `None` if nothing would change, or no edit can be made.
pub fn adopt(present: &Resolution, supposed: &Resolution) -> Option<Fix> {
    let manifest = present.manifest();
    let is = settings(supposed.constraints());
    let was = settings(present.constraints());
    let changed = is.iter().zip(was).filter(|(is, was)| *is != was);
    let changed: Vec<Setting> = changed.map(|(is, _)| *is).collect();
    if changed.is_empty() {
        return None;
    }
    let words = changed.iter().map(|(path, value)| {
        let key = path.join(".");
        match value {
            Some(value) => format!("set `{key}` to `{value}`"),
            None => format!("drop `{key}`"),
        }
    });
    let comments = [Comments::Kept, Comments::Removed];
    let mut texts = comments
        .into_iter()
        .filter_map(|comments| written(&manifest.text, &changed, comments));
    let text = texts.find(|text| is_adopted(manifest, text, &changed, is))?;
    Some(Fix {
        title: words.collect::<Vec<_>>().join(" and "),
        applicability: match supposed.admits_more_than(present) {
            true => Applicability::Unsafe,
            false => Applicability::Safe,
        },
        edits: vec![edit(&manifest.text, &text)],
    })
}

fn settings(constraints: &Constraints) -> [Setting; 3] {
    [
        (RESIDENCY, constraints.residency().map(Residency::as_str)),
        (
            SENSITIVITY,
            constraints.sensitivity().map(Sensitivity::as_str),
        ),
        (
            REQUIRE_SIGNED,
            constraints.require_signed().then_some("true"),
        ),
    ]
}

/// Makes one change after the other: one may add the mapping that the next is in.
fn written(text: &Text, changed: &[Setting], comments: Comments) -> Option<String> {
    let mut text = text.as_str().to_owned();
    for (path, value) in changed {
        let before = Text::new(DocumentKind::Manifest, text);
        let (content, tree) = parse(&before)?;
        let before = before.as_str();
        let patches = match (value_at(&tree, path), value) {
            (Some(found), Some(value)) => vec![Patch {
                span: found.span,
                text: in_quotes(before, found.span, value),
            }],
            (None, Some(value)) => vec![added(before, content, &tree, path, value)?],
            (_, None) => {
                let spans = Cutter::new(before, content, comments).cut(&tree, &[path]);
                let removed = spans.into_iter().map(|span| Patch {
                    span,
                    text: String::new(),
                });
                removed.collect()
            }
        };
        text = patched(before, &patches);
    }
    Some(text)
}

/// Returns the patch that adds a field, and the mappings above it that are missing.
fn added(text: &str, content: Span, tree: &Node<'_>, mut path: Path, value: &str) -> Option<Patch> {
    let (mut mapping, mut behind) = (tree, None);
    loop {
        let Value::Mapping(entries) = &mapping.value else {
            return None;
        };
        let Some(entry) = entries.iter().find(|entry| entry.key == path[0]) else {
            break;
        };
        (mapping, behind) = (&entry.value, Some(entry.key_span.end as usize));
        path = &path[1..];
    }
    let Value::Mapping(entries) = &mapping.value else {
        return None;
    };
    let first = entries.first()?.key_span.start as usize;
    if mapping.span.of(text).starts_with('{') {
        let (last, above) = path.split_last()?;
        let item = format!("{last}: {value}");
        let item = above
            .iter()
            .rfold(item, |item, key| format!("{key}: {{ {item} }}"));
        let span = Span::new(first, first);
        return Some(Patch {
            span,
            text: item + ", ",
        });
    }
    let indentation = &text[text[..first].rfind('\n')? + 1..first];
    // At the top it is the last field; in a mapping the first, so that comments stay with their fields.
    let at = match behind {
        Some(key) => key + text[key..].find('\n')? + 1,
        None => content.end as usize,
    };
    let end = if text[..at].ends_with("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let mut lines = String::new();
    for (depth, key) in path.iter().enumerate() {
        lines += indentation;
        lines += &"  ".repeat(depth);
        lines += key;
        lines += if depth + 1 == path.len() { ": " } else { ":" };
        lines += if depth + 1 == path.len() { value } else { "" };
        lines += end;
    }
    let span = Span::new(at, at);
    Some(Patch { span, text: lines })
}

/// Returns whether a text is the manifest with these settings, and otherwise the same.
fn is_adopted(manifest: &Manifest, text: &str, changed: &[Setting], is: [Setting; 3]) -> bool {
    let Ok(adopted) = agent_lower::manifest(text.as_bytes().to_vec()) else {
        return false;
    };
    let paths: Vec<_> = changed.iter().map(|(path, _)| *path).collect();
    let rest = |text| {
        let (_, mut tree) = parse(text)?;
        prune(&mut tree, &paths);
        Some(tree)
    };
    let adopted = adopted.value;
    settings(&adopted.constraints) == is
        && rest(&manifest.text)
            .zip(rest(&adopted.text))
            .is_some_and(|(a, b)| same(&a, &b))
}

/// Returns the difference of two texts as one edit, of whole words where it replaces any.
fn edit(text: &Text, after: &str) -> Edit {
    let before = text.as_str();
    let same = |(a, b): &(char, char)| a == b;
    let length = |same: &mut dyn Iterator<Item = (char, char)>| -> usize {
        same.map(|(c, _)| c.len_utf8()).sum()
    };
    let backwards = before.chars().rev().zip(after.chars().rev());
    let mut tail = length(&mut backwards.take_while(same));
    let heads = [before, after].map(|it| &it[..it.len() - tail]);
    let forwards = heads[0].chars().zip(heads[1].chars());
    let mut head = length(&mut forwards.take_while(same));
    if head + tail < before.len().min(after.len()) {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-.\"'".contains(c);
        head = before[..head].trim_end_matches(is_word).len();
        let rest = &before[before.len() - tail..];
        tail = rest.trim_start_matches(is_word).len();
    }
    Edit {
        place: text.place(Span::new(head, before.len() - tail)),
        replacement: after[head..after.len() - tail].to_owned(),
    }
}
