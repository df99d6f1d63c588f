//! `serve`: a client, the gateway, and servers in the sandbox.

mod beside_tools;
pub(crate) mod client;
mod collector;
mod eliciting;
pub(crate) mod http;
mod limits;
mod observing;
mod operating;
mod over_http;
mod remembering;
mod repeating;
mod tracing;

use crate::project::Project;
use client::{Served, refusal};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

const SERVER: &str = include_str!("serve/server.py");

const MANIFEST: &str = "\
---
name: accountant
version: 1.0.0
requires:
  mcp:
    - category: calculations
      permissions: []
---
";

/// Tools as the server lists them, in an index.
fn tools() -> Value {
    let tool = |description: &str, properties: Value| {
        json!({
            "description": description,
            "inputSchema": { "type": "object", "properties": properties, "additionalProperties": false }
        })
    };
    let mut tools = json!({
        "add": tool("Adds two numbers.", json!({ "a": { "type": "integer" }, "b": { "type": "integer" } })),
        "slow": tool("Waits for some seconds.", json!({ "seconds": { "type": "number" } })),
        "secret": tool("Prints the environment.", json!({})),
        "exit": tool("Ends the server.", json!({})),
    });
    tools["add"]["outputSchema"] = json!({
        "type": "object", "properties": { "sum": { "type": "integer" } }, "required": ["sum"]
    });
    tools
}

/// A project whose lock has the tools of a server that the operator starts in a mode. `more` is added to the
/// only requirement.
pub(crate) fn project_of(mode: &str, more: &str) -> Project {
    let project = Project::empty();
    let index = json!([{
        "id": "calculator", "version": "1.0.0", "endpoint": "pkg:generic/calculator@1.0.0",
        "categories": ["calculations"], "scopes": [],
        "data": { "residency": "any", "maxSensitivity": "public" },
        "trust": { "signed": true, "publisher": "Acme" },
        "capabilities": { "tools": tools() }
    }]);
    project.write("mcp.index.json", index.to_string());
    let manifest = MANIFEST.replace("permissions: []\n", &format!("permissions: []\n{more}"));
    project.write("agents.md", manifest);
    project.agent("resolve").exits(0);
    project.write("server.py", SERVER);
    let script = project.path("server.py");
    let operator = format!(
        "servers:\n  calculator:\n    command: [/usr/bin/python3, {0}, \"{mode}\"]\n    read: [{0}]\n",
        script.display()
    );
    project.write("servers.local.yaml", operator);
    let entry = project.path("servers.local.yaml");
    fs::set_permissions(entry, Permissions::from_mode(0o600)).unwrap();
    project
}

pub(crate) const OPTIONS: &str = "--servers servers.local.yaml --audit audit.jsonl";

/// Returns the records of the audit log, whose chain is checked.
fn records(project: &Project) -> Vec<Value> {
    let text = project.read("audit.jsonl");
    let mut head = Value::Null;
    let mut records = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["sequence"], number + 1, "{line}");
        assert_eq!(record["previous"], head, "{line}");
        head = json!(digest(line));
        records.push(record);
    }
    records
}

pub(crate) fn digest(line: &str) -> String {
    use base64::prelude::{BASE64_STANDARD, Engine};
    use sha2::{Digest, Sha256};
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(line)))
}

