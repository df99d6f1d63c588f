//! Replacements for values of another shape than their field has.

use crate::call_plan::is_object;
use crate::format;
use agent_model::{CapabilityVerb, Keyword as _};
use agent_syntax::{Value, json};
use agent_text::{Span, Text};
use std::collections::BTreeSet;

/// A suggestion: its title, and a replacement if only one can be meant.
pub(super) type Suggestion = (String, Option<(Span, String)>);

/// Returns the replacement for a value that should have been a list or a mapping.
pub(super) fn suggestion(
    text: &Text,
    span: Span,
    path: &str,
    expected: &str,
    found: &str,
) -> Option<Suggestion> {
    let written = span.of(text.as_str());
    let (list, item) = match path.strip_suffix(']').and_then(|it| it.rsplit_once('[')) {
        Some((list, _)) => (list, true),
        None => (path, false),
    };
    match (list.rsplit('.').next()?, item, expected, found) {
        ("actions", false, "a mapping", "a list") if cfg!(feature = "repair") => Some((
            "write the list as `forbid` of the field".to_owned(),
            named(text, span, "forbid"),
        )),
        // The kinds as items: without the dash they are the keys.
        ("requires", false, "a mapping", "a list")
            if cfg!(feature = "repair")
                && keyed(written).is_some_and(|it| matches!(it, "mcp" | "capabilities")) =>
        {
            let text = text.as_str();
            let dashes = written.lines().filter(|line| {
                line.trim_start().strip_prefix("- ").is_some_and(|it| {
                    ["mcp:", "capabilities:"]
                        .iter()
                        .any(|key| it.starts_with(key))
                })
            });
            let at = span.start as usize;
            let at = if text[at..].starts_with("- ") {
                at
            } else {
                at - 2
            };
            let dash = (dashes.count() <= 1 && text.get(at..at + 2) == Some("- "))
                .then(|| (Span::new(at, at + 2), "  ".to_owned()));
            Some(("remove the dash: the field is a mapping".to_owned(), dash))
        }
        ("requires", false, "a mapping", "a list") => {
            let kinds = [("mcp", "category"), ("capabilities", "verb")];
            let mut kinds = kinds.iter().filter(|(_, key)| written.contains(key));
            match (kinds.next(), kinds.next()) {
                (Some((kind, _)), None) => Some((
                    format!("write the list as `{kind}` of the field"),
                    named(text, span, kind),
                )),
                _ => None,
            }
        }
        ("constraints" | "classes", false, "a mapping", "a list") if cfg!(feature = "repair") => {
            let title = "remove the dashes: the field is a mapping".to_owned();
            Some((title, Some(undashed(text, span)?)))
        }
        ("mcp", true, "a mapping", "a string") => Some((
            format!(
                "write the category with its scopes:\n- category: {}\n  permissions: [<scope>]",
                unquoted(written)
            ),
            None,
        )),
        ("capabilities" | "required_capabilities", true, "a mapping", "a string") => {
            let (verb, resource) = unquoted(written).split_once(':')?;
            let resource = resource.trim();
            let is_word = !resource.is_empty() && !resource.contains([' ', ',', '{', '}', '"']);
            CapabilityVerb::parse(verb).filter(|_| is_word)?;
            let mapping = match written.starts_with('"') {
                true => format!("{{ \"verb\": \"{verb}\", \"resource\": \"{resource}\" }}"),
                false => format!("{{ verb: {verb}, resource: {resource} }}"),
            };
            Some((format!("write `{mapping}`"), Some((span, mapping))))
        }
        (list, false, "a list", "a mapping") if cfg!(feature = "repair") => items(text, span, list),
        ("servers", false, "a list", "an object") => {
            let title = "write a list of servers, each with its `id`";
            Some((title.to_owned(), None))
        }
        // A snapshot of the health of servers.
        ("the snapshot", false, "a mapping", "a list") => {
            let lines: Option<Vec<_>> = written
                .lines()
                .map(|line| line.strip_prefix("- ").filter(|it| it.contains(": ")))
                .collect();
            let title = "write a mapping, without the dashes".to_owned();
            Some((title, lines.map(|lines| (span, lines.join("\n")))))
        }
        ("servers", false, "a string", "a mapping") => {
            let title = "write the servers at the top level, without `servers`".to_owned();
            Some((title, without_key(text, span, "servers:")))
        }
        _ => None,
    }
}

