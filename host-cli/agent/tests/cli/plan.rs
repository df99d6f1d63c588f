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

pub(crate) fn project() -> Project {
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
fn every_reason_against_a_call_is_reported_at_its_place() {
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

/// Returns the examples with a lock.
fn examples() -> Project {
    let project = Project::empty();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/plans");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        project.write(name, std::fs::read_to_string(&path).unwrap());
    }
    project.agent("resolve").exits(0);
    project
}

const STEPS: &str = "plan check mcp.plan.json --tool-pool tool-pool.json --profile profile.json";

#[test]
fn a_plan_of_steps_that_may_run_is_allowed() {
    let project = examples();
    project
        .agent(&format!("{STEPS} --request request.json"))
        .exits(0)
        .answers("may run");
    let run = project.agent(&format!("{STEPS} --format json")).exits(0);
    let report = run.json();
    assert_eq!(report["schema_id"], "ds.mova_agent_validation_report_v1");
    assert_eq!(report["verdict"], "allow");
    assert_eq!(report["at_run_time"].as_array().unwrap().len(), 5);
    let authorized = report["authorized"].as_str().unwrap();
    project.agent(STEPS).exits(0).answers(authorized);
}

#[test]
fn a_plan_of_steps_is_denied_without_its_inputs() {
    let project = examples();
    let denied = |more: &str, reason: &str| {
        let run = project
            .agent(&format!("{STEPS} {more} --format json"))
            .exits(1);
        let report = run.json();
        assert_eq!(report["verdict"], "deny");
        assert_eq!(report["problems"][0]["code"], "policy_denied");
        assert_eq!(report["problems"][0]["reason"], reason);
    };
    std::fs::rename(project.path("agents.lock"), project.path("another.lock")).unwrap();
    denied("", "LOCK_MISSING");
    // A named lock must exist.
    let named = |name: &str| project.agent(&format!("{STEPS} --lock {name}"));
    named("none.lock").exits(2);
    named("another.lock").exits(0);
    std::fs::rename(project.path("another.lock"), project.path("agents.lock")).unwrap();
    std::fs::remove_file(project.path("mcp.index.json")).unwrap();
    denied("", "INTEGRITY_CHANGED");
    // A named index must exist.
    project
        .agent(&format!("{STEPS} --index none.json"))
        .exits(2);
    project
        .agent("plan check mcp.plan.json --tool-pool tool-pool.json")
        .exits(2);
}

#[test]
fn every_problem_of_a_plan_is_reported_with_its_fix() {
    let project = examples();
    let text = std::fs::read_to_string(project.path("mcp.plan.json")).unwrap();
    project.write(
        "mcp.plan.json",
        text.replace("\"tool_id\": \"keep\"", "\"tool_id\": \"keeep\""),
    );
    let run = project.agent(STEPS).exits(1);
    run.notes("policy_denied");
    let report = project.agent(&format!("{STEPS} --format json")).exits(1);
    let report = report.json();
    let problem = &report["problems"][0];
    assert_eq!(problem["pointer"], "/plan/steps/1/tool_id");
    assert_eq!(problem["changes"][0]["value"], "keep");
    assert_eq!(problem["changes"][0]["widens"], false);
    for format in ["sarif", "github"] {
        project
            .agent(&format!("{STEPS} --format {format}"))
            .exits(1)
            .answers("policy_denied");
    }
}

#[test]
fn schemas_are_listed_shown_and_checked() {
    let project = examples();
    project
        .agent("schema list")
        .exits(0)
        .answers("env.mova_agent_plan_v1");
    let listed = project.agent("schema list --format json").exits(0);
    let listed = listed.json()["schemas"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 18);
    for schema in &listed {
        let name = schema["name"].as_str().unwrap();
        let shown = project.agent(&format!("schema show {name}")).exits(0);
        assert!(shown.json().is_object(), "{name}");
    }
    project
        .agent("schema check env.mova_agent_plan_v1 mcp.plan.json")
        .exits(0);
    let run = project
        .agent("schema check env.mova_agent_plan_v1 profile.json")
        .exits(1);
    run.notes("validation_failed");
    project
        .agent("schema check env.mova_agent_plan mcp.plan.json")
        .exits(2)
        .notes("env.mova_agent_plan_v1");
}

#[test]
fn an_external_copy_of_mova_replaces_the_equivalents() {
    let project = examples();
    let core = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/mova");
    project.agent(&format!("{STEPS} --mova {core}")).exits(0);
    std::fs::create_dir_all(project.path("vendor/MOVA/schemas")).unwrap();
    project.agent(STEPS).exits(2).notes("ds.connector_core_v1");
}
