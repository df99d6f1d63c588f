//! The schemas of the documents that people write, against the readers of these documents.

use agent_diagnostic::{Code, Problems};
use agent_lower::{self as lower, Lowered, Notation};
use agent_syntax::{Node, frontmatter, yaml};
use agent_tests::corpus::Failures;
use agent_tests::formats::Format;
use agent_tests::root;
use agent_text::{DocumentKind, Text};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Problems that a schema of one document can't state: near misses of keys and words, sets without
/// repetitions, URLs, and what the parts of a document say of each other.
const BEYOND: [Code; 8] = [
    Code::DuplicateKey,
    Code::DuplicateServer,
    Code::ForbiddenAction,
    Code::InvalidEndpoint,
    Code::MisplacedKey,
    Code::MisspeltKey,
    Code::NumberOutOfRange,
    Code::TenantUnknown,
];

/// Named so that `cargo xtask bless` writes them.
#[test]
fn corpus_of_schemas_is_that_of_the_formats() {
    let mut failures = Failures::default();
    for format in Format::ALL {
        let name = format.schema_name();
        let mut text = serde_json::to_string_pretty(&format.schema()).expect("JSON");
        text.push('\n');
        failures.compare(
            &format!("schemas/{name}"),
            &root().join("schemas").join(name),
            &text,
        );
    }
    failures.finish();
}

fn validator(format: Format) -> Validator {
    let schema = format.schema();
    jsonschema::draft202012::meta::validate(&schema).expect("a schema");
    jsonschema::validator_for(&schema).expect("a schema")
}

/// Returns the format of a file by its name.
fn format_of(path: &Path) -> Option<Format> {
    Some(match path.file_name()?.to_str()? {
        "agents.md" => Format::Manifest,
        "mcp.index.json" => Format::Index,
        "task.yaml" | "task.json" => Format::Task,
        "tenant.yaml" | "tenant.json" => Format::Tenant,
        "health.yaml" | "health.json" => Format::Health,
        "overlay.yaml" => Format::Overlay,
        _ => return None,
    })
}

fn files(folder: &Path, found: &mut Vec<(Format, PathBuf)>) {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, found);
        } else if let Some(format) = format_of(&path) {
            found.push((format, path));
        }
    }
}

/// Returns the value of a document as an editor sees it: a plain scalar of YAML has the type that it has in
/// JSON. `None` if the document has no value.
fn value(format: Format, text: &str) -> Option<Value> {
    let text = Text::new(DocumentKind::Task, text.to_owned());
    let mut problems = Problems::new(&text);
    let node = match format {
        Format::Manifest => {
            let parts = frontmatter(&mut problems)?;
            yaml::parse(parts.content, &mut problems)?
        }
        Format::Index => Notation::Json.parse(&mut problems)?,
        _ => Notation::ByContent.parse(&mut problems)?,
    };
    (!problems.has_errors()).then(|| plain(&node))
}

