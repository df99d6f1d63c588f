//! Approval in advance, by digests.

use super::server::{self, Server};
use super::{MCP, NOOP, index, mcp, project, runs, step, summary_of};
use crate::project::{Project, Run};
use serde_json::{Value, json};
use std::fs;

/// A project whose only step calls a tool that needs approval.
pub(crate) fn needs_approval() -> (Project, Server) {
    asks_before(json!([]), json!({ "input": { "query": "mars" } }))
}

/// A project with steps, then one that needs approval and has the given input.
fn asks_before(steps: Value, input: Value) -> (Project, Server) {
    let server = Server::start(|request| server::mcp(request, "Searches."));
    let mut bindings = mcp(&server);
    let bindings_of = bindings.as_array_mut().unwrap();
    bindings_of.push(json!({ "connector_id": NOOP, "tool_id": "keep", "driver_kind": "noop" }));
    let mut last = step(MCP, "search", Value::Null);
    let last_of = last.as_object_mut().unwrap();
    last_of.remove("input");
    last_of.extend(input.as_object().unwrap().clone());
    let mut steps = steps;
    steps.as_array_mut().unwrap().push(last);
    let project = project(bindings, steps);
    index(&project, &server, "Searches.");
    let text = project.read("mcp.index.json");
    let asking = text.replace("[\"readonly\"]", "[\"readonly\",\"human_in_the_loop\"]");
    assert_ne!(text, asking);
    project.write("mcp.index.json", asking);
    project.agent("resolve").exits(0);
    (project, server)
}

fn calls(server: &Server) -> usize {
    let methods = server.methods().into_iter();
    methods.filter(|it| it == "tools/call").count()
}

fn run_with(project: &Project, approvals: &[&str]) -> Run {
    let mut command = project.command(["run-plan", "--plan", "plan.json"]);
    command.args(approvals.iter().flat_map(|it| ["--approve", it]));
    Run::of(command)
}

/// The newest run, as evidence has it: its summary, and the approvals of its steps.
fn newest(project: &Project) -> (Value, Vec<Value>) {
    let run = runs(project).pop().unwrap();
    let episodes = fs::read_dir(run.join("episodes")).unwrap();
    let texts = episodes.map(|it| fs::read_to_string(it.unwrap().path()).unwrap());
    let episodes = texts.filter_map(|it| serde_json::from_str::<Value>(&it).ok());
    let approvals = episodes.filter_map(|it| Some(it["result_details"].get("approval")?.clone()));
    (summary_of(&run), approvals.collect())
}

/// Returns the digest that a command prints for people.
fn printed(text: &str) -> String {
    let (_, digest) = text.split_once("sha256-").expect("a digest");
    let digest = digest.split_whitespace().next().unwrap();
    format!("sha256-{}", digest.trim_end_matches(','))
}

#[test]
fn the_digest_of_a_plan_approves_it() {
    let (project, server) = needs_approval();
    let dry = project
        .agent("run-plan --plan plan.json --dry-run")
        .exits(0);
    let digest = printed(&dry.stdout);
    let check = "plan check plan.json --tool-pool tool-pool.json --profile profile.json";
    let checked = project.agent(&format!("{check} --format json")).exits(0);
    assert_eq!(checked.json()["authorized"], *digest);
    project.agent(check).exits(0).answers(&digest);
    let other = digest.replace("sha256-", "sha256-A");
    for approvals in [&[][..], &[other.as_str()], &["sha256-", "*"]] {
        let refused = run_with(&project, approvals).exits(1);
        assert!(refused.stdout.contains(&digest), "{refused:?}");
        let (summary, approvals) = newest(&project);
        assert_eq!(summary["code"], "policy_denied");
        assert_eq!(summary["reason"], "APPROVAL_REQUIRED");
        assert_eq!(approvals, [Value::Null; 0]);
        assert_eq!(calls(&server), 0);
    }
    run_with(&project, &[&other, &digest]).exits(0);
    assert_eq!(calls(&server), 1);
    let (summary, approvals) = newest(&project);
    assert_eq!(summary["approvals"][0]["digest"], *digest);
    assert_eq!(summary["approvals"][0]["by"], "digest");
    assert_eq!(approvals, [json!({ "by": "digest", "digest": digest })]);
    // Another plan has another digest.
    let plan = project.read("plan.json").replace("mars", "venus");
    project.write("plan.json", plan);
    run_with(&project, &[&digest]).exits(1);
    assert_eq!(calls(&server), 1);
}

#[test]
fn an_input_of_an_earlier_step_is_approved_as_resolved() {
    let kept = json!([step(NOOP, "keep", json!({ "query": "mars" }))]);
    let from = json!({ "input_from": { "step": "keep", "pointer": "" } });
    let (project, server) = asks_before(kept, from);
    let dry = project
        .agent("run-plan --plan plan.json --dry-run")
        .exits(0);
    let of_plan = printed(&dry.stdout);
    let refused = run_with(&project, &[&of_plan]).exits(1);
    let digest = printed(&refused.stdout);
    assert_ne!(digest, of_plan);
    assert_eq!(newest(&project).0["reason"], "APPROVAL_REQUIRED");
    assert_eq!(calls(&server), 0);
    run_with(&project, &[&digest]).exits(0);
    assert_eq!(calls(&server), 1);
    let (summary, approvals) = newest(&project);
    assert_eq!(summary["approvals"][0]["digest"], *digest);
    assert_eq!(approvals, [json!({ "by": "digest", "digest": digest })]);
    assert!(!server.requests().is_empty());
}
