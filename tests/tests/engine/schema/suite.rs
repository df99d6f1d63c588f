//! JSON-Schema-Test-Suite, of which every mandatory case must pass.

use super::tree;
use agent_json_schema::{Budget, Documents, Draft, Schema};
use agent_syntax as syntax;
use agent_syntax::Node;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the optional cases that fail, as the book lists them: file, group and case.
fn optional_failures() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/json-schema.md");
    let page = fs::read_to_string(page).expect("the page");
    let rows = page.lines().filter_map(|line| {
        let (file, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
        let (group, rest) = rest.split_once(" | ")?;
        let (case, _) = rest.split_once(" | ")?;
        file.ends_with(".json")
            .then(|| format!("{file}: {group}: {case}"))
    });
    rows.collect()
}

fn suite() -> PathBuf {
    PathBuf::from(option_env!("AGENT_JSON_SCHEMA_TEST_SUITE").unwrap_or_default())
}

/// Returns the files below a folder, by their paths from there.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "json") {
                let name = path
                    .strip_prefix(folder)
                    .expect("within")
                    .to_str()
                    .expect("UTF-8");
                found.insert(
                    name.replace('\\', "/"),
                    fs::read_to_string(&path).expect("a text"),
                );
            }
        }
    }
    found
}

/// Returns a value of an object.
fn field<'n, 'a>(node: &'n Node<'a>, key: &str) -> &'n Node<'a> {
    let syntax::Value::Mapping(entries) = &node.value else {
        panic!("an object");
    };
    let entry = entries.iter().find(|entry| entry.key == key);
    &entry.expect("a key").value
}

/// Returns the items of a list.
fn items<'n, 'a>(node: &'n Node<'a>) -> &'n [Node<'a>] {
    match &node.value {
        syntax::Value::Sequence(items) => items,
        _ => panic!("a list"),
    }
}

/// The results of the cases of some files.
#[derive(Debug, Default)]
struct Outcome {
    passed: usize,
    /// The file, the group and the case, and the result.
    failed: Vec<(String, String)>,
}

fn run(draft: Draft, folder: &str, optional: bool) -> Outcome {
    let remotes = files(&suite().join("remotes"));
    let trees: Vec<_> = remotes
        .iter()
        .map(|(name, text)| (name, tree(text)))
        .collect();
    let mut documents = Documents::new();
    for (name, tree) in &trees {
        documents.add(&format!("http://localhost:1234/{name}"), tree, draft);
    }
    let mut outcome = Outcome::default();
    for (file, text) in files(&suite().join("tests").join(folder)) {
        // `format` is an annotation.
        if file.starts_with("optional/") != optional || file.starts_with("optional/format/") {
            continue;
        }
        let groups: Value = serde_json::from_str(&text).expect("JSON");
        let tree = tree(&text);
        for (number, group) in groups.as_array().expect("groups").iter().enumerate() {
            let node = &items(&tree)[number];
            let schema = field(node, "schema");
            let compiled = Schema::compile(schema, &documents, draft, &mut Budget::new());
            for (case, expected) in items(field(node, "tests"))
                .iter()
                .zip(group["tests"].as_array().expect("tests"))
            {
                let found = match &compiled {
                    Ok(schema) => {
                        let found = schema.check(field(case, "data"), &mut Budget::new());
                        found
                            .map(|found| found.is_empty())
                            .map_err(|e| format!("{e:?}"))
                    }
                    Err(refused) => Err(format!("{refused:?}")),
                };
                if found == Ok(expected["valid"].as_bool().expect("a verdict")) {
                    outcome.passed += 1;
                } else {
                    let [group, case] =
                        [group, expected].map(|it| it["description"].as_str().unwrap_or(""));
                    outcome.failed.push((
                        format!("{folder}/{file}: {group}: {case}"),
                        format!("{found:?}"),
                    ));
                }
            }
        }
    }
    outcome
}

#[test]
#[cfg_attr(
    not(json_schema_test_suite),
    ignore = "JSON-Schema-Test-Suite is not here: set AGENT_REFERENCE, see tests/README.md"
)]
fn every_mandatory_case_passes() {
    for (draft, folder, least) in [
        (Draft::Draft202012, "draft2020-12", 1_200),
        (Draft::Draft07, "draft7", 900),
    ] {
        let outcome = run(draft, folder, false);
        println!("{folder}: {} passed", outcome.passed);
        assert!(outcome.failed.is_empty(), "{:#?}", outcome.failed);
        assert!(
            outcome.passed > least,
            "{} cases of {folder}",
            outcome.passed
        );
    }
}

#[test]
#[cfg_attr(
    not(json_schema_test_suite),
    ignore = "JSON-Schema-Test-Suite is not here: set AGENT_REFERENCE, see tests/README.md"
)]
fn the_optional_cases_that_fail_are_known() {
    let mut failed = Vec::new();
    for (draft, folder) in [
        (Draft::Draft202012, "draft2020-12"),
        (Draft::Draft07, "draft7"),
    ] {
        let outcome = run(draft, folder, true);
        println!("{folder}: {} optional ones passed", outcome.passed);
        failed.extend(outcome.failed);
    }
    for (name, found) in &failed {
        println!("{name} -> {found:.200}");
    }
    let mut names: Vec<_> = failed.iter().map(|(name, _)| name.as_str()).collect();
    let mut known = optional_failures();
    names.sort_unstable();
    known.sort_unstable();
    assert_eq!(names, known);
}
