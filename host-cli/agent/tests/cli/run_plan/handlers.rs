//! Handlers of third parties, from `check-handler` to a run.

use super::{NOOP, operator, output, project, run_as_operator, step, summary};
use crate::project::{Project, Run};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;

/// A handler of the kind `noop` that returns `{"made": "elsewhere"}`.
const HANDLER: &str = r#"(component
    (core module $code
        (memory (export "memory") 1)
        (data (i32.const 64) "{\"made\": \"elsewhere\"}")
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
        (func (export "handle") (param i32 i32) (result i32)
            (i32.store8 (i32.const 16) (i32.const 0))
            (i32.store (i32.const 20) (i32.const 64))
            (i32.store (i32.const 24) (i32.const 21))
            (i32.const 16)))
    (core instance $i (instantiate $code))
    (func $handle (param "input" string) (result (result string (error string)))
        (canon lift (core func $i "handle") (memory (core memory $i "memory")) (realloc (core func $i "realloc"))))
    (instance $handler (export "handle" (func $handle)))
    (export "agent:handler/handler@0.1.0" (instance $handler)))"#;

fn check(project: &Project, arguments: &[&str]) -> Run {
    let mut command = project.command(["handler", "check"].iter().chain(arguments));
    command.env("XDG_CACHE_HOME", project.path("cache"));
    Run::of(command)
}

/// A project with the handler, whose binding names a digest.
fn handled(digest: &str) -> Project {
    let bindings = json!([{
        "connector_id": NOOP, "tool_id": "keep", "driver_kind": "noop", "handler": digest
    }]);
    let project = project(bindings, json!([step(NOOP, "keep", json!(1))]));
    project.write("handler.wasm", wat::parse_str(HANDLER).unwrap());
    project
}

fn digest() -> String {
    let project = Project::empty();
    project.write("handler.wasm", wat::parse_str(HANDLER).unwrap());
    let checked = check(
        &project,
        &["handler.wasm", "--kind", "noop", "--format", "json"],
    );
    let answer: Value = checked.exits(0).json();
    assert_eq!(answer["kind"], "noop");
    // The code is kept, for this user alone.
    let cache = project.path("cache/agent/handlers");
    assert_eq!(fs::read_dir(cache).unwrap().count(), 1);
    answer["digest"].as_str().unwrap().to_owned()
}

fn admit(project: &Project, digest: &str, kind: &str) {
    let path = project.path("handler.wasm");
    let path = path.display();
    let entry = format!("handlers:\n  - {{ digest: {digest}, kind: {kind}, path: {path} }}\n");
    operator(project, &entry);
}

#[test]
fn an_admitted_handler_executes_the_step() {
    let digest = digest();
    let project = handled(&digest);
    admit(&project, &digest, "noop");
    run_as_operator(&project).exits(0);
    assert_eq!(output(&project, "keep"), json!({ "made": "elsewhere" }));
    assert_eq!(summary(&project)["steps"][0]["handler"], *digest);
}

#[test]
fn a_handler_that_nobody_admitted_is_denied() {
    let digest = digest();
    for kind in [None, Some("http")] {
        let project = handled(&digest);
        match kind {
            None => operator(&project, "handlers: []\n"),
            Some(kind) => admit(&project, &digest, kind),
        }
        run_as_operator(&project).exits(1).answers("policy_denied");
        assert_eq!(summary(&project)["reason"], "HANDLER_NOT_ADMITTED");
    }
}

#[test]
fn a_handler_whose_file_was_replaced_is_not_called() {
    let digest = digest();
    let project = handled(&digest);
    admit(&project, &digest, "noop");
    let replaced = HANDLER.replace("elsewhere", "elsewhen!");
    project.write("handler.wasm", wat::parse_str(replaced).unwrap());
    run_as_operator(&project).exits(1).answers("has the digest");
    assert_eq!(summary(&project)["reason"], "UNAVAILABLE");
}

#[test]
fn an_admitted_handler_that_imports_more_than_its_kind_is_not_called() {
    let wasm = wat::parse_str(r#"(component (import "wasi:cli/environment@0.2.0" (instance)))"#);
    let wasm = wasm.unwrap();
    let digest = format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(&wasm)));
    let project = handled(&digest);
    project.write("handler.wasm", wasm);
    admit(&project, &digest, "noop");
    let refused = run_as_operator(&project).exits(1);
    drop(refused.answers("it imports `wasi:cli/environment@0.2.0`"));
    let summary = summary(&project);
    assert_eq!(summary["code"], "handler_failed");
    assert_eq!(summary["reason"], "UNAVAILABLE");
}

#[test]
fn a_component_that_imports_more_than_its_kind_is_refused() {
    let project = Project::empty();
    let wasm = wat::parse_str(r#"(component (import "wasi:sockets/tcp@0.2.6" (instance)))"#);
    project.write("handler.wasm", wasm.unwrap());
    check(&project, &["handler.wasm", "--kind", "http"])
        .exits(1)
        .answers_nothing()
        .notes("it imports `wasi:sockets/tcp@0.2.6`");
    check(&project, &["missing.wasm", "--kind", "http"]).exits(2);
    check(&project, &["handler.wasm", "--kind", "shell"]).exits(2);
}

#[test]
fn a_named_handler_is_compiled_before_the_run_and_no_other() {
    let digest = digest();
    let compiled = |project: &Project| {
        let arguments = "run-plan --plan plan.json --servers operator/servers.local.yaml";
        let mut command = project.command(arguments.split(' '));
        command.env("XDG_CACHE_HOME", project.path("cache"));
        // The plan is denied, so that no step needs the handler.
        Run::of(command).exits(1).answers("policy_denied");
        let cache = fs::read_dir(project.path("cache/agent/handlers"));
        cache.map_or(0, Iterator::count)
    };
    for (named, count) in [(&*digest, 1), ("sha256-another", 0)] {
        let project = handled(named);
        admit(&project, &digest, "noop");
        let plan = project.read("plan.json").replace("\"keep\"", "\"other\"");
        project.write("plan.json", plan);
        assert_eq!(compiled(&project), count, "{named}");
    }
}