/// Returns the object whose JSON a string holds where an object is expected.
pub(super) fn held_object(written: &str, expected: &str) -> Option<String> {
    let is_wanted = expected == "a mapping" || expected.starts_with("an object");
    let string = written.starts_with('"').then(|| json::Reader::new(written));
    let node = json::parse_value(&mut string.filter(|_| is_wanted)?).ok()?;
    match node.value {
        Value::String(text) if is_object(&text) => Some(text.trim().to_owned()),
        _ => None,
    }
}

/// Returns the fields of the items of a list of mappings, and the one that names an item.
pub(super) fn item_fields(list: &str) -> Option<(&'static [&'static str], Option<&'static str>)> {
    Some(match list {
        "mcp" => (&format::REQUIREMENT.names, Some("category")),
        "capabilities" | "required_capabilities" => (&format::CAPABILITY.names, None),
        "tenants" => (&format::TENANT.names, Some("id")),
        "items" => (&["claim", "evidence"], None),
        _ => return None,
    })
}

/// Returns a mapping as a list: as its only item, or, if its keys are names, as an item for each.
fn items(text: &Text, span: Span, list: &str) -> Option<Suggestion> {
    let (fields, name) = item_fields(list)?;
    let written = span.of(text.as_str());
    let is_item = |keys: &[&str]| keys.iter().all(|key| fields.contains(key));
    let one = "write the mapping as an item of a list".to_owned();
    if let Some(flow) = written.strip_prefix('{') {
        let first = flow.split(':').next()?.trim().trim_matches(['"', '\'']);
        return is_item(&[first]).then(|| (one, Some((span, format!("[{written}]")))));
    }
    let (above, indent) = text.as_str()[..span.start as usize].rsplit_once('\n')?;
    let keys = keys(written, indent)?;
    if is_item(&keys) {
        let key = above.rsplit('\n').next()?.trim_end();
        let own = key.len() - key.trim_start().len();
        // Where the keys are indented far enough, the dash has room before them.
        let start = span.start as usize;
        let replacement = match key.ends_with(':') && indent.len() >= own + 4 {
            true => (Span::new(start - 2, start), "- ".to_owned()),
            false => (span, format!("- {}", written.replace('\n', "\n  "))),
        };
        return Some((one, Some(replacement)));
    }
    if keys.iter().any(|key| fields.contains(key)) {
        return None;
    }
    let first = keys.first()?;
    match name {
        Some(name) => Some((
            format!("write a list, in which each name is a `{name}`:\n- {name}: {first}"),
            named_items(written, indent, name).map(|list| (span, list)),
        )),
        None => CapabilityVerb::parse(first).map(|_| {
            let example = format!("- verb: {first}\n  resource: <resource>");
            (
                format!("write a list of verbs and resources:\n{example}"),
                None,
            )
        }),
    }
}

/// Returns the keys of a block in lines, whose first line is behind the indentation.
fn keys<'t>(written: &'t str, indent: &str) -> Option<Vec<&'t str>> {
    let is_block = indent.bytes().all(|b| b == b' ');
    let below = written.lines().skip(1);
    let below = below.filter_map(|line| line.strip_prefix(indent));
    let lines = written.lines().take(1).chain(below);
    let lines = lines.filter(|line| !line.starts_with([' ', '#']) && !line.trim().is_empty());
    let keys = lines.map(|line| Some(line.split_once(':')?.0.trim_matches(['"', '\''])));
    keys.collect::<Option<Vec<_>>>().filter(|_| is_block)
}

