//! `mcp-server-time`, the quickest to install: every run of the tests calls it.

use super::{
    RealServer, Requirement, agent, ask, assert_blocked, assert_drift_is_refused, assert_verifies,
    run, shared,
};
use crate::how_to_run;
use crate::project::Project;
use crate::run_plan::{operator, output, read, summary};
use serde_json::{Value, json};

const TIME: RealServer = RealServer {
    id: "time",
    registry: "pypi",
    package: "mcp-server-time",
    version: "2026.10.19",
    arguments: &[],
    readonly: &["convert_time", "get_current_time"],
};

const TOOL: &str = "convert_time";

fn noon() -> Value {
    json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" })
}

fn project() -> Project {
    TIME.project(TOOL, noon())
}

/// The definition of a tool in the index.
fn definition(project: &Project, tool: &str) -> Value {
    let index: Value = serde_json::from_str(&project.read("mcp.index.json")).unwrap();
    index["servers"][0]["capabilities"]["tools"][tool].clone()
}

#[test]
fn its_catalogue_is_imported_and_locked() {
    let project = project();
    for tool in TIME.readonly {
        assert_eq!(
            definition(&project, tool)["annotations"]["readOnlyHint"],
            true
        );
    }
    let lock: Value = serde_json::from_str(&project.read("agents.lock")).unwrap();
    assert_eq!(lock["selections"][0]["endpoint"], TIME.endpoint());
    assert_eq!(lock["selections"][0]["version"], TIME.version);
    project.agent("verify").exits(0);
    // The lock that the program reads names the package that is installed.
    agent(&project, "install")
        .exits(0)
        .answers("mcp-server-time@2026.10.19");
}

#[test]
fn the_how_to_installs_it_and_calls_it() {
    // Installed already.
    let _catalogue = TIME.catalogue();
    how_to_run::follow_real_server(&shared().join("data"))
        .answers("tool_result")
        .answers("✓ completed: convert")
        .notes("verifies");
}

#[test]
fn its_output_is_typed() {
    let project = project();
    run(&project).exits(0);
    let given = output(&project, TOOL);
    assert_eq!(given["time_difference"], "+9.0h");
    assert_eq!(given["source"]["timezone"], "UTC");
    // By a validator that we did not write.
    let schema = &definition(&project, TOOL)["outputSchema"];
    let schema = jsonschema::validator_for(schema).unwrap();
    assert!(schema.is_valid(&given), "{given}");
    assert!(
        !schema.is_valid(&json!({})),
        "the schema requires something"
    );
    assert_eq!(summary(&project)["steps"][0]["sandbox_tier"], "bubblewrap");
    assert_verifies(&project);
}

#[test]
fn output_of_another_type_is_invalid() {
    let project = project();
    let mut pool: Value = serde_json::from_str(&project.read("tool-pool.json")).unwrap();
    pool["bindings"][0]["output_schema"] = json!({ "required": ["something_else"] });
    project.write("tool-pool.json", pool.to_string());
    run(&project).exits(1).answers("output_invalid");
}

#[test]
fn a_query_is_answered_with_its_payload() {
    let project = project();
    let (run, answer) = ask(&project, &TIME, TOOL, &noon());
    run.exits(0);
    assert_eq!(answer["result"], "tool_result");
    assert_eq!(
        answer["payload"]["structuredContent"]["time_difference"],
        "+9.0h"
    );
}

#[test]
fn arguments_that_its_schema_refuses_are_not_sent() {
    let project = project();
    let asked = ask(&project, &TIME, TOOL, &json!({ "time": "12:00" }));
    assert_blocked(asked, "ARGUMENT_INVALID");
}

#[test]
fn a_tool_that_is_not_locked_is_denied() {
    let project = project();
    TIME.lock(&project, &Requirement::Tool("get_current_time"));
    run(&project).exits(1).answers("policy_denied");
    assert_blocked(ask(&project, &TIME, TOOL, &noon()), "TOOL_NOT_LOCKED");
}

#[test]
fn a_forbidden_tool_is_denied() {
    let project = project();
    TIME.lock(&project, &Requirement::ServerWithout(TOOL));
    run(&project).exits(1).answers("policy_denied");
    assert_blocked(ask(&project, &TIME, TOOL, &noon()), "FORBIDDEN_ACTION");
}

#[test]
fn a_tool_whose_description_changed_is_not_called() {
    assert_drift_is_refused(&TIME, &project(), TOOL, &noon());
}

#[test]
fn it_must_answer_in_time() {
    // It needs longer to start.
    let project = TIME.project_within(TOOL, noon(), 200);
    run(&project).exits(1).answers("timeout");
}

#[test]
fn its_crash_fails_the_step_and_is_logged() {
    let project = project();
    operator(
        &project,
        "servers:\n  time: { arguments: [--local-timezone, Nowhere] }\n",
    );
    run(&project).exits(1).answers("handler_failed");
    assert!(read(&project, "logs/convert_time.log").contains("Nowhere"));
    assert_verifies(&project);
}
