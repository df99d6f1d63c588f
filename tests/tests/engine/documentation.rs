//! What the documentation shows does what the documentation says.

use agent_diagnostic::Code;
use agent_tests::corpus::Failures;
use agent_tests::files::{File as _, Resolution};
use agent_tests::inputs::{Given, Inputs};
use agent_tests::native;
use agent_tests::root;
use std::fs;

/// A fenced block: its language and its text.
type Block = (String, String);

/// A manifest that requires everything that the indexes on the pages of reasons don't offer.
const DEMANDING: &str = "\
---
name: hello
version: 1.0.0
requires:
  mcp:
    - category: audiences
      permissions: [read:audiences, write:audiences]
      only: [archive]
  capabilities:
    - { verb: search, resource: internet, constraints: [readonly] }
constraints:
  data: { residency: us-only, sensitivity: pii.high }
  trust: { requireSigned: true }
---
";

/// The fenced blocks of a section of a page.
fn blocks(page: &str, section: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut within = false;
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, Some(language)) if within => open = Some((language.to_owned(), String::new())),
            (None, _) if line.starts_with("## ") => within = line == format!("## {section}"),
            (None, _) => {}
        }
    }
    blocks
}

/// One server that meets the requirements.
const OFFERING: &str = r#"[
  { "id": "acme", "version": "1", "endpoint": "https://a.example/mcp", "categories": [], "scopes": [],
    "data": { "residency": "any", "maxSensitivity": "public" },
    "trust": { "signed": true, "publisher": "Acme" },
    "capabilities": { "tools": { "find": { "x-summit-capabilities": [
      { "verb": "search", "resource": "internet" } ] } } } }
]"#;

/// A task and an index, for pages that show a part of the evaluation context.
fn demanding() -> Inputs {
    Inputs {
        index: OFFERING.into(),
        task: Some(Given::text(
            "task_id: t\nrequired_capabilities:\n  - { verb: search, resource: internet }\n",
        )),
        ..Inputs::default()
    }
}

/// The codes of the answer to an example, or `None` for an incomplete input.
fn codes((language, text): &Block) -> Option<Vec<String>> {
    let answers = match &**language {
        "yaml" if text.starts_with("---\n") => vec![native::validate_manifest(text.as_bytes())],
        "yaml" if text.starts_with("tenants:") => vec![native::under(&Inputs {
            tenant: Some(Given::text(text.as_str())),
            ..demanding()
        })],
        "yaml" if text.starts_with("acme: ") => vec![native::under(&Inputs {
            health: Some(Given::text(text.as_str())),
            ..demanding()
        })],
        "markdown" => vec![native::validate_manifest(text.as_bytes())],
        // A page shows an index or a lock, and does not say which to a program.
        "json" => vec![
            native::resolve(DEMANDING.as_bytes(), text.as_bytes()),
            native::validate_lock(text.as_bytes()),
        ],
        _ => return None,
    };
    let texts = answers.iter().flat_map(|answers| answers.values());
    let lines = texts.flat_map(|text| text.lines());
    let codes = lines.filter_map(|line| line.trim().strip_prefix("\"code\": \""));
    Some(
        codes
            .map(|code| code.trim_end_matches(['"', ',']).to_owned())
            .collect(),
    )
}

#[test]
fn examples_on_the_pages_of_codes_are_answered_as_the_page_says() {
    let mut failures = Failures::default();
    let (mut triggered, mut resolved) = (0, 0);
    for code in Code::ALL {
        let path = root().join(format!("docs/reference/codes/{}.md", code.page()));
        let page = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for block in blocks(&page, "Triggered by") {
            if let Some(codes) = codes(&block) {
                triggered += 1;
                if !codes.iter().any(|found| found == code.name()) {
                    failures.add(
                        code.name(),
                        format!("not triggered but {codes:?} by\n{}", block.1),
                    );
                }
            }
        }
        for block in blocks(&page, "Resolved by") {
            if let Some(codes) = codes(&block) {
                resolved += 1;
                let still = codes.iter().any(|found| found == code.name());
                if still || block.0 == "yaml" && !codes.is_empty() {
                    failures.add(
                        code.name(),
                        format!("not resolved but {codes:?} by\n{}", block.1),
                    );
                }
            }
        }
    }
    failures.finish();
    assert!(
        triggered >= 20 && resolved >= 8,
        "{triggered} and {resolved} examples"
    );
}

