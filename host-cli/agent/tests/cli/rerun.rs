//! `rerun`: stored plans, decided by today's rules.

use crate::planned::{ASK, CALL, searcher};
use crate::project::Project;
use crate::run_plan::server::{self, Server};
use crate::run_plan::{MCP, NOOP, index, mcp, project, runs, step, summary_of};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn keeper(input: Value) -> Project {
    let bindings = json!([{ "connector_id": NOOP, "tool_id": "keep", "driver_kind": "noop" }]);
    project(bindings, json!([step(NOOP, "keep", input)]))
}

/// The folder of the newest run.
fn newest(project: &Project) -> PathBuf {
    runs(project).pop().expect("a run")
}

fn again(project: &Project) -> String {
    format!("rerun --evidence {}", newest(project).display())
}

/// Asserts that the newest run is evidence of a refusal, and that nothing of the plan was carried out.
#[track_caller]
fn assert_refused(project: &Project, code: &str) {
    let folder = newest(project);
    let summary = summary_of(&folder);
    assert_eq!(summary["code"], code, "{summary}");
    for step in summary["steps"].as_array().unwrap() {
        assert_eq!(step["status"], "skipped", "{summary}");
    }
    let verify = format!("evidence verify {}", folder.display());
    project.agent(&verify).exits(0);
}

#[test]
fn a_redacted_plan_is_refused() {
    let project = keeper(json!({ "password": "hunter2hunter2", "user": "ada" }));
    project.agent("run-plan --plan plan.json").exits(0);
    let stored = newest(&project).join("plan.envelope.json");
    let run_plan = format!("run-plan --plan {}", stored.display());
    for line in [
        again(&project),
        run_plan.clone(),
        format!("{run_plan} --dry-run"),
    ] {
        let refused = project.agent(&line).exits(1);
        let refused = refused
            .notes("validation_failed")
            .notes("the plan is redacted: it has a mark in place of a secret")
            .notes("run the plan as it was written");
        assert!(!refused.stderr.contains("hunter2"), "{refused:?}");
        assert_refused(&project, "validation_failed");
    }
    assert_eq!(runs(&project).len(), 3, "a dry run leaves none");
}

#[test]
fn evidence_that_does_not_verify_is_carried_out_only_if_that_is_said() {
    let project = keeper(json!("first"));
    project.agent("run-plan --plan plan.json").exits(0);
    let folder = newest(&project);
    let stored = folder.join("plan.envelope.json");
    let plan = std::fs::read_to_string(&stored).unwrap();
    std::fs::write(&stored, plan.replace("first", "other")).unwrap();
    let line = again(&project);
    let refused = project.agent(&line).exits(1);
    refused
        .notes("plan.envelope.json")
        .notes("nothing was carried out")
        .notes("--unverified");
    assert_eq!(runs(&project).len(), 1);
    project.agent(&format!("{line} --unverified")).exits(0);
    assert_eq!(decision(&newest(&project))["unverified"], true);
    let verify = format!("evidence verify {}", newest(&project).display());
    project.agent(&verify).exits(0);
    // Sound evidence is not called unverified.
    project
        .agent(&format!("{} --unverified", again(&project)))
        .exits(0);
    assert_eq!(decision(&newest(&project)).get("unverified"), None);
}

/// The details of the decision on the plan of a run.
fn decision(run: &Path) -> Value {
    let episodes = std::fs::read_dir(run.join("episodes")).unwrap();
    let read = |path| serde_json::from_slice::<Value>(&std::fs::read(path).unwrap());
    let mut episodes = episodes.filter_map(|entry| read(entry.unwrap().path()).ok());
    let of_plan = episodes.find(|it| it["episode_type"] == "plan/validation");
    of_plan.expect("a decision")["result_details"].take()
}

#[test]
fn a_run_is_named_by_its_request_and_perhaps_its_id() {
    let project = keeper(json!("first"));
    project.agent("run-plan --plan plan.json").exits(0);
    let first = newest(&project);
    let plan = project.read("plan.json");
    project.write("plan.json", plan.replace("first", "second"));
    project.agent("run-plan --plan plan.json").exits(0);
    let plan_of = |folder: PathBuf| std::fs::read(folder.join("plan.envelope.json")).unwrap();
    let second = plan_of(newest(&project));
    project.agent("rerun --request-id req").exits(0);
    assert_eq!(plan_of(newest(&project)), second, "the newest run");
    let id = first.file_name().unwrap().to_str().unwrap();
    project
        .agent(&format!("rerun --request-id req --run-id {id}"))
        .exits(0);
    assert_eq!(plan_of(newest(&project)), plan_of(first.clone()));
    assert_eq!(runs(&project).len(), 4);
    for line in [
        "--request-id req --run-id ../../req",
        "--request-id req --run-id 0",
        "--request-id other",
        "--run-id 0",
    ] {
        project.agent(&format!("rerun {line}")).exits(2);
    }
    let both = format!("rerun --request-id req --evidence {}", first.display());
    project.agent(&both).exits(2);
}

/// A project after a run whose only step calls the tool of a server.
fn searched() -> (Project, Server) {
    let server = Server::start(|request| server::mcp(request, "Searches."));
    let steps = json!([step(MCP, "search", json!({ "query": "mars" }))]);
    let project = project(mcp(&server), steps);
    index(&project, &server, "Searches.");
    project.agent("run-plan --plan plan.json").exits(0);
    (project, server)
}

fn calls(server: &Server) -> usize {
    let methods = server.methods().into_iter();
    methods.filter(|it| it == "tools/call").count()
}

#[test]
fn todays_lock_decides() {
    let (project, server) = searched();
    project.agent(&again(&project)).exits(0);
    assert_eq!(calls(&server), 2);
    // The lock has another definition of the tool than the server lists.
    index(&project, &server, "Searches everywhere.");
    project.agent(&again(&project)).exits(1);
    assert_eq!(summary_of(&newest(&project))["code"], "policy_denied");
    // It has no tool at all.
    std::fs::remove_file(project.path("agents.lock")).unwrap();
    project.agent(&again(&project)).exits(1);
    assert_refused(&project, "policy_denied");
    assert_eq!(calls(&server), 2);
}

#[test]
fn todays_policy_decides() {
    let (project, server) = searched();
    for (rule, code) in [("true", 0), ("false", 1)] {
        let policy = format!(
            "package switchboard\n\nallowed_tools contains tool.id if {{\n\t{rule}\n\t\
             some tool in input.candidate_tools\n}}\n"
        );
        project.write("policy.rego", policy);
        let line = format!("{} --policy policy.rego", again(&project));
        project.agent(&line).exits(code);
    }
    assert_refused(&project, "policy_denied");
    assert_eq!(calls(&server), 2);
}

#[test]
fn the_plan_of_a_query_calls_no_tool_that_has_become_one_that_writes() {
    let (project, server) = searcher(CALL);
    project.agent(ASK).exits(0);
    project.agent(&again(&project)).exits(0);
    assert_eq!(calls(&server), 2);
    let text = project.read("mcp.index.json");
    let writing = text.replace("[\"readonly\"]", "[]");
    assert_ne!(text, writing);
    project.write("mcp.index.json", writing);
    project.agent("resolve").exits(0);
    project
        .agent(&again(&project))
        .exits(1)
        .answers("policy_denied")
        .notes("NOT_READONLY");
    assert_refused(&project, "policy_denied");
    assert_eq!(summary_of(&newest(&project))["reason"], "NOT_READONLY");
    assert_eq!(calls(&server), 2);
}
