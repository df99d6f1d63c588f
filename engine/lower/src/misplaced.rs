//! Restrictions that stand where other tools own the keys, or in the body: they would be lost in silence \[0, 1.1\].

use super::fields::Object;
use super::format;
use agent_diagnostic::{Code, Problems, Report};
use agent_model::{Keyword as _, Residency, Sensitivity};
use agent_syntax::{Entry, Node, Value, yaml};
use agent_text::{DocumentKind, Span, Text, misspelt};
use std::collections::BTreeMap;

/// The words that restrict, each with what it belongs below.
const WORDS: [(&str, &str); 6] = [
    ("constraints", ""),
    ("residency", "constraints.data"),
    ("sensitivity", "constraints.data"),
    ("maxSensitivity", "constraints.data"),
    ("requireSigned", "constraints.trust"),
    ("forbid", "constraints.actions"),
];

/// Keys below which a JSON Schema has names of its own.
const SCHEMA: [&str; 2] = ["properties", "$defs"];

/// Returns what a restriction of a name belongs below; `None` for another name.
pub(crate) fn home(key: &str) -> Option<&'static str> {
    let word = WORDS.iter().find(|(word, _)| *word == key);
    word.map(|(_, home)| *home)
}

/// Refuses restrictions among the keys of other tools, and at the beginning of the body.
pub(crate) fn refuse(
    root: &Object<'_, '_>,
    others: &[&Entry<'_>],
    body: Span,
    problems: &mut Problems<'_>,
) {
    let may_nest = cfg!(feature = "repair") && root.optional("constraints").is_none();
    let mut nested = match may_nest {
        true => nested(others, problems.text()),
        false => None,
    };
    for entry in others {
        let Some((span, name, home)) = misplaced(entry) else {
            continue;
        };
        let mut report = refused(span, name, problems);
        if let Some(meant) = name.rsplit('.').find_map(almost) {
            report = report.help(format!("did you mean `{meant}`?"));
        }
        let report = report.help(belongs(home));
        if let Some(edits) = nested.take_if(|_| entry.key.contains('.')) {
            report.replace_all("nest the keys".to_owned(), edits);
        }
    }
    refuse_in_body(body, problems);
}

fn refused<'p, 't>(span: Span, name: &str, problems: &'p mut Problems<'t>) -> Report<'p, 't> {
    let message = format!("`{name}` restricts nothing here");
    problems.report(Code::MisplacedKey, span, "has no effect", message)
}

/// Returns the word that restricts and that another is almost.
fn almost(part: &str) -> Option<&'static str> {
    let words = WORDS.map(|(word, _)| word);
    misspelt(part, &words).filter(|_| home(part).is_none())
}

/// Says where a restriction belongs.
pub(crate) fn belongs(home: &str) -> String {
    match home {
        "" => "move it to the top level of the frontmatter".to_owned(),
        home => format!("move it to `{home}`"),
    }
}

/// Returns the key of a restriction in an entry of another tool, with its name and where it belongs.
fn misplaced<'e>(entry: &'e Entry<'_>) -> Option<(Span, &'e str, &'static str)> {
    let known = |part: &str| home(part).or_else(|| home(almost(part)?));
    if entry.key.starts_with("x-") {
        return None;
    }
    if let Some(home) = entry.key.rsplit('.').find_map(known) {
        return Some((entry.key_span, &entry.key, home));
    }
    let found = below(&entry.value, &entry.key)?;
    // A part of `constraints` moves as a whole.
    Some(match format::CONSTRAINTS.names.contains(&&*entry.key) {
        true => (entry.key_span, &entry.key, found.2),
        false => found,
    })
}

/// Finds a restriction below a key.
fn below<'e>(node: &'e Node<'_>, key: &str) -> Option<(Span, &'e str, &'static str)> {
    if key.starts_with("x-") || SCHEMA.contains(&key) {
        return None;
    }
    match &node.value {
        Value::Sequence(items) => items.iter().find_map(|item| below(item, "")),
        Value::Mapping(entries) => entries.iter().find_map(|entry| {
            let home = home(&entry.key).filter(|_| could_stand(&entry.key, &entry.value));
            match home {
                Some(home) => Some((entry.key_span, &*entry.key, home)),
                None => below(&entry.value, &entry.key),
            }
        }),
        _ => None,
    }
}

