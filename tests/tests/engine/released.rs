//! The contract and the formats are those of the last release, or more: `docs/reference/promises.md`.
//!
//! `tests/released` has what the last release promised. At a release, the test writes both files anew with
//! `AGENT_RELEASE=1` in the environment. Until the first one, they are those of 2026-11-28.

use agent_tests::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Schemas of what only we write: a member more in an answer breaks nobody.
const WRITTEN_BY_US: [&str; 6] = [
    ".output.json",
    "agents.resolution.schema.json",
    "ds.mova_agent_run_summary_v1.schema.json",
    "ds.mova_agent_step_v1.schema.json",
    "ds.mova_agent_validation_report_v1.schema.json",
    "match.schema.json",
];

/// The enumeration that grows: "a code keeps its meaning; new ones are added".
const CODES: &str = "diagnostic: enum code ";

/// Keywords that allow fewer documents. The first two list what is allowed, the others forbid.
const ALLOWING: [&str; 2] = ["enum", "properties"];
const FORBIDDING: [&str; 18] = [
    "additionalProperties",
    "const",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "required",
    "type",
    "unevaluatedProperties",
];

#[test]
fn functions_and_types_of_the_contract_stay() {
    let present = contract();
    let lost: Vec<_> = released("wit.txt", &present)
        .into_iter()
        .filter(|item| !present.iter().any(|it| it == item || has_grown(item, it)))
        .collect();
    assert_eq!(lost, [""; 0], "hosts of the last release use these");
}

#[test]
fn what_was_valid_stays_valid() {
    let present = schemas();
    let before = released("schemas.txt", &present);
    assert_eq!(narrowings(&before, &present), [""; 0]);
}

#[test]
fn a_lost_item_and_a_narrower_schema_are_found() {
    let wit =
        "interface a { /// Two.\n enum e { x, y } resource r { f: func(); } g: func() -> u8; }";
    let items = items("interface", wit);
    assert_eq!(
        items,
        ["a: enum e { x, y }", "a.r: f: func()", "a: g: func() -> u8"]
    );
    let codes = |more: &str| format!("{CODES}{{ x, y{more} }}");
    assert!(has_grown(&codes(""), &codes(", z")));
    assert!(!has_grown(&codes(", z"), &codes("")));
    assert!(!has_grown("a: enum e { x }", "a: enum e { x, y }"));

    let list = |schema: Value| listed("s", &schema);
    let before = list(serde_json::json!({ "properties": { "a": { "enum": [1, 2] } } }));
    for (schema, narrower) in [
        (
            serde_json::json!({ "properties": { "a": { "enum": [1, 2, 3] }, "b": { "type": "string" } } }),
            0,
        ),
        (
            serde_json::json!({ "properties": { "a": { "enum": [1] } } }),
            1,
        ),
        (serde_json::json!({ "properties": {} }), 3),
        (
            serde_json::json!({ "required": ["a"], "properties": { "a": { "enum": [1, 2] } } }),
            1,
        ),
    ] {
        assert_eq!(narrowings(&before, &list(schema)).len(), narrower);
    }
}

