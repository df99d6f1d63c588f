//! `plan check`.

use crate::project::Project;

const MANIFEST: &str = "\
---
name: hello
version: 1.0.0
requires:
  mcp:
    - { category: web, permissions: [] }
---
";

const INDEX: &str = r#"[
  {
    "id": "acme", "version": "1.0.0", "endpoint": "https://acme.example/mcp",
    "categories": ["web"], "scopes": [],
    "data": { "residency": "any", "maxSensitivity": "public" },
    "trust": { "signed": true, "publisher": "Acme" },
    "capabilities": { "tools": { "search": {
      "inputSchema": {
        "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"]
      },
      "x-summit-capabilities": [
        { "verb": "search", "resource": "internet", "constraints": ["readonly"] }
      ]
    } } }
  }
]
"#;

const PLAN: &str =
    r#"{"type": "call_tool", "server": "acme", "tool": "search", "args": {"query": "mars"}}"#;

fn project() -> Project {
    let project = Project::empty();
    project.write("agents.md", MANIFEST);
    project.write("mcp.index.json", INDEX);
    project.write("plan.json", PLAN);
    project.agent("resolve").exits(0);
    project
}

#[test]
fn a_call_that_may_be_made_is_allowed() {
    let project = project();
    project
        .agent("plan check --call plan.json")
        .exits(0)
        .answers("may be called");
    let run = project
        .agent("plan check --call plan.json --format json")
        .exits(0);
    let answer = run.json();
    assert_eq!(answer["verdict"], "allow");
    assert_eq!(
        answer["authorized"]["call"]["endpoint"],
        "https://acme.example/mcp"
    );
    assert!(answer["digest"].as_str().unwrap().starts_with("sha256-"));
}

#[test]
fn every_reason_against_a_call_is_told_at_its_place() {
    let project = project();
    project.write(
        "plan.json",
        PLAN.replace("search", "serach").replace("query", "qurey"),
    );
    project
        .agent("plan check --call plan.json")
        .exits(1)
        .notes("TOOL_UNKNOWN");
    project.write("plan.json", PLAN.replace("\"mars\"", "7, \"x\": 1"));
    let run = project
        .agent("plan check --call plan.json --format json")
        .exits(1);
    let found = run.json();
    let codes: Vec<_> = found["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["code"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(codes, ["ARGUMENT_UNKNOWN", "ARGUMENT_INVALID"]);
}

#[test]
fn nothing_is_called_without_a_lock_or_with_prose() {
    let project = project();
    std::fs::remove_file(project.path("agents.lock")).unwrap();
    project
        .agent("plan check --call plan.json")
        .exits(1)
        .notes("LOCK_MISSING");
    project.write("plan.json", format!("Sure! {PLAN}"));
    project
        .agent("plan check --call plan.json")
        .exits(1)
        .notes("PLAN_NOT_JSON");
}

#[test]
fn the_catalogue_is_what_servers_list_now() {
    let project = project();
    project.write("catalogue.json", r#"{"acme": {"tools": []}}"#);
    project
        .agent("plan check --call plan.json --catalog catalogue.json")
        .exits(1)
        .notes("TOOL_UNKNOWN");
    project.write("catalogue.json", "[]");
    project
        .agent("plan check --call plan.json --catalog catalogue.json")
        .exits(1)
        .notes("WRONG_TYPE");
    project
        .agent("plan check --call plan.json --catalog nowhere.json")
        .exits(2);
}