/// Returns whether a value could be that of a restriction.
fn could_stand(word: &str, node: &Node<'_>) -> bool {
    let text = match &node.value {
        Value::Plain(text) | Value::String(text) => Some(&**text),
        _ => None,
    };
    match word {
        "constraints" => matches!(&node.value, Value::Mapping(entries)
            if entries.iter().any(|it| format::CONSTRAINTS.names.contains(&&*it.key))),
        "residency" => text.is_some_and(|it| Residency::parse(it).is_some()),
        "requireSigned" => {
            matches!(&node.value, Value::Plain(it) if matches!(&**it, "true" | "false"))
        }
        "forbid" => matches!(&node.value, Value::Sequence(items)
            if items.iter().all(|it| matches!(it.value, Value::Plain(_) | Value::String(_)))),
        _ => text.is_some_and(|it| Sensitivity::parse(it).is_some()),
    }
}

/// Refuses restrictions in the first lines of the body, of a frontmatter that ended too early.
fn refuse_in_body(body: Span, problems: &mut Problems<'_>) {
    let text = problems.text();
    let rest = body.of(text.as_str());
    let blank = rest.len() - rest.trim_start().len();
    // The first of these lines may be indented.
    let start = rest[..blank].rfind('\n').map_or(0, |end| end + 1);
    let lines = rest[start..].split_inclusive('\n');
    let block = lines.take_while(|line| !line.trim().is_empty() && line.trim_end() != "---");
    let length: usize = block.map(str::len).sum();
    let start = body.start as usize + start;
    // What is not YAML is prose.
    let mut prose = Problems::new(text);
    let Some(root) = yaml::parse(Span::new(start, start + length), &mut prose) else {
        return;
    };
    if prose.has_errors() {
        return;
    }
    if let Some((span, name, home)) = below(&root, "") {
        refused(span, name, problems).help(belongs(home));
    }
}

