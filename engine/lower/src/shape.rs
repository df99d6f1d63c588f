//! Replacements for values of another shape than their field has.

use agent_model::{CapabilityVerb, Keyword as _};
use agent_text::{Span, Text};

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
        // Where the keys are indented far enough, the dash has room before them.
        (
            "mcp" | "capabilities" | "items" | "required_capabilities" | "tenants",
            false,
            "a list",
            "a mapping",
        ) if cfg!(feature = "repair") => {
            let start = span.start as usize;
            let (above, indent) = text.as_str()[..start].rsplit_once('\n')?;
            let key = above.rsplit('\n').next()?.trim_end();
            let own = key.len() - key.trim_start().len();
            let has_room = key.ends_with(':') && indent.len() >= own + 4;
            (has_room && indent.trim().is_empty()).then(|| {
                let title = "write the mapping as an item of a list";
                let dash = Span::new(start - 2, start);
                (title.to_owned(), Some((dash, "- ".to_owned())))
            })
        }
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