fn plain(node: &Node<'_>) -> Value {
    use agent_syntax::Value as Tree;
    match &node.value {
        Tree::Null | Tree::Refused => Value::Null,
        Tree::Bool(value) => json!(value),
        Tree::Number(number) => serde_json::from_str(number).expect("a number"),
        Tree::Plain(text) => match serde_json::from_str(text) {
            Ok(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => value,
            _ => json!(text),
        },
        Tree::String(text) => json!(text),
        Tree::Sequence(items) => items.iter().map(plain).collect(),
        Tree::Mapping(entries) => {
            let entries = entries.iter();
            entries
                .map(|entry| (entry.key.to_string(), plain(&entry.value)))
                .collect()
        }
    }
}

/// Returns the codes of the errors of a document, or `None` if nothing reads it alone.
fn refused(format: Format, text: &str) -> Option<Vec<Code>> {
    fn codes<T>(lowered: Lowered<T>) -> Vec<Code> {
        lowered
            .err()
            .into_iter()
            .flatten()
            .map(|it| it.code)
            .collect()
    }
    let bytes = text.as_bytes().to_vec();
    let notation = Notation::ByContent;
    Some(match format {
        Format::Manifest => codes(lower::manifest(bytes)),
        Format::Index => codes(lower::index(bytes)),
        Format::Task => codes(lower::task(bytes, notation)),
        Format::Tenant => codes(lower::tenant(bytes, notation, None)),
        Format::Health => codes(lower::health(bytes, notation)),
        Format::Overlay => return None,
    })
}

/// How often schema and reader agreed and how.
#[derive(Debug, Default)]
struct Counts {
    accepted: usize,
    refused: usize,
    beyond: usize,
}

/// Compares the verdict of the schema with that of the reader.
fn compare(
    format: Format,
    validator: &Validator,
    (name, text): (&str, &str),
    (failures, counts): (&mut Failures, &mut Counts),
) {
    let (Some(value), Some(codes)) = (value(format, text), refused(format, text)) else {
        return;
    };
    let codes: Vec<_> = codes
        .into_iter()
        .filter(|code| code.severity() == agent_diagnostic::Severity::Error)
        .collect();
    let error = validator.validate(&value).err();
    match (codes.is_empty(), error) {
        (true, None) => counts.accepted += 1,
        // The word `null` is a name in YAML, and most often a value that is missing.
        (true, Some(error)) if error.instance().is_null() => counts.beyond += 1,
        (true, Some(error)) => {
            failures.add(
                name,
                format!(
                    "the reader accepts it: {error} at {}",
                    error.instance_path()
                ),
            );
        }
        (false, Some(_)) => counts.refused += 1,
        (false, None) if codes.iter().all(|code| BEYOND.contains(code)) => counts.beyond += 1,
        // An empty snapshot in YAML has this value, too.
        (false, None) if value.is_null() && format == Format::Health => counts.beyond += 1,
        (false, None) => failures.add(name, format!("the schema accepts it: {codes:?}")),
    }
}

#[test]
fn schemas_and_readers_agree_on_every_document_of_the_corpora() {
    let mut found = Vec::new();
    files(&root().join("tests/corpus"), &mut found);
    files(&root().join("examples"), &mut found);
    let mut failures = Failures::default();
    for format in Format::ALL.into_iter().filter(|it| *it != Format::Overlay) {
        let (validator, mut counts) = (validator(format), Counts::default());
        for (_, path) in found.iter().filter(|(it, _)| *it == format) {
            let Ok(text) = fs::read_to_string(path) else {
                continue;
            };
            let name = path.display().to_string();
            compare(
                format,
                &validator,
                (&name, &text),
                (&mut failures, &mut counts),
            );
        }
        assert!(
            counts.accepted > 5 && counts.refused > counts.beyond,
            "{format:?}: {counts:?}"
        );
    }
    failures.finish();
}

/// Valid documents with every field.
const FULL: [(Format, &str); 5] = [
    (
        Format::Manifest,
        r#"{
  "name": "a", "version": "1",
  "requires": {
    "mcp": [{ "category": "c", "permissions": ["s"], "load": "on_demand" }],
    "capabilities": [{ "verb": "read", "resource": "codebase", "constraints": ["readonly"], "load": "essential", "tools": "all" }]
  },
  "constraints": {
    "data": { "residency": "eu-only", "sensitivity": "internal" },
    "actions": { "forbid": ["f"] },
    "trust": { "requireSigned": true }
  }
}"#,
    ),
    (
        Format::Index,
        r#"{ "servers": [{
  "id": "a", "version": "1", "endpoint": "https://a.example/", "categories": ["c"], "scopes": ["s"],
  "data": { "residency": ["any"], "maxSensitivity": "public" },
  "trust": { "signed": true, "publisher": "A" }, "policy": { "rateLimitPerMin": 1 }, "class": "k",
  "capabilities": { "tools": { "t": {
    "description": "d", "inputSchema": {}, "outputSchema": {}, "annotations": {},
    "x-summit-capabilities": [{ "verb": "read", "resource": "codebase", "constraints": ["readonly"] }]
  } } }
}] }"#,
    ),
    (
        Format::Task,
        r#"{ "task_id": "t", "required_capabilities": [{ "verb": "read", "resource": "codebase" }] }"#,
    ),
    (
        Format::Tenant,
        r#"{ "version": "v0.1", "tenants": [{ "id": "t", "tier": "gold", "policy": "p.rego", "token_budget": 1,
  "priorities": { "classes": { "k": 1 }, "servers": { "a": -1 } } }] }"#,
    ),
    (Format::Health, r#"{ "a": "HEALTHY", "b": "PROBATION" }"#),
];

