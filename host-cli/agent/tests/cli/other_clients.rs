//! Clients that we did not write list and call through `agent serve`, over standard streams and HTTP.
//!
//! `cargo xtask test clients` installs them and runs all of these tests, and every run of `cargo xtask test` those of
//! [`sdk`]. The server is the one of the conformance tests, by the Rust SDK.

mod inspector;
mod python;
mod sdk;

use crate::project::{Project, Run};
use crate::serve::http::Served;
use serde_json::{Value, json};
use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable with the program of the server.
const SERVER: &str = "AGENT_TEST_EVERYTHING_SERVER";

/// The locked tools: one without arguments, and one whose schema has most keywords.
const LOCKED: [&str; 2] = ["json_schema_2020_12_tool", "test_simple_text"];

/// A tool of the server that is not locked.
const UNLOCKED: &str = "test_error_handling";

const OVERLAY: &str = include_str!("../../../../tests/conformance/overlay.yaml");

const MANIFEST: &str = "\
---
name: clients
version: 1.0.0
requires:
  mcp:
    - category: everything
      permissions: []
      only: [json_schema_2020_12_tool, test_simple_text]
---
";

const OPTIONS: &str = "--servers servers.local.yaml --audit audit.jsonl";

/// Returns the value of a variable that `cargo xtask test clients` sets.
fn installed(variable: &str) -> String {
    let value = env::var(variable);
    value.unwrap_or_else(|_| {
        panic!("`cargo xtask test clients` runs this test, and sets {variable}")
    })
}

/// Returns the folder of a client.
fn folder(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
    tests.join(name)
}

/// A project whose lock has two tools of the server.
fn project() -> Project {
    let project = Project::empty();
    let program = installed(SERVER);
    let capture = Command::new(&program).arg("capture").output().unwrap();
    project.write("capture.json", capture.stdout);
    project.write("overlay.yaml", OVERLAY);
    project.write("agents.md", MANIFEST);
    project
        .agent("index import --overlay overlay.yaml capture.json")
        .exits(0);
    project.agent("resolve").exits(0);
    let entry = format!(
        "servers:\n  everything-server:\n    command: ['{program}', stdio]\n    read: ['{program}']\n"
    );
    project.write("servers.local.yaml", entry);
    let entry = project.path("servers.local.yaml");
    fs::set_permissions(entry, Permissions::from_mode(0o600)).unwrap();
    project
}

/// The calls of each client, in this order: an allowed one, one with arguments, one of a tool that is not locked, and
/// one whose arguments the schema refuses.
fn calls() -> [(&'static str, Value); 4] {
    [
        ("test_simple_text", json!({})),
        (
            "json_schema_2020_12_tool",
            json!({ "name": "a", "contactMethod": "email", "email": "a@example.com" }),
        ),
        (UNLOCKED, json!({})),
        ("json_schema_2020_12_tool", json!({ "name": "a" })),
    ]
}

/// Asserts that a client got the locked tools and nothing else.
#[track_caller]
fn assert_listed(tools: &Value) {
    let listed = tools
        .as_array()
        .unwrap_or_else(|| panic!("no list: {tools}"));
    let names: Vec<_> = listed
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, LOCKED);
    let schema = &listed[0]["inputSchema"];
    assert_eq!(
        schema["$defs"]["address"]["$anchor"], "addressDef",
        "{schema}"
    );
}

/// Asserts the result of a call of [`calls`], with its reasons if it is refused.
#[track_caller]
fn assert_result(number: usize, result: &Value) {
    let text = result["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("no text: {result}"));
    let (code, reason) = match number {
        0 => {
            assert_eq!(text, "This is a simple text response for testing.");
            return assert!(!failed(result), "{result}");
        }
        1 => return assert!(!failed(result), "{result}"),
        2 => ("TOOL_NOT_LOCKED", "and not `test_error_handling`"),
        _ => ("ARGUMENT_INVALID", "has none of `phone` and `email`"),
    };
    assert!(failed(result), "{result}");
    assert!(text.contains(code) && text.contains(reason), "{text}");
    assert!(text.contains("help: "), "{text}");
    let refusal = &result["_meta"]["io.github.agent-engine/refusal"];
    assert_eq!(refusal["code"], code, "{result}");
    assert_eq!(refusal["reasons"][0]["code"], code, "{result}");
}

fn failed(result: &Value) -> bool {
    result["isError"] == true
}

/// Asserts that the log has that many calls of the client, by a generation of the protocol, and verifies.
#[track_caller]
fn assert_logged(project: &Project, generation: &str, made: usize) {
    let log = project.read("audit.jsonl");
    let records = log
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap());
    let calls: Vec<_> = records.filter(|it| it["kind"] == "decision").collect();
    assert_eq!(calls.len(), made, "{log}");
    for call in calls {
        assert_eq!(
            call["content"]["client"]["generation"], generation,
            "{call}"
        );
    }
    project.agent("audit audit.jsonl").exits(0);
}

/// A program of an SDK that reads a plan and prints a report.
struct Sdk {
    command: Vec<String>,
}

impl Sdk {
    /// Lets the client start a gateway, and then connect to another one over HTTP.
    fn obeys(&self, mode: &str, version: &str, generation: &str) {
        let own = env!("CARGO_BIN_EXE_agent");
        let line = [&["serve"], &*OPTIONS.split(' ').collect::<Vec<_>>()].concat();
        let started = [&[own], &*line].concat();
        let project = project();
        self.runs(&project, mode, version, &json!({ "command": started }));
        assert_logged(&project, generation, 4);

        let project = self::project();
        let served = Served::start(&project, OPTIONS);
        let (path, token) = &served.agents[0];
        let url = format!("http://{}{path}", served.address);
        self.runs(
            &project,
            mode,
            version,
            &json!({ "url": url, "token": token }),
        );
        served.end().exits(0);
        assert_logged(&project, generation, 4);
    }

    fn runs(&self, project: &Project, mode: &str, version: &str, to: &Value) {
        let mut plan = to.clone();
        plan["mode"] = json!(mode);
        let calls =
            calls().map(|(name, arguments)| json!({ "name": name, "arguments": arguments }));
        plan["calls"] = json!(calls);
        let [program, arguments @ ..] = &self.command[..] else {
            panic!("a program");
        };
        let plan = plan.to_string();
        let arguments = arguments.iter().chain([&plan]);
        let report = Run::of(project.command_of(program, arguments))
            .exits(0)
            .json();
        assert_eq!(report["version"], version);
        assert_listed(&report["tools"]);
        let results = report["results"].as_array().unwrap();
        assert_eq!(results.len(), calls.len());
        for (number, result) in results.iter().enumerate() {
            assert_result(number, result);
        }
    }

    /// Asserts that the client can't connect over HTTP with another token.
    fn needs_its_token(&self) {
        let project = project();
        let served = Served::start(&project, OPTIONS);
        let url = format!("http://{}{}", served.address, served.agents[0].0);
        let plan =
            json!({ "mode": "auto", "url": url, "token": "another", "calls": [] }).to_string();
        let [program, arguments @ ..] = &self.command[..] else {
            panic!("a program");
        };
        let run = Run::of(project.command_of(program, arguments.iter().chain([&plan])));
        assert_ne!(run.code, Some(0), "{run:#?}");
        let why = ["401", "the bearer token is missing or unknown"];
        assert!(why.iter().any(|it| run.stderr.contains(it)), "{run:#?}");
        served.end().exits(0);
    }
}
