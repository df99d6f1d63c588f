//! What the documentation shows does what the documentation says.

use agent_engine::diagnostic::Code;
use agent_tests::corpus::Failures;
use agent_tests::files::{File as _, Resolution};
use agent_tests::native;
use agent_tests::root;
use std::fs;

/// A fenced block: its language and its text.
type Block = (String, String);

/// Asks for everything that the indexes on the pages of reasons don't offer.
const DEMANDING: &str = "\
---
name: hello
version: 1.0.0
requires:
  mcp:
    - category: audiences
      permissions: [read:audiences, write:audiences]
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

/// The codes that an example is answered with. None if it is no input that stands for itself.
fn codes((language, text): &Block) -> Option<Vec<String>> {
    let answers = match &**language {
        "yaml" if text.starts_with("---\n") => vec![native::validate_manifest(text.as_bytes())],
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
        let path = root().join(format!("docs/reference/codes/{}.md", code.name()));
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
    for block in blocks(&page, "The smallest manifest") {
        count += 1;
        assert_eq!(codes(&block), Some(Vec::new()), "{}", block.1);
    }
    assert_eq!(count, 1, "the page has a smallest manifest");
}

#[test]
fn files_in_the_reference_are_those_of_the_example() {
    let example = root().join("examples/hello-agent");
    let read = |file: &str| fs::read(example.join(file)).expect("the example");
    let answers = native::resolve(&read("agents.md"), &read("mcp.index.json"));
    // The page says that it leaves out the second requirement.
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