#[test]
fn manifests_in_the_reference_are_accepted() {
    let path = root().join("docs/reference/agents-md.md");
    let page = fs::read_to_string(&path).expect("the page on agents.md");
    let mut count = 0;
    for section in ["The smallest manifest", "Capabilities"] {
        for block in blocks(&page, section) {
            count += 1;
            assert_eq!(codes(&block), Some(Vec::new()), "{}", block.1);
        }
    }
    assert_eq!(count, 2, "the page has a manifest in each");
}

#[test]
fn groundings_in_the_reference_are_answered_as_it_says() {
    let path = root().join("docs/reference/grounding.md");
    let page = fs::read_to_string(&path).expect("the page on grounding");
    let [(_, summary)] = &blocks(&page, "Summary")[..] else {
        panic!("the page has a summary");
    };
    let read = agent_lower::summary(summary.clone().into_bytes());
    assert!(read.expect("a summary").warnings.is_empty());
    let [(_, summary), (_, payload), (_, shown)] = &blocks(&page, "Output")[..] else {
        panic!("the page has an answer");
    };
    let answers = native::grounded(summary.as_bytes(), payload.as_bytes());
    let [shown, told] = [shown, &answers["grounding.json"]]
        .map(|text| serde_json::from_str::<serde_json::Value>(text).expect("JSON"));
    assert_eq!(shown, told);
}

#[test]
fn files_in_the_reference_are_those_of_the_example() {
    let example = root().join("examples/hello-agent");
    let read = |file: &str| fs::read(example.join(file)).expect("the example");
    let answers = native::resolve(&read("agents.md"), &read("mcp.index.json"));
    // The page omits the second requirement, and mentions it.
    let mut shortened = Resolution::read(&answers["agents.resolution.json"]).expect("its type");
    assert_eq!(shortened.requirements.len(), 2);
    shortened.requirements.truncate(1);
    for (page, shown) in [
        ("agents-lock.md", answers["agents.lock"].clone()),
        ("agents-resolution.md", shortened.write()),
    ] {
        let path = root().join("docs/reference").join(page);
        let text = fs::read_to_string(&path).expect("the page");
        let block = format!("```json\n{shown}```\n");
        assert!(text.contains(&block), "{page} does not show\n{shown}");
    }
}

/// The first block of a language on a page of the reference or of the explanation.
fn first(page: &str, language: &str) -> String {
    let path = root().join("docs").join(page);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let open = format!("```{language}\n");
    let (_, rest) = text
        .split_once(&open)
        .unwrap_or_else(|| panic!("{page} has no {open}"));
    rest.split_once("```").expect("an end").0.to_owned()
}

#[test]
fn the_example_of_capabilities_is_a_case() {
    let case = root().join("tests/corpus/match/accept/the-example-of-the-documentation");
    let read = |file: &str| fs::read_to_string(case.join(file)).expect("a file of the case");
    let answer = read("match.txt");
    assert_eq!(first("explanation/capabilities.md", "text"), answer);
    assert_eq!(
        first("explanation/capabilities.md", "yaml"),
        read("task.yaml")
    );
    assert_eq!(first("reference/task.md", "yaml"), read("task.yaml"));

    let case = root().join("tests/corpus/resolve/accept/the-example-of-the-documentation");
    let lock = fs::read_to_string(case.join("agents.lock")).expect("its lock");
    let page = root().join("docs/reference/agents-lock.md");
    let page = fs::read_to_string(page).expect("the page");
    let (_, rest) = page
        .split_once("## Selections for capabilities\n\n```json\n")
        .expect("a block");
    let (block, _) = rest.split_once("```").expect("its end");
    let indented: String = block.lines().map(|line| format!("    {line}\n")).collect();
    assert!(
        lock.contains(indented.trim_end()),
        "{lock} is not\n{indented}"
    );
}

#[test]
fn evaluation_contexts_in_the_reference_are_accepted() {
    let given = |page: &str| Some(Given::text(first(page, "yaml")));
    let inputs = Inputs {
        index: b"[]".to_vec(),
        task: given("reference/task.md"),
        tenant: given("reference/tenant.md"),
        health: given("reference/health.md"),
        ..Inputs::default()
    };
    let read = native::read(&inputs, None).expect("they are valid");
    assert!(read.warnings.is_empty());
}
