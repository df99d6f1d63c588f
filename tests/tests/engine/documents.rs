//! Documents of real servers into an index. For where the data comes from see `build.rs`.

use agent_diagnostic::Code;
use agent_import::{Imported, Overlay, import};
use agent_lower as lower;
use agent_lower::{Checked, Notation};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::fs;
use std::path::Path;

/// Where the data is.
const DATA: Option<&str> = option_env!("AGENT_MCP_REFERENCE");

/// The values that the documents lack. The capture of the memory server replaces one of the server
/// whose `server.json` exists, so that a merge has two documents.
const OVERLAY: &str = "\
version: v0.1
defaults:
  categories: [tools]
  scopes: []
  data: { residency: any, maxSensitivity: public }
  trust: { signed: false, publisher: Unknown }
servers:
  io.github.github/github-mcp-server:
    id: github
    version: 1.2.0
    endpoint: https://api.githubcopilot.com/mcp/
    categories: [code]
    class: paid
  io.github.smart-mcp-proxy/mcpproxy-go:
    endpoint: https://mcpproxy.example/
  '@modelcontextprotocol/server-everything':
    id: everything
    endpoint: pkg:npm/%40modelcontextprotocol/server-everything@2026.8.31
    tools:
      get-sum:
        x-summit-capabilities:
          - { verb: execute, resource: x-sums, constraints: [readonly] }
  secure-filesystem-server:
    id: filesystem
    endpoint: pkg:npm/%40modelcontextprotocol/server-filesystem@2026.8.31
  '@modelcontextprotocol/server-memory':
    id: io.github.microsoft/playwright-mcp
    version: 0.0.79
    endpoint: pkg:npm/%40playwright/mcp@0.0.79
    trust: { signed: true }
    tools:
      search_nodes:
        x-summit-capabilities:
          - { verb: search, resource: knowledge_graph, constraints: [readonly] }
";

/// The documents of a folder, by name.
fn documents(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(DATA.expect("the folder that build.rs found")).join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            (name.into_owned(), fs::read(&path).expect("a document"))
        })
        .collect();
    found.sort();
    assert!(found.len() >= 3, "{} documents", found.len());
    found
}

fn all() -> Vec<(String, Vec<u8>)> {
    let mut all = documents("registry/examples");
    all.extend(documents("captures"));
    all
}

fn run(document: &[u8], existing: Option<&str>) -> Checked<Imported> {
    let overlay = Overlay {
        bytes: OVERLAY.as_bytes().to_vec(),
        notation: Notation::of_file("overlay.yaml"),
    };
    let existing = existing.map(|index| index.as_bytes().to_vec());
    import(vec![document.to_vec()], Some(overlay), existing)
        .unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn fold<'d>(documents: impl IntoIterator<Item = &'d Vec<u8>>) -> String {
    let mut index = None;
    for document in documents {
        index = Some(run(document, index.as_deref()).value.index);
    }
    index.expect("a document")
}

#[test]
#[cfg_attr(
    not(mcp_reference),
    ignore = "the data of MCP servers is not here: set AGENT_REFERENCE, see tests/README.md"
)]
fn real_documents_make_an_index_that_is_the_same_in_any_order_and_again() {
    let documents: Vec<_> = all().into_iter().map(|(_, document)| document).collect();
    let expected = fold(&documents);
    let read = lower::index(expected.clone().into_bytes()).expect("an index");
    assert_eq!(
        read.value.len(),
        documents.len() - 1,
        "two are of one server"
    );
    for document in &documents {
        let again = run(document, Some(&expected)).value;
        assert_eq!(again.index, expected);
        assert_eq!((again.added.len(), again.changed.len()), (0, 0));
        assert_eq!(again.unchanged.len(), 1);
    }
    let twice: Vec<_> = documents.iter().chain(&documents).cloned().collect();
    let mut runner = TestRunner::new(Config {
        cases: 64,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&Just(twice).prop_shuffle(), |order| {
            prop_assert_eq!(fold(&order), expected.clone());
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
#[cfg_attr(
    not(mcp_reference),
    ignore = "the data of MCP servers is not here: set AGENT_REFERENCE, see tests/README.md"
)]
fn tools_of_real_captures_are_kept_as_they_are() {
    for (name, document) in documents("captures") {
        let capture: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
        let index = run(&document, None).value.index;
        let index: serde_json::Value = serde_json::from_str(&index).expect("JSON");
        let tools = &index["servers"][0]["capabilities"]["tools"];
        let listed = capture["2025-11-25"]["tools/list"]["tools"]
            .as_array()
            .expect("tools");
        assert!(!listed.is_empty());
        for tool in listed {
            let kept = &tools[tool["name"].as_str().expect("a name")];
            for field in ["description", "inputSchema", "outputSchema", "annotations"] {
                assert_eq!(kept.get(field), tool.get(field), "{name}: {tool}");
            }
        }
        let flag = &capture["2025-11-25"]["initialize"]["capabilities"]["tools"]["listChanged"];
        assert_eq!(tools.get("listChanged"), Some(flag), "{name}");
        let tools = tools.as_object().expect("tools").len();
        assert_eq!(tools, listed.len() + 1, "{name}");
    }
}

#[test]
#[cfg_attr(
    not(mcp_reference),
    ignore = "the data of MCP servers is not here: set AGENT_REFERENCE, see tests/README.md"
)]
fn real_documents_alone_lack_what_only_a_person_knows() {
    for (name, document) in all() {
        let (problems, missing) = match import(vec![document], None, None) {
            Ok(imported) => (imported.warnings, 0),
            Err(problems) => {
                let missing = problems.iter().filter(|p| p.code == Code::MissingField);
                let missing = missing.count();
                (problems, missing)
            }
        };
        // Only where a captured server is reached has to be said, and where one without a package is.
        let is_capture = !name.ends_with(".server.json");
        let has_no_endpoint = is_capture || name == "mcpproxy-go.server.json";
        assert_eq!(
            missing,
            usize::from(has_no_endpoint),
            "{name}: {problems:#?}"
        );
        for problem in &problems {
            assert!(!problem.fixes.is_empty(), "{name}: {problem:?}");
        }
        let values = problems.iter().filter(|p| p.code == Code::ImportValue);
        let expected = match &*name {
            // A placeholder as the version, and two ways to reach it.
            "github-mcp-server.server.json" => 2,
            // A name with an `@`.
            "everything.json" | "filesystem.json" | "memory.json" => 1,
            _ => 0,
        };
        assert_eq!(values.count(), expected, "{name}: {problems:#?}");
    }
}