/// Returns a block of named mappings as a list, if nothing has to move: `tickets:` becomes `- category: tickets`.
fn named_items(written: &str, indent: &str, name: &str) -> Option<String> {
    let mut list: Vec<String> = Vec::new();
    for (at, line) in written.lines().enumerate() {
        let line = match at {
            0 => line,
            _ => line.strip_prefix(indent)?,
        };
        let depth = line.len() - line.trim_start().len();
        // The first field is in the column behind the dash.
        let is_first = list.last().is_some_and(|above| above.starts_with("- "));
        list.push(match line.strip_suffix(':') {
            Some(key) if depth == 0 => format!("- {name}: {key}"),
            _ if depth == 2 || depth > 2 && !is_first => line.to_owned(),
            _ => return None,
        });
    }
    Some(list.join(&format!("\n{indent}")))
}

/// Returns a list of mappings with one key each as one mapping, in the columns of the keys.
fn undashed(text: &Text, span: Span) -> Option<(Span, String)> {
    let written = span.of(text.as_str());
    let above = &text.as_str()[..span.start as usize];
    let indent = above.rsplit('\n').next().unwrap_or_default();
    let is_block = indent.bytes().all(|b| b == b' ');
    let mut keys = BTreeSet::new();
    let mut lines = Vec::new();
    for (number, line) in written.lines().enumerate() {
        let line = match number {
            0 => line,
            _ => line.strip_prefix(indent)?,
        };
        let item = line.strip_prefix("- ");
        let is_deeper = line.starts_with("    ");
        if let Some(item) = item {
            let (key, _) = item.split_once(':')?;
            keys.insert(key).then_some(())?;
        }
        // A second key of an item would be in the column of the first.
        (item.is_some() || is_deeper).then_some(())?;
        lines.push(format!("  {}", item.unwrap_or(line.get(2..)?)));
    }
    is_block.then(|| (span, lines.join(&format!("\n{indent}"))))
}

/// Returns a block without the key in front of it and the indentation below that.
fn without_key(text: &Text, span: Span, key: &str) -> Option<(Span, String)> {
    let (before, block) = (
        &text.as_str()[..span.start as usize],
        span.of(text.as_str()),
    );
    let (rest, indentation) = before.rsplit_once('\n')?;
    let rest = rest.strip_suffix(key)?;
    let is_block = !block.starts_with('{') && (rest.is_empty() || rest.ends_with('\n'));
    let lines = block.replace(&format!("\n{indentation}"), "\n");
    is_block.then(|| (Span::new(rest.len(), span.end as usize), lines))
}

/// Returns a list as the value of a key. The lines of a block stay in their order, two columns further.
fn named(text: &Text, mut span: Span, key: &str) -> Option<(Span, String)> {
    let written = span.of(text.as_str());
    if written.starts_with('[') {
        return Some((span, format!("{{ {key}: {written} }}")));
    }
    // A list in the column of the key above begins behind its first dash.
    let before = &text.as_str()[..span.start as usize];
    let before = before.strip_suffix("- ").unwrap_or(before);
    span.start = before.len() as u32;
    let (column, written) = (before.rsplit('\n').next()?, span.of(text.as_str()));
    let deeper = if column.is_empty() { "  " } else { "" };
    let lines = written.replace('\n', "\n  ");
    let is_block = column.bytes().all(|b| b == b' ');
    is_block.then(|| (span, format!("{deeper}{key}:\n{column}  {lines}")))
}

/// Returns the key of the first item of a list in lines.
fn keyed(written: &str) -> Option<&str> {
    let first = written.lines().next()?.trim_start_matches(['-', ' ']);
    Some(first.strip_suffix(':').unwrap_or(first))
}

fn unquoted(written: &str) -> &str {
    written.trim_matches(['"', '\''])
}
