//! `plan --goal`, `run`, `rerun`, `run-plan --dry-run` and `ask`: planners without a model, and a server
//! on loopback.

mod openai;
pub(crate) mod options;

use crate::project::Project;
use crate::run_plan::server::{self, Server};
use crate::run_plan::{NOOP, index, project, runs, step};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A project with one tool that returns its input.
pub(crate) fn keeper() -> Project {
    project(
        json!([{
            "connector_id": NOOP, "tool_id": "keep", "driver_kind": "noop",
            "description": "Keep a note."
        }]),
        json!([step(NOOP, "keep", json!({ "a": 1 }))]),
    )
}

pub(crate) const GOAL: &str = "--goal note --tool-pool tool-pool.json --profile profile.json";

pub(crate) fn json_of(path: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Writes a program that is a planner: it keeps the request, and prints a text.
pub(crate) fn planner(project: &Project, answer: &str) {
    project.write("answer.json", answer);
    let (request, path) = (project.path("seen.json"), project.path("answer.json"));
    let script = format!(
        "#!/bin/sh\ncat > '{}'\ncat '{}'\n",
        request.display(),
        path.display()
    );
    project.write("planner.sh", script);
    fs::set_permissions(project.path("planner.sh"), Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_plan_for_a_goal_is_written_with_its_report_and_runs_later() {
    let project = keeper();
    let planned = project.agent(&format!("plan {GOAL}")).exits(0);
    let planned = planned
        .answers("may run")
        .notes("evidence: artifacts/mova_agent/");
    drop(planned);
    let folder = runs(&project).remove(0);
    assert_eq!(
        json_of(folder.join("validation_report.json"))["verdict"],
        "allow"
    );
    let plan = json_of(folder.join("plan.envelope.json"));
    assert_eq!(plan["roles"]["planner"], "template");
    assert_eq!(
        json_of(folder.join("run_summary.json"))["steps"][0]["status"],
        "skipped"
    );
    // Pool, profile and request are in the folder of the plan.
    let shown = folder.display();
    project
        .agent(&format!("run-plan --plan {shown}/plan.envelope.json"))
        .exits(0);
    let second = runs(&project).remove(1);
    assert_eq!(second.parent(), folder.parent(), "the request is the same");
    assert_eq!(
        json_of(second.join("run_summary.json"))["status"],
        "completed"
    );
}

#[test]
fn a_goal_is_planned_and_carried_out_and_its_run_repeated() {
    let project = keeper();
    project
        .agent(&format!("run {GOAL}"))
        .exits(0)
        .answers("completed");
    let first = runs(&project).remove(0);
    project
        .agent(&format!("rerun --evidence {}", first.display()))
        .exits(0);
    let request = first.parent().unwrap().parent().unwrap();
    let request = request.file_name().unwrap().to_str().unwrap();
    project
        .agent(&format!("rerun --request-id {request}"))
        .exits(0);
    assert_eq!(runs(&project).len(), 3);
    for run in runs(&project) {
        project
            .agent(&format!("evidence verify {}", run.display()))
            .exits(0);
    }
    // Today's rules decide.
    let profile = project
        .read("profile.json")
        .replace("\"active\"", "\"draft\"");
    fs::write(first.join("instruction_profile.json"), profile).unwrap();
    let line = format!("rerun --evidence {}", first.display());
    project.agent(&line).exits(1).notes("EVIDENCE_CHANGED");
    let ended = project.agent(&format!("{line} --unverified"));
    ended.exits(1).notes("policy_denied");
    let explained = project.agent(&format!("run {GOAL} --explain")).exits(0);
    drop(explained.answers("human_ui").notes("evidence: "));
    project.agent("rerun --request-id ../x").exits(2);
    project.agent("rerun").exits(2);
}

#[test]
fn a_dry_run_describes_and_writes_nothing() {
    let project = keeper();
    let told = project
        .agent("run-plan --plan plan.json --dry-run")
        .exits(0);
    told.answers("would run: p")
        .answers("calls the handler `noop`");
    let told = project
        .agent("run-plan --plan plan.json --dry-run --format json")
        .exits(0);
    assert_eq!(
        told.json()["steps"][0]["effects"][0],
        "calls the handler `noop`"
    );
    assert!(!project.has("artifacts"));
    let profile = project
        .read("profile.json")
        .replace("\"active\"", "\"draft\"");
    project.write("profile.json", profile);
    project
        .agent("run-plan --plan plan.json --dry-run")
        .exits(1);
    assert!(!project.has("artifacts"));
}

#[test]
fn a_program_of_the_operator_plans() {
    let project = keeper();
    planner(&project, "Here is the plan: {}");
    let planner_of = "--planner command --planner-command ./planner.sh";
    let ended = project.agent(&format!("run {GOAL} {planner_of}")).exits(1);
    ended.notes("strict JSON");
    let seen: Value = serde_json::from_str(&project.read("seen.json")).unwrap();
    assert_eq!(
        (&seen["task"], &seen["goal"]),
        (&json!("steps"), &json!("note"))
    );
    assert_eq!(seen["tools"][0]["description"], "Keep a note.");
    assert_eq!(runs(&project).len(), 1, "one attempt, with evidence");
    let folder = runs(&project).remove(0);
    assert_eq!(
        json_of(folder.join("run_summary.json"))["code"],
        "validation_failed"
    );
    // A program that fails is no plan either.
    let ended = project.agent(&format!(
        "plan {GOAL} --planner command --planner-command /bin/false"
    ));
    ended.exits(1).notes("the planner made no plan");
    project
        .agent(&format!("plan {GOAL} --planner command"))
        .exits(2);
}

/// A project with a locked server and the query's planner.
pub(crate) fn searcher(answer: &str) -> (Project, Server) {
    let server = Server::start(|request| server::mcp(request, "Searches."));
    let project = Project::empty();
    index(&project, &server, "Searches.");
    planner(&project, answer);
    (project, server)
}

pub(crate) const ASK: &str = "ask mars --planner command --planner-command ./planner.sh";
pub(crate) const CALL: &str =
    r#"{"type":"call_tool","server":"acme","tool":"search","args":{"query":"mars"}}"#;

#[test]
fn a_query_is_answered_with_one_call() {
    let (project, server) = searcher(CALL);
    let asked = project
        .agent(ASK)
        .exits(0)
        .answers("tool_result")
        .answers("found");
    drop(asked);
    let calls = server.methods().into_iter().filter(|it| it == "tools/call");
    assert_eq!(calls.count(), 1);
    let seen: Value = serde_json::from_str(&project.read("seen.json")).unwrap();
    assert_eq!(seen["tools"][0]["tool"], "search");
    let asked = project.agent(&format!("{ASK} --format json")).exits(0);
    let answer = asked.json();
    assert_eq!(answer["result"], "tool_result");
    assert_eq!(answer["payload"]["structuredContent"]["found"], "mars");
    for run in runs(&project) {
        project
            .agent(&format!("evidence verify {}", run.display()))
            .exits(0);
    }
}

#[test]
fn a_summary_needs_evidence_and_is_dropped_without() {
    let (project, _server) = searcher(CALL);
    project.write(
        "summary.json",
        r#"{"items":[{"claim":"It is there.","evidence":"found"}]}"#,
    );
    let asked = project
        .agent(&format!("{ASK} --summary summary.json --format json"))
        .exits(0);
    assert_eq!(asked.json()["result"], "tool_result_with_summary");
    project.write(
        "summary.json",
        r#"{"items":[{"claim":"It is lost.","evidence":"nowhere at all"}]}"#,
    );
    let asked = project
        .agent(&format!("{ASK} --summary summary.json --format json"))
        .exits(0);
    let answer = asked.json();
    assert_eq!(answer["result"], "tool_result");
    assert_eq!(answer.get("summary"), None);
}

#[test]
fn questions_denials_and_failures_exit_with_1() {
    for (plan, result) in [
        (
            r#"{"type":"final_answer","answer":"Which planet?","needs_more_info":true}"#,
            "needs_more_info",
        ),
        (
            r#"{"type":"call_tool","server":"acme","tool":"delete","args":{}}"#,
            "blocked",
        ),
        ("search for mars", "blocked"),
        (
            r#"{"type":"call_tool","server":"acme","tool":"search","args":{"query":1}}"#,
            "blocked",
        ),
    ] {
        let (project, server) = searcher(plan);
        let asked = project.agent(&format!("{ASK} --format json")).exits(1);
        assert_eq!(asked.json()["result"], result, "{plan}");
        assert!(
            !server.methods().contains(&"tools/call".to_owned()),
            "{plan}"
        );
    }
}

#[test]
fn a_policy_sees_the_time_of_the_call() {
    let (project, _server) = searcher(CALL);
    // Allowed at no hour of the next minute that a clock could have, and at every hour.
    for (rule, code) in [
        ("input.context.hour > 24", 1),
        ("input.context.hour < 24", 0),
    ] {
        project.write(
            "policy.rego",
            format!(
                "package switchboard\n\nallowed_tools contains tool.id if {{\n\t{rule}\n\t\
                 startswith(input.context.time, \"20\")\n\t\
                 some tool in input.candidate_tools\n}}\n"
            ),
        );
        let asked = project.agent(&format!("{ASK} --policy policy.rego --timezone +05:30"));
        drop(asked.exits(code));
    }
    let last = runs(&project).pop().unwrap();
    let index = fs::read_to_string(last.join("episodes/index.jsonl")).unwrap();
    let mut contexts = index.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let id = line["episode_id"].as_str().unwrap().to_owned();
        let episode = json_of(last.join(format!("episodes/{id}.json")));
        let context = &episode["result_details"]["policy_context"];
        Some(context["time"].as_str()?.to_owned())
    });
    let time = contexts.next().expect("a recorded context");
    assert!(time.ends_with("+05:30"), "{time}");
    project
        .agent(&format!("{ASK} --timezone Mars/Olympus"))
        .exits(2)
        .notes("Mars/Olympus");
}