#[test]
fn a_client_sees_and_calls_what_is_locked() {
    let project = project_of("usual", "");
    let mut served = Served::start(&project, OPTIONS);
    let opened = served.initialize("2025-11-25");
    assert_eq!(opened["protocolVersion"], "2025-11-25");
    assert_eq!(opened.get("instructions"), None, "{opened}");
    let list = served.ask("tools/list", json!({}));
    let list = &list["result"]["tools"];
    let names: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["add", "exit", "secret", "slow"]);
    assert!(!list.to_string().contains("of the server"), "{list}");
    // The list has one page.
    let paged = served.ask("tools/list", json!({ "cursor": "page-2" }));
    assert_eq!(paged["error"]["code"], -32602, "{paged}");
    let sum = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }));
    assert_eq!(sum.get("isError"), None, "{sum}");

    assert_eq!(
        refusal(&served.call("unlocked", json!({}))),
        "TOOL_NOT_LOCKED"
    );
    let invalid = served.call("add", json!({ "a": "1" }));
    assert_eq!(refusal(&invalid), "ARGUMENT_INVALID");
    let text = invalid["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("/a"), "{text}");
    let unknown = served.ask("tools/call", json!({ "name": "nothing", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    // The environment of the server is empty.
    let environment = served.call("secret", json!({}));
    let environment = environment["content"][0]["text"].as_str().unwrap();
    assert!(!environment.contains("canary"), "{environment}");
    served.end().exits(0).answers_nothing();

    let records = records(&project);
    let kinds: Vec<_> = records
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    for kind in ["opened", "tools", "health", "list", "decision", "effect"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
}

#[test]
fn clients_without_sessions_are_served_too() {
    let project = project_of("usual", "");
    let mut served = Served::start(&project, OPTIONS);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discovered = served.ask("server/discover", json!({ "_meta": meta }));
    let discovered = &discovered["result"];
    assert_eq!(discovered["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(discovered["cacheScope"], "private");
    let list = served.ask("tools/list", json!({ "_meta": meta }));
    assert_eq!(list["result"]["resultType"], "complete", "{list}");
    assert_eq!(list["result"]["cacheScope"], "private", "{list}");
    let call = json!({ "name": "add", "arguments": { "a": 2, "b": 2 }, "_meta": meta });
    let sum = served.ask("tools/call", call);
    assert_eq!(
        sum["result"]["structuredContent"],
        json!({ "sum": 4 }),
        "{sum}"
    );
    let mut future = meta.clone();
    future["io.modelcontextprotocol/protocolVersion"] = json!("2030-01-01");
    let refused = served.ask("tools/list", json!({ "_meta": future }));
    assert_eq!(refused["error"]["code"], -32022, "{refused}");
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
    // Without a version there is no session to be in.
    let refused = served.ask("tools/list", json!({}));
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    served.end().exits(0);
}

#[test]
fn a_drifted_tool_is_on_no_surface() {
    let project = project_of("drifted", "");
    let mut served = Served::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    // The server answers after the first list; its change is announced.
    served.wait_for(|it| it["method"] == "notifications/tools/list_changed");
    let list = served.ask("tools/list", json!({}));
    let names: Vec<_> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["exit", "secret", "slow"]);
    let refused = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(refusal(&refused), "DEFINITION_CHANGED");
    served
        .end()
        .exits(0)
        .notes("calculator: the tool `add` is quarantined");
}

#[test]
fn a_bad_entry_of_a_list_changes_nothing_for_the_others() {
    let project = project_of("bad-entry", "");
    let mut served = Served::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    let sum = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }), "{sum}");
    served.end().exits(0);
}

#[test]
fn a_result_of_another_form_is_withheld() {
    let project = project_of("lies", "");
    let mut served = Served::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    let refused = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(refusal(&refused), "OUTPUT_INVALID");
    assert!(!refused.to_string().contains("\"3\""), "{refused}");
    served.end().exits(0);
}

#[test]
fn only_named_tools_are_locked() {
    let project = project_of("usual", "      only: [add]\n");
    let mut served = Served::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    let list = served.ask("tools/list", json!({}));
    assert_eq!(
        list["result"]["tools"].as_array().unwrap().len(),
        1,
        "{list}"
    );
    assert_eq!(
        refusal(&served.call("secret", json!({}))),
        "TOOL_NOT_LOCKED"
    );
    let sum = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }), "{sum}");
    served.end().exits(0);
}

#[test]
fn tools_on_demand_are_behind_a_stub() {
    let project = project_of("usual", "      load: on_demand\n");
    let mut served = Served::start(&project, &format!("{OPTIONS} --budget 4000"));
    served.initialize("2025-11-25");
    let list = served.ask("tools/list", json!({}));
    let list = list["result"]["tools"].as_array().unwrap();
    assert_eq!(list.len(), 1, "{list:?}");
    assert_eq!(list[0]["name"], "calculator_helper");
    let services = served.call("calculator_helper", json!({ "operation": "list_services" }));
    assert!(
        services.to_string().contains("Adds two numbers."),
        "{services}"
    );
    let expanded = served.call(
        "calculator_helper",
        json!({ "operation": "expand", "tools": ["add"] }),
    );
    assert!(expanded.to_string().contains("inputSchema"), "{expanded}");
    let sum = served.call(
        "calculator_helper",
        json!({ "operation": "call", "tool": "add", "arguments": { "a": 20, "b": 22 } }),
    );
    assert_eq!(sum["structuredContent"], json!({ "sum": 42 }), "{sum}");
    served.end().exits(0);
}