/// Returns the lines of a file of the last release, after it was written if there is a new one.
fn released(name: &str, present: &[String]) -> Vec<String> {
    let path = root().join("tests/released").join(name);
    if std::env::var_os("AGENT_RELEASE").is_some() {
        fs::write(&path, present.join("\n") + "\n").unwrap();
    }
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Returns whether an enumeration of codes has only more of them, at its end.
fn has_grown(before: &str, now: &str) -> bool {
    let codes = before
        .strip_prefix(CODES)
        .and_then(|it| it.strip_suffix(" }"));
    codes.is_some_and(|codes| now.starts_with(&format!("{CODES}{codes}, ")))
}

/// Returns the items of all interfaces, and what the worlds export.
fn contract() -> Vec<String> {
    let mut items = Vec::new();
    for path in files(&root().join("wit/engine"), ".wit") {
        let text = fs::read_to_string(path).unwrap();
        items.extend(
            ["interface", "world"]
                .iter()
                .flat_map(|kind| self::items(kind, &text)),
        );
    }
    items
}

/// Returns the items of the interfaces or worlds in a text, a line each.
fn items(kind: &str, text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let lines = lines.filter(|line| !line.trim_start().starts_with('@'));
    let text = lines.collect::<Vec<_>>().join(" ");
    let mut items = Vec::new();
    for (head, body) in statements(&text) {
        let Some(name) = head.strip_prefix(kind) else {
            continue;
        };
        let name = name.trim();
        for (head, body) in statements(&body) {
            match head.strip_prefix("resource ").filter(|_| !body.is_empty()) {
                Some(resource) => items.extend(
                    statements(&body)
                        .into_iter()
                        .map(|(method, _)| format!("{name}.{resource}: {method}")),
                ),
                None if body.is_empty() => items.push(format!("{name}: {head}")),
                None => items.push(format!(
                    "{name}: {head} {{ {} }}",
                    body.trim_end_matches(',')
                )),
            }
        }
    }
    items
}

/// Splits a text into statements: the words before `;` or a block, and the content of the block.
fn statements(text: &str) -> Vec<(String, String)> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut statements = Vec::new();
    let (mut depth, mut start, mut open) = (0, 0, 0);
    for (at, character) in text.char_indices() {
        match character {
            '{' => {
                if depth == 0 {
                    open = at;
                }
                depth += 1;
            }
            '}' => {
                depth -= 1;
                // `use a.{b};` goes on behind its block.
                if depth == 0 && !text[start..open].trim_start().starts_with("use ") {
                    statements.push((words(&text[start..open]), words(&text[open + 1..at])));
                    start = at + 1;
                }
            }
            ';' if depth == 0 => {
                statements.push((words(&text[start..at]), String::new()));
                start = at + 1;
            }
            _ => {}
        }
    }
    statements
}

/// Returns what restricts the documents that others write, a line each.
fn schemas() -> Vec<String> {
    let files = files(&root().join("schemas"), ".json").into_iter();
    let files = files.filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        let is_ours = WRITTEN_BY_US.iter().any(|end| name.ends_with(end));
        (!is_ours).then_some((name, path))
    });
    let lines = files.flat_map(|(name, path)| {
        let schema = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        listed(&name, &schema)
    });
    lines.collect()
}

fn listed(name: &str, schema: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    list(name, schema, &mut lines);
    lines
}

/// Lists the restrictions of a schema, in a form that a line less or more of is one restriction.
fn list(at: &str, schema: &Value, lines: &mut Vec<String>) {
    let Value::Object(members) = schema else {
        return;
    };
    for (keyword, value) in members {
        match (&**keyword, value) {
            ("enum" | "required", Value::Array(values)) => {
                lines.extend(values.iter().map(|value| format!("{at} {keyword} {value}")));
            }
            ("properties" | "$defs" | "patternProperties", Value::Object(members)) => {
                for (name, schema) in members {
                    if keyword == "properties" {
                        lines.push(format!("{at} properties {name:?}"));
                    }
                    list(&format!("{at}/{keyword}/{name}"), schema, lines);
                }
            }
            (_, Value::Array(schemas)) => {
                for (number, schema) in schemas.iter().enumerate() {
                    list(&format!("{at}/{keyword}/{number}"), schema, lines);
                }
            }
            (_, Value::Object(_)) => list(&format!("{at}/{keyword}"), value, lines),
            (keyword, _) if FORBIDDING.contains(&keyword) => {
                lines.push(format!("{at} {keyword} {value}"));
            }
            _ => {}
        }
    }
}

/// Returns what a new list of restrictions forbids and the old one allows.
fn narrowings(before: &[String], now: &[String]) -> Vec<String> {
    let keyword = |line: &str| line.split(' ').nth(1).unwrap_or_default().to_owned();
    let [old, new] = [before, now].map(|lines| lines.iter().collect::<BTreeSet<_>>());
    let lost = old
        .difference(&new)
        .filter(|line| ALLOWING.contains(&&*keyword(line)));
    // What is below a new property restricts no old document.
    let known: BTreeSet<_> = before
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let gained = new.difference(&old).filter(|line| {
        let place = line.split(' ').next().unwrap_or_default();
        FORBIDDING.contains(&&*keyword(line)) && known.contains(place)
    });
    lost.chain(gained).map(|line| (*line).clone()).collect()
}

/// Returns the files directly in a folder whose names have an end, sorted.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file() && path.to_string_lossy().ends_with(end));
    files.sort();
    files
}