/// Calls `visit` with each document that one change makes: a value that is removed, or replaced.
fn mutants(root: &Value, visit: &mut dyn FnMut(String, &Value)) {
    let others = [
        json!(null),
        json!([]),
        json!({}),
        json!(""),
        json!("<name>"),
        json!("a\u{1}"),
        json!("zzz"),
        json!([[]]),
        json!(["zzz"]),
    ];
    let mut pointers = Vec::new();
    collect(root, String::new(), &mut pointers);
    for pointer in pointers {
        for other in &others {
            let mut mutant = root.clone();
            *mutant.pointer_mut(&pointer).expect("a value") = other.clone();
            visit(format!("{pointer} = {other}"), &mutant);
        }
        let Some((parent, key)) = pointer.rsplit_once('/') else {
            continue;
        };
        let mut mutant = root.clone();
        if let Some(parent) = mutant.pointer_mut(parent).and_then(Value::as_object_mut) {
            parent.remove(key);
            visit(format!("without {pointer}"), &mutant);
        }
    }
}

fn collect(value: &Value, pointer: String, found: &mut Vec<String>) {
    let inner: Vec<_> = match value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(number, it)| (format!("{pointer}/{number}"), it))
                .collect()
        }
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(key, it)| (format!("{pointer}/{key}"), it))
                .collect()
        }
        _ => Vec::new(),
    };
    found.push(pointer);
    for (pointer, value) in inner {
        collect(value, pointer, found);
    }
}

#[test]
fn schemas_and_readers_agree_on_documents_with_one_change() {
    let mut failures = Failures::default();
    let mut all = BTreeMap::new();
    for (format, text) in FULL {
        let (validator, mut counts) = (validator(format), Counts::default());
        let root: Value = serde_json::from_str(text).expect("JSON");
        let mut check = |name: String, value: &Value| {
            let text = match format {
                Format::Manifest => format!("---\n{value}\n---\n"),
                _ => value.to_string(),
            };
            let name = format!("{format:?}: {name}");
            compare(
                format,
                &validator,
                (&name, &text),
                (&mut failures, &mut counts),
            );
        };
        check("whole".to_owned(), &root);
        mutants(&root, &mut check);
        all.insert(format.schema_name(), counts);
    }
    failures.finish();
    for (name, counts) in all {
        assert!(
            counts.accepted > 0 && counts.refused > 9,
            "{name}: {counts:?}"
        );
    }
}

#[test]
fn overlays_are_checked_as_the_import_does() {
    let validator = validator(Format::Overlay);
    let valid = [
        json!(null),
        json!({ "version": "v0.1", "defaults": { "trust": { "signed": false }, "scopes": [] } }),
        json!({ "servers": { "a": {
            "id": "b", "endpoint": "https://a.example/", "policy": { "rateLimitPerMin": 600 },
            "tools": { "t": { "x-summit-capabilities": [{ "verb": "read", "resource": "codebase" }] } }
        } } }),
    ];
    for overlay in valid {
        assert!(validator.is_valid(&overlay), "{overlay}");
    }
    for overlay in [
        json!([]),
        json!({ "version": "v9" }),
        json!({ "defaults": { "trust": { "signed": "no" } } }),
        json!({ "defaults": { "data": { "residency": "mars" } } }),
        json!({ "servers": [] }),
        json!({ "servers": { "a": { "categories": "reporting" } } }),
        json!({ "servers": { "a": { "tools": { "t": { "x-summit-capabilities": [{ "verb": "read" }] } } } } }),
    ] {
        assert!(!validator.is_valid(&overlay), "{overlay}");
    }
    let mut found = Vec::new();
    files(&root().join("tests/corpus"), &mut found);
    let mut fixed = 0;
    for (_, path) in found
        .iter()
        .filter(|(format, _)| *format == Format::Overlay)
    {
        if path.parent().is_some_and(|it| it.ends_with("fixed")) {
            let text = fs::read_to_string(path).expect("a text");
            let overlay = value(Format::Overlay, &text).expect("a value");
            let error = validator.validate(&overlay).err();
            assert!(error.is_none(), "{}: {error:?}", path.display());
            fixed += 1;
        }
    }
    assert!(fixed > 0);
}