#[test]
fn what_a_server_reports_just_before_its_result_is_passed_on() {
    let project = project_of("usual", "");
    let mut served = Served::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    for token in 0..30 {
        let params = json!({ "name": "slow", "arguments": { "seconds": 0 }, "_meta": { "progressToken": token } });
        served.ask("tools/call", params);
        served.wait_for(|it| it["params"]["progressToken"] == token);
    }
    served.end().exits(0);
}

#[test]
fn calls_run_at_the_same_time_and_can_be_cancelled() {
    let project = project_of("usual", "");
    let mut served = Served::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    served.call("add", json!({ "a": 1, "b": 1 }));
    let began = Instant::now();
    let slow = served.request(
        "tools/call",
        json!({ "name": "slow", "arguments": { "seconds": 30 }, "_meta": { "progressToken": "mine" } }),
    );
    let report = served.wait_for(|it| it["method"] == "notifications/progress");
    assert_eq!(
        report["params"],
        json!({ "progressToken": "mine", "progress": 1, "total": 2 })
    );
    let sum = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }));
    served.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": slow }
    }));
    let sum = served.call("add", json!({ "a": 2, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 4 }));
    assert!(began.elapsed() < Duration::from_secs(25));
    served.end().exits(0);
    let cancelled = records(&project);
    assert!(
        cancelled
            .iter()
            .any(|it| it["kind"] == "effect" && it["content"]["outcome"] == "cancelled"),
        "{cancelled:#?}"
    );
}

#[test]
fn a_server_that_ends_is_started_again() {
    let project = project_of("usual", "");
    let mut served = Served::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    assert_eq!(refusal(&served.call("exit", json!({}))), "SERVER_FAILED");
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let sum = served.call("add", json!({ "a": 1, "b": 2 }));
        if sum.get("isError").is_none() {
            assert_eq!(sum["structuredContent"], json!({ "sum": 3 }));
            break;
        }
        assert_eq!(refusal(&sum), "HEALTH_VETO");
        assert!(Instant::now() < end, "{sum}");
        thread::sleep(Duration::from_millis(200));
    }
    served.end().exits(0);
}

#[test]
fn lines_that_are_no_messages_are_answered_and_change_nothing() {
    let project = project_of("usual", "");
    let mut served = Served::start(&project, OPTIONS);
    for line in [
        "Hello",
        "[]",
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
    ] {
        served.send_line(line);
        let answer = served.wait_for(|it| it["id"].is_null() && it.get("error").is_some());
        assert_eq!(answer["error"]["code"], -32700, "{line}: {answer}");
    }
    served.initialize("2024-11-05");
    let again = served.ask("initialize", json!({ "protocolVersion": "2025-11-25" }));
    assert_eq!(again["error"]["code"], -32600, "{again}");
    let unknown = served.ask("resources/list", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    served.end().exits(0);
}

#[test]
fn what_cannot_be_obeyed_is_refused_before_anything_starts() {
    let project = project_of("usual", "");
    let index = project.read("mcp.index.json");
    project.write("mcp.index.json", index.replace("Adds two", "Subtracts two"));
    project
        .agent(&format!("serve {OPTIONS}"))
        .exits(1)
        .answers_nothing()
        .notes("INTEGRITY_CHANGED");
    fs::remove_file(project.path("agents.lock")).unwrap();
    project
        .agent(&format!("serve {OPTIONS}"))
        .exits(2)
        .notes("agent resolve");
}

#[test]
fn a_signal_ends_the_gateway_and_its_servers() {
    let project = project_of("usual", "");
    let mut served = Served::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    served.call("add", json!({ "a": 1, "b": 2 }));
    let script = project.path("server.py").display().to_string();
    let running = || {
        let found = Command::new("pgrep")
            .args(["-f", &script])
            .output()
            .unwrap();
        !found.stdout.is_empty()
    };
    assert!(running());
    let pid = i32::try_from(served.pid()).unwrap();
    // SAFETY: a signal to the process that this test started and has not waited for.
    #[expect(unsafe_code, reason = "the standard library sends no signals")]
    unsafe {
        libc::kill(pid, libc::SIGTERM);
    }
    served.wait().exits(0);
    let end = Instant::now() + Duration::from_secs(10);
    while running() {
        assert!(Instant::now() < end, "the server still runs");
        thread::sleep(Duration::from_millis(20));
    }
}
