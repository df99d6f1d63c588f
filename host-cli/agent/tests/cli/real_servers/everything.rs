//! `@modelcontextprotocol/server-everything`, which has a tool for each kind of content.

use super::{
    OF_THE_USER, RealServer, ask, assert_blocked, assert_drift_is_refused, assert_verifies, run,
    shared,
};
use crate::run_plan::{operator, output, summary};
use agent_packages::{Package, Store};
use serde_json::{Value, json};

const EVERYTHING: RealServer = RealServer {
    id: "everything",
    registry: "npm",
    package: "@modelcontextprotocol/server-everything",
    version: "2026.8.31",
    arguments: &[],
    readonly: &[
        "echo",
        "get-annotated-message",
        "get-env",
        "get-resource-links",
        "get-resource-reference",
        "get-structured-content",
        "get-sum",
        "get-tiny-image",
    ],
};

/// An operation that takes longer than any test waits.
const LONG: &str = "trigger-long-running-operation";

fn minutes() -> Value {
    json!({ "duration": 300, "steps": 3 })
}

/// The variables that the sandbox sets for every server.
const OF_THE_SANDBOX: [&str; 3] = ["HOME", "PWD", "TMPDIR"];

#[test]
fn its_environment_has_nothing_of_the_user() {
    let project = EVERYTHING.project("get-env", json!({}));
    run(&project).exits(0);
    let printed = output(&project, "get-env")[0]["text"].clone();
    assert_environment_is_empty(printed.as_str().unwrap());
    let (run, answer) = ask(&project, &EVERYTHING, "get-env", &json!({}));
    run.exits(0);
    let printed = &answer["payload"]["content"][0]["text"];
    assert_environment_is_empty(printed.as_str().unwrap());
}

#[track_caller]
fn assert_environment_is_empty(printed: &str) {
    let variables: serde_json::Map<String, Value> = serde_json::from_str(printed).unwrap();
    for name in variables.keys() {
        assert!(OF_THE_SANDBOX.contains(&&**name), "{printed}");
    }
    // The values of this process, which the program inherits, and those of the user.
    let own = std::env::vars().filter(|(_, value)| value.len() > 8);
    let of_user = OF_THE_USER.map(|(name, value)| (name.to_owned(), value.to_owned()));
    for (name, value) in own.chain(of_user) {
        assert!(!printed.contains(&value), "{name} is in {printed}");
    }
}

#[test]
fn its_output_is_typed() {
    let project = EVERYTHING.project("get-structured-content", json!({ "location": "Chicago" }));
    run(&project).exits(0);
    let given = output(&project, "get-structured-content");
    assert!(given["temperature"].is_number(), "{given}");
    assert!(given["conditions"].is_string(), "{given}");
    assert_verifies(&project);
}

#[test]
fn every_kind_of_content_is_passed_on() {
    let project = EVERYTHING.project("echo", json!({ "message": "hello" }));
    for (tool, arguments, kinds) in [
        ("echo", json!({ "message": "hello" }), &["text"][..]),
        ("get-sum", json!({ "a": 2, "b": 3 }), &["text"]),
        ("get-tiny-image", json!({}), &["text", "image", "text"]),
        (
            "get-resource-links",
            json!({ "count": 1 }),
            &["text", "resource_link"],
        ),
        (
            "get-resource-reference",
            json!({}),
            &["text", "resource", "text"],
        ),
        (
            "get-annotated-message",
            json!({ "messageType": "error", "includeImage": true }),
            &["text", "image"],
        ),
    ] {
        let (run, answer) = ask(&project, &EVERYTHING, tool, &arguments);
        run.exits(0);
        let content = answer["payload"]["content"].as_array().unwrap().iter();
        let found: Vec<_> = content.map(|it| it["type"].as_str().unwrap()).collect();
        assert_eq!(found, kinds, "{tool}");
    }
}

#[test]
fn a_tool_that_is_not_declared_read_only_is_denied() {
    let project = EVERYTHING.project(LONG, minutes());
    assert_blocked(ask(&project, &EVERYTHING, LONG, &minutes()), "NOT_READONLY");
}

#[test]
fn a_tool_whose_description_changed_is_not_called() {
    let project = EVERYTHING.project("get-env", json!({}));
    assert_drift_is_refused(&EVERYTHING, &project, "get-env", &json!({}));
}

#[test]
fn a_call_that_takes_too_long_is_given_up() {
    let project = EVERYTHING.project_within(LONG, minutes(), 15_000);
    run(&project).exits(1).answers("timeout");
    assert_verifies(&project);
}

#[test]
fn a_server_that_is_killed_during_a_call_fails_the_step() {
    let project = EVERYTHING.project(LONG, minutes());
    let store = Store::new(shared().join("data/agent/packages"));
    let package = Package::parse(&EVERYTHING.endpoint()).unwrap();
    let installed = store.installed(&package).unwrap().expect("is installed");
    let [program, file] = installed.command;
    let (program, file) = (program.display(), file.display());
    let folder = installed.read.last().expect("its folder").display();
    operator(
        &project,
        &format!(
            "servers:\n  everything:\n    read: [{folder}]\n    \
             command: [/usr/bin/timeout, --signal=KILL, \"15\", {program}, {file}]\n"
        ),
    );
    run(&project).exits(1).answers("handler_failed");
    assert_eq!(summary(&project)["steps"][0]["sandbox_tier"], "bubblewrap");
    assert_verifies(&project);
}
