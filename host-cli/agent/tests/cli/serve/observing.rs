//! `serve --observe` without a lock.

use super::client::Served as Stdio;
use super::http::{Served, request};
use super::{OPTIONS, project_of, records};
use crate::project::Project;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

/// A project whose operator starts a server, and that has no lock.
fn project_without_lock() -> Project {
    let project = project_of("usual", "");
    for name in ["agents.lock", "agents.definitions.json"] {
        fs::remove_file(project.path(name)).unwrap();
    }
    project
}

/// Returns the codes that mark the result of an observed call.
fn observed(result: &Value) -> &Value {
    &result["_meta"]["io.github.agent-engine/observed"]["codes"]
}

fn names(list: &Value) -> Vec<&str> {
    let tools = list["result"]["tools"].as_array().unwrap().iter();
    tools.map(|it| it["name"].as_str().unwrap()).collect()
}

#[test]
fn without_a_lock_the_servers_of_the_operator_are_observed() {
    let project = project_without_lock();
    let mut served = Stdio::start(&project, &format!("{OPTIONS} --observe --audit-arguments"));
    served.initialize("2025-11-25");
    let list = served.ask("tools/list", json!({}));
    assert_eq!(names(&list), ["add", "exit", "secret", "slow", "unlocked"]);
    let entry = &list["result"]["tools"][0];
    assert_eq!(observed(entry), &json!(["TOOL_NOT_LOCKED"]), "{entry}");
    let sum = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }), "{sum}");
    assert_eq!(observed(&sum), &json!(["TOOL_NOT_LOCKED"]), "{sum}");
    served.call("unlocked", json!({}));
    project
        .agent("status")
        .exits(0)
        .answers("servers without a lock at standard input and output")
        .answers("observes: ")
        .answers("tool add: observed: TOOL_NOT_LOCKED");
    served
        .end()
        .exits(0)
        .notes("observes without a lock: calculator");
    let records = records(&project);
    assert!(records.iter().all(|it| it["observe"] == true));
    let decided: Vec<_> = records
        .iter()
        .filter(|it| it["kind"] == "decision")
        .collect();
    assert_eq!(decided.len(), 2);
    for record in decided {
        let content = &record["content"];
        assert_eq!(content["action"], "forward", "{content}");
        assert_eq!(content["documents"]["lock"], Value::Null);
        assert_eq!(content["reasons"][0]["code"], "TOOL_NOT_LOCKED");
    }
    // The log shows what a lock would change, before it is enforced.
    project.agent("audit audit.jsonl").exits(0);
    project.agent("resolve").exits(0);
    let replay = project.agent("replay audit.jsonl --lock agents.lock --format json");
    let report = replay.exits(1).json();
    let calls = report["calls"].as_array().unwrap();
    assert_eq!(report["counts"]["same"], 1, "{report:#}");
    assert_eq!(calls.len(), 1, "{report:#}");
    assert_eq!(calls[0]["tool"], "unlocked");
    assert_eq!(calls[0]["recorded"]["verdict"], "allowed");
    let now = &calls[0]["now"];
    assert_eq!(now["verdict"], "refused");
    assert_eq!(now["reasons"][0]["code"], "TOOL_NOT_LOCKED");
}

#[test]
fn a_lock_that_appears_is_obeyed_from_then_on() {
    let project = project_without_lock();
    let served = Served::start(&project, &format!("{OPTIONS} --observe"));
    let session = served.initialize("2025-11-25");
    let sum = served.call(&session, "add", json!({ "a": 1, "b": 2 }));
    assert_eq!(observed(&sum), &json!(["TOOL_NOT_LOCKED"]), "{sum}");
    project.agent("resolve").exits(0);
    let sum = super::operating::wait_for(|| {
        let sum = served.call(&session, "add", json!({ "a": 1, "b": 2 }));
        observed(&sum).is_null().then_some(sum)
    });
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }), "{sum}");
    served.end().exits(0).notes("reloaded");
}

#[test]
fn named_servers_are_observed_in_place_of_a_lock() {
    let project = project_of("usual", "      only: [slow]\n");
    let mut served = Stdio::start(
        &project,
        &format!("{OPTIONS} --observe --server calculator"),
    );
    served.initialize("2025-11-25");
    let list = served.ask("tools/list", json!({}));
    assert_eq!(names(&list).len(), 5, "{list}");
    served.end().exits(0);
    project
        .agent(&format!("serve {OPTIONS} --observe --server other"))
        .exits(2)
        .notes("no `command` for the server `other`")
        .notes("--server other=https://");
    project
        .agent(&format!("serve {OPTIONS} --server calculator"))
        .exits(2)
        .notes("--observe");
    project
        .agent(&format!(
            "serve {OPTIONS} --observe --server calculator --lock agents.lock"
        ))
        .exits(2)
        .notes("cannot be used with");
}

#[test]
fn without_a_lock_something_else_is_missed() {
    let project = project_without_lock();
    // A policy belongs to a lock.
    project.write(
        "policy.rego",
        "package switchboard\nallowed_tools := set()\n",
    );
    for more in [
        "",
        "--observe --policy policy.rego",
        "--observe --lock agents.lock",
    ] {
        project
            .agent(&format!("serve {OPTIONS} {more}"))
            .exits(2)
            .notes("there is no `agents.lock` here");
    }
    project.write(
        "servers.local.yaml",
        "servers: { remote: { network: host } }\n",
    );
    project
        .agent(&format!("serve {OPTIONS} --observe"))
        .exits(2)
        .notes("has no server with a `command`");
}

#[test]
fn an_agent_of_a_file_is_observed_without_a_lock() {
    let project = project_without_lock();
    // A port that was free a moment ago has no listener.
    let dead = TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = dead.local_addr().unwrap();
    project.write(
        "agents.yaml",
        format!("otlp: http://{dead}\nagents: {{ watcher: {{ observe: true, server: [calculator] }} }}\n"),
    );
    let config = project.path("agents.yaml");
    fs::set_permissions(config, Permissions::from_mode(0o600)).unwrap();
    let options = "--servers servers.local.yaml --config agents.yaml";
    let served = Served::start(&project, options);
    let session = served.initialize("2025-11-25");
    let list = request(2, "tools/list", json!({}));
    let list = served.post(&[("Mcp-Session-Id", &session)], &list).json();
    assert_eq!(names(&list).len(), 5, "{list}");
    served.end().exits(0).notes("spans were dropped");
    assert!(project.has("watcher.audit.jsonl"));
}
