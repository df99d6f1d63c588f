//! `serve`: the limits that the operator sets for a server.

use super::client::{Served, refusal};
use super::{OPTIONS, project_of, records};
use crate::project::Project;
use serde_json::{Value, json};

/// A project as that of a mode, whose operator sets limits for the server.
fn limited(mode: &str, limits: &str) -> Project {
    let project = project_of(mode, "");
    // The file keeps its mode.
    let entry = project.read("servers.local.yaml");
    project.write("servers.local.yaml", format!("{entry}    {limits}\n"));
    project
}

fn started(project: &Project) -> Served<'_> {
    let mut served = Served::start(project, OPTIONS);
    served.initialize("2025-11-25");
    served
}

/// Calls the tool `slow`, with a token for reports of progress.
fn slow(served: &mut Served<'_>, seconds: u32) -> Value {
    let params = json!({
        "name": "slow", "arguments": { "seconds": seconds }, "_meta": { "progressToken": "mine" }
    });
    served.ask("tools/call", params)["result"].clone()
}

/// Returns the text of a call that its server did not answer in time.
fn late(result: &Value) -> &str {
    assert_eq!(refusal(result), "SERVER_FAILED", "{result}");
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
fn a_tool_has_the_time_that_the_operator_gives_it() {
    let project = limited("late", "tools: { slow: { timeout: 1 } }");
    let mut served = started(&project);
    let result = served.call("slow", json!({ "seconds": 30 }));
    let text = late(&result);
    let limit = "the server did not answer within 1000 ms";
    assert!(text.contains(limit), "{text}");
    assert!(!text.contains("last report"), "{text}");
    // This one takes two seconds, and has the usual time.
    let sum = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }), "{sum}");
    served.end().exits(0);
    let records = records(&project);
    let mut outcomes = records.iter().map(|it| &it["content"]["outcome"]);
    assert!(outcomes.any(|it| it == "timed_out"));
}

#[test]
fn a_server_has_the_time_that_the_operator_gives_it() {
    let project = limited("late", "timeout: 1\n    tools: { slow: { timeout: 60 } }");
    let mut served = started(&project);
    let result = served.call("add", json!({ "a": 1, "b": 2 }));
    let text = late(&result);
    assert!(text.contains("within 1000 ms"), "{text}");
    let slept = served.call("slow", json!({ "seconds": 2 }));
    assert_eq!(slept["content"][0]["text"], "woke up", "{slept}");
    served.end().exits(0);
}

#[test]
fn progress_extends_the_time_up_to_its_maximum() {
    let project = limited("progress", "timeout: 2\n    timeout_max: 5");
    let mut served = started(&project);
    let slept = slow(&mut served, 3);
    assert_eq!(slept["content"][0]["text"], "woke up", "{slept}");
    let result = slow(&mut served, 30);
    let text = late(&result);
    assert!(text.contains("within 5000 ms"), "{text}");
    assert!(!text.contains("last report"), "{text}");
    // Without a token there is no progress.
    let result = served.call("slow", json!({ "seconds": 30 }));
    let text = late(&result);
    assert!(text.contains("within 2000 ms"), "{text}");
    served.end().exits(0);
}

#[test]
fn silence_after_progress_ends_a_call() {
    let project = limited("usual", "timeout: 1");
    let mut served = started(&project);
    let result = slow(&mut served, 30);
    let text = late(&result);
    let limit = "the server did not answer within 1000 ms after its last report of progress";
    assert!(text.contains(limit), "{text}");
    served.end().exits(0);
}

#[test]
fn a_server_has_the_processes_that_the_operator_gives_it() {
    for (limits, is_enough) in [("processes: 4", false), ("processes: 40", true)] {
        let project = limited("threads", limits);
        let mut served = started(&project);
        let result = served.call("slow", json!({ "seconds": 2 }));
        // The sandbox refuses a thread, or ends a server that has too many.
        let has_started = result["content"][0]["text"] == "started ten threads";
        assert_eq!(has_started, is_enough, "{limits}: {result}");
        served.end().exits(0);
    }
}

#[test]
fn a_limit_out_of_its_range_is_refused() {
    let project = limited("usual", "timeout: 0");
    let run = project.agent(&format!("serve {OPTIONS}"));
    run.exits(2).notes(
        "5:14: the seconds of `timeout` must be a whole number from 1 to 3600; `0` is not one",
    );
}

#[test]
fn a_limit_of_a_tool_that_the_server_does_not_list_is_noted() {
    let project = limited(
        "usual",
        "tools: { slow: { timeout: 9 }, slwo: { timeout: 1 } }",
    );
    let mut served = started(&project);
    served.call("add", json!({ "a": 1, "b": 2 }));
    let ended = served.end().exits(0).notes(
        "calculator: `servers.local.yaml` limits the tool `slwo`, which the server does not list",
    );
    assert!(!ended.stderr.contains("`slow`"), "{}", ended.stderr);
}