/// Returns the edits that nest flat keys such as `constraints.data.residency`; `None` if a person has to do it.
fn nested(others: &[&Entry<'_>], text: &Text) -> Option<Vec<(Span, String)>> {
    let text = (text.source() == DocumentKind::Manifest).then(|| text.as_str())?;
    let mut sections: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut edits = Vec::new();
    let is_flat = |it: &&&Entry<'_>| it.key.contains('.') && !it.key.starts_with("x-");
    for entry in others.iter().filter(is_flat) {
        let key = entry.key.strip_prefix("constraints.").unwrap_or(&entry.key);
        let (section, word) = key.split_once('.')?;
        let home = home(word)?;
        let value = entry.value.span.of(text);
        let start = entry.key_span.start as usize;
        let end = entry.value.span.end as usize;
        let is_field =
            home.strip_prefix("constraints.") == Some(section) && word != "maxSensitivity";
        if !is_field || text[start..end].contains('\n') {
            return None;
        }
        let lines = sections.entry(section).or_default();
        lines.push(format!("    {word}: {value}"));
        // The line of the first becomes the block; the other lines go.
        let end = match edits.is_empty() {
            true => end,
            false => text[end..].find('\n').map_or(text.len(), |at| end + at + 1),
        };
        edits.push((Span::new(start, end), String::new()));
    }
    let (_, block) = edits.first_mut()?;
    block.push_str("constraints:");
    for (section, lines) in sections {
        block.push_str(&format!("\n  {section}:\n{}", lines.join("\n")));
    }
    Some(edits)
}

#[cfg(test)]
mod tests {
    use crate::manifest;
    #[cfg(feature = "repair")]
    use agent_diagnostic::Applicability;
    use agent_diagnostic::Diagnostic;

    const REQUIRES: &str = "requires:\n  mcp:\n    - category: a\n      permissions: []\n";

    fn problems(fields: &str, body: &str) -> Vec<Diagnostic> {
        let text = format!("---\nname: a\nversion: 1.0.0\n{REQUIRES}{fields}---\n{body}");
        match manifest(text.into_bytes()) {
            Ok(read) => read.warnings,
            Err(refused) => refused,
        }
    }

    fn codes(fields: &str, body: &str) -> Vec<&'static str> {
        let problems = problems(fields, body);
        problems.iter().map(|it| it.code.name()).collect()
    }

    #[test]
    fn a_restriction_in_a_wrong_place_is_refused() {
        for fields in [
            "constraints.data.residency: eu-only\n",
            "data.sensitivity: public\n",
            "forbidding.forbid: [a]\n",
            "residency: eu-only\n",
            "residencey: eu-only\n",
            "maxSensitivity: public\n",
            "require_signed: true\n",
            "forbid: [write]\n",
            "restrictions:\n  residency: eu-only\n",
            "restrictions:\n  - data:\n      sensitivity: public\n",
            "trust: { requireSigned: true }\n",
            "agent: { constraints: { data: {} } }\n",
            "policy: { forbid: [a, b] }\n",
        ] {
            assert_eq!(codes(fields, ""), ["MISPLACED_KEY"], "{fields}");
        }
        for body in [
            "constraints:\n  data:\n    residency: eu-only\n---\n",
            "\n\n  constraints:\n    trust: {}\n\ntext: [\n",
            "data:\n  sensitivity: public\n\nHello\n",
        ] {
            assert_eq!(codes("", body), ["MISPLACED_KEY"], "{body}");
        }
        for fields in [
            "constraints:\n  residency: eu-only\n",
            "constraints:\n  actions:\n    deny: [a]\n",
        ] {
            assert_eq!(codes(fields, ""), ["UNKNOWN_KEY"], "{fields}");
        }
        let below = REQUIRES.replace(
            "permissions: []",
            "permissions: []\n      sensitivity: public",
        );
        let text = format!("---\nname: a\nversion: 1.0.0\n{below}  constraints: {{}}\n---\n");
        let refused = manifest(text.into_bytes()).expect_err("two unknown keys");
        let codes: Vec<_> = refused.iter().map(|it| it.code.name()).collect();
        assert_eq!(codes, ["UNKNOWN_KEY", "UNKNOWN_KEY"]);
    }

    #[test]
    fn frontmatter_of_other_tools_is_accepted() {
        for fields in [
            "permissions:\n  contents: read\n",
            "tools: [Read, Grep]\nmodel: x\n",
            "description: A skill\nallowed-tools: Bash\nlicense: MIT\n",
            "output_schema:\n  properties:\n    sensitivity: public\n    forbid: [a]\n",
            "input:\n  $defs:\n    residency: any\n",
            "x-forbid: [a]\n",
            "x-other: { forbid: [a] }\n",
            "x-other.forbid: [a]\n",
            "on: { push: { branches: [main] } }\n",
            "notes: { residency: in the clouds, requireSigned: maybe, forbid: all }\n",
            "constraints:\n  x-note: a\n",
        ] {
            assert_eq!(codes(fields, ""), [""; 0], "{fields}");
        }
        for body in [
            "Constraints: never delete anything\n",
            "# Agent\nIts residency: eu-only.\n",
            "Hello\n\nconstraints:\n  data: {}\n",
            "constraints: [a\n",
            "---\nresidency: eu-only\n",
            "",
        ] {
            assert_eq!(codes("", body), [""; 0], "{body}");
        }
    }

    #[cfg(feature = "repair")]
    #[test]
    fn flat_keys_are_nested() {
        let fields = "constraints.data.residency: eu-only\nmodel: x\n\
             constraints.trust.requireSigned: true\nconstraints.data.sensitivity: public\n";
        let found = problems(fields, "");
        assert_eq!(found.len(), 3);
        let safe: Vec<_> = found
            .iter()
            .flat_map(|it| &it.fixes)
            .filter(|it| it.applicability == Applicability::Safe)
            .collect();
        assert_eq!(safe.len(), 1);
        let text = format!("---\nname: a\nversion: 1.0.0\n{REQUIRES}{fields}---\n");
        let mut fixed = text.clone();
        for edit in safe[0].edits.iter().rev() {
            let span = edit.place.span;
            fixed.replace_range(span.start as usize..span.end as usize, &edit.replacement);
        }
        let expected = "constraints:\n  data:\n    residency: eu-only\n    sensitivity: public\n  \
             trust:\n    requireSigned: true\nmodel: x\n";
        assert_eq!(fixed, text.replace(fields, expected));
        // A person decides where there are constraints already, or a value has several lines.
        for fields in [
            "constraints: {}\nconstraints.data.residency: eu-only\n",
            "constraints.actions.forbid:\n  - a\n",
            "constraints.other.residency: eu-only\n",
        ] {
            let found = problems(fields, "");
            let mut fixes = found.iter().flat_map(|it| &it.fixes);
            assert!(
                fixes.all(|it| it.applicability != Applicability::Safe),
                "{fields}"
            );
        }
    }
}
