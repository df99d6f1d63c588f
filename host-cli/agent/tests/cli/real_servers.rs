//! Real MCP servers of npm and PyPI: installed by `install`, imported, locked and called through the
//! program.
//!
//! `cargo xtask test real-servers` runs all of these tests, and every run of `cargo xtask test` those of
//! [`time`]. Without the registries they fail.

mod adopt;
mod capture;
mod everything;
mod filesystem;
mod git;
mod time;

use crate::planned::planner;
use crate::project::{Project, Run};
use crate::run_plan::{self, MCP, operator, step, summary};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

/// A server in an exact version.
struct RealServer {
    /// The id and the category in the index.
    id: &'static str,
    /// The registry, as `server.json` and package URLs call it.
    registry: &'static str,
    package: &'static str,
    version: &'static str,
    /// Arguments without which it does not start.
    arguments: &'static [&'static str],
    /// The tools that the overlay declares to be read-only.
    readonly: &'static [&'static str],
}

/// The folder with the installed packages and the captures, which all tests share.
fn shared() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("real-servers")
}

/// The operator's configuration of a server that starts without arguments.
const NO_ARGUMENTS: &str = "servers: {}\n";

/// What a manifest requires.
enum Requirement<'r> {
    /// Every tool of the server.
    Server,
    /// Every tool of the server, and that a label is forbidden.
    ServerWithout(&'r str),
    /// One tool, by its capability.
    Tool(&'r str),
}

impl RealServer {
    fn endpoint(&self) -> String {
        let name = self.package.replace('@', "%40");
        format!("pkg:{}/{name}@{}", self.registry, self.version)
    }

    /// The name of the server in documents to import. A name with an `@` is no id.
    fn name(&self) -> String {
        format!("com.example/{}", self.id)
    }

    /// A project with a plan of one step, which calls a tool of the locked server.
    fn project(&self, tool: &str, input: Value) -> Project {
        self.project_within(tool, input, 60_000)
    }

    /// Like [`Self::project`], with a time limit of the step in milliseconds.
    fn project_within(&self, tool: &str, input: Value, timeout_ms: u32) -> Project {
        let binding = json!({
            "connector_id": MCP, "tool_id": tool, "driver_kind": "mcp_proxy", "server": self.id,
            "tool": tool, "destinations": ["https://unused.example"],
            "limits": {
                "timeout_ms": timeout_ms, "max_input_bytes": 4096, "max_output_bytes": 65_536,
                "max_log_bytes": 4096
            }
        });
        let project = run_plan::project(json!([binding]), json!([step(MCP, tool, input)]));
        operator(&project, NO_ARGUMENTS);
        self.lock(&project, &Requirement::Server);
        project
    }

    /// Installs the server, imports its live catalogue into the index, and locks it.
    fn lock(&self, project: &Project, required: &Requirement<'_>) {
        let tools = self.readonly.iter().map(|tool| {
            let capability = json!({
                "verb": "read", "resource": resource(tool), "constraints": ["readonly"]
            });
            (
                (*tool).to_owned(),
                json!({ "x-summit-capabilities": [capability] }),
            )
        });
        let overlay = json!({ "servers": { self.name(): {
            "id": self.id, "endpoint": self.endpoint(), "categories": [self.id],
            "tools": tools.collect::<serde_json::Map<_, _>>()
        } } });
        project.write("overlay.json", overlay.to_string());
        let category = format!(
            "  mcp:\n    - {{ category: {}, permissions: [] }}\n",
            self.id
        );
        let rest = match required {
            Requirement::Server => category,
            Requirement::ServerWithout(label) => {
                format!("{category}constraints:\n  actions:\n    forbid: [{label}]\n")
            }
            Requirement::Tool(tool) => {
                let resource = resource(tool);
                format!("  capabilities:\n    - {{ verb: read, resource: {resource} }}\n")
            }
        };
        let manifest = format!("---\nname: a\nversion: 1.0.0\nrequires:\n{rest}---\n");
        project.write("agents.md", manifest);
        project.write("capture.json", self.catalogue().to_string());
        project
            .agent("index import capture.json --overlay overlay.json")
            .exits(0);
        project.agent("resolve").exits(0);
    }

    /// Returns the capture of the installed server. The first test of a run installs it.
    fn catalogue(&self) -> Value {
        fs::create_dir_all(shared()).unwrap();
        let lock = File::create(shared().join("lock")).unwrap();
        lock.lock().unwrap();
        let kept = shared().join(format!("{}.json", self.id));
        if let Ok(text) = fs::read(&kept) {
            return serde_json::from_slice(&text).unwrap();
        }
        self.install();
        let capture = capture::of(self);
        fs::write(kept, capture.to_string()).unwrap();
        capture
    }

    /// Locks the server as a registry describes it, and installs its package.
    fn install(&self) {
        let project = Project::empty();
        let server = json!({
            "name": self.name(), "description": "A real server.", "version": self.version,
            "packages": [{
                "registryType": self.registry, "identifier": self.package, "version": self.version,
                "transport": { "type": "stdio" }
            }]
        });
        let overlay = json!({ "servers": { self.name(): {
            "id": self.id, "categories": [self.id], "scopes": [],
            "data": { "residency": "any", "maxSensitivity": "public" },
            "trust": { "signed": false, "publisher": "unknown" }
        } } });
        project.write("server.json", server.to_string());
        project.write("overlay.json", overlay.to_string());
        let manifest = format!(
            "---\nname: a\nversion: 1.0.0\nrequires:\n  mcp:\n    - {{ category: {}, permissions: [] }}\n---\n",
            self.id
        );
        project.write("agents.md", manifest);
        project
            .agent("index import server.json --overlay overlay.json")
            .exits(0);
        project.agent("resolve").exits(0);
        let installed = agent(&project, "install --format json").exits(0).json();
        let [installed] = &installed["installed"].as_array().unwrap()[..] else {
            panic!("one server: {installed}");
        };
        assert_eq!(installed["id"], self.id);
        let closure = installed["closure"].as_array().unwrap();
        // A server needs other packages, and each has the digest of its archive.
        assert!(closure.len() > 1, "{installed}");
        for item in closure {
            let integrity = item["integrity"].as_str().unwrap();
            assert!(
                integrity.starts_with("sha512-") || integrity.starts_with("sha256="),
                "{item}"
            );
        }
    }
}

/// The resource that a tool reads, which a requirement can name.
fn resource(tool: &str) -> String {
    format!("x-{}", tool.replace('_', "-"))
}

/// Variables of the user that no server may see.
const OF_THE_USER: [(&str, &str); 3] = [
    ("AGENT_TEST_TOKEN", "ghp_0123456789abcdefghijklmnop"),
    ("AWS_SECRET_ACCESS_KEY", "swordfish/of/the/user"),
    ("NODE_OPTIONS", "--title=of-the-user"),
];

fn command(project: &Project, line: &str) -> Command {
    let mut command = project.command(line.split_whitespace());
    command
        .env("XDG_DATA_HOME", shared().join("data"))
        .envs(OF_THE_USER);
    command
}

fn agent(project: &Project, line: &str) -> Run {
    Run::of(command(project, line))
}

/// Runs the plan of a project.
fn run(project: &Project) -> Run {
    agent(
        project,
        "run-plan --plan plan.json --servers operator/servers.local.yaml",
    )
}

/// Asks for a call of a tool. Returns the run and its answer.
fn ask(project: &Project, server: &RealServer, tool: &str, arguments: &Value) -> (Run, Value) {
    let call = json!({ "type": "call_tool", "server": server.id, "tool": tool, "args": arguments });
    planner(project, &call.to_string());
    let run = agent(
        project,
        "ask it --planner command --planner-command ./planner.sh --format json \
         --servers operator/servers.local.yaml",
    );
    let answer = run.json();
    (run, answer)
}

/// Asserts that a call is refused with a code and that nothing was called.
#[track_caller]
fn assert_blocked(asked: (Run, Value), code: &str) {
    let (run, answer) = asked;
    let run = run.exits(1);
    assert_eq!(answer["result"], "blocked", "{run:#?}");
    let problems = answer["problems"].as_array().unwrap();
    assert!(
        problems.iter().any(|it| it["code"] == code),
        "no {code}: {answer}"
    );
    assert_eq!(answer.get("payload"), None);
}

/// Changes the description of a tool in the index, and locks the changed one.
fn drift(project: &Project, server: &RealServer, tool: &str) {
    let mut index: Value = serde_json::from_str(&project.read("mcp.index.json")).unwrap();
    let entry = &mut index["servers"][0]["capabilities"]["tools"][tool]["description"];
    assert!(entry.is_string(), "{tool} of {}", server.id);
    *entry = json!("Another description.");
    project.write("mcp.index.json", index.to_string());
    project.agent("resolve").exits(0);
}

/// Asserts that a tool whose locked description is another one is not called.
fn assert_drift_is_refused(server: &RealServer, project: &Project, tool: &str, arguments: &Value) {
    drift(project, server, tool);
    run(project).exits(1).answers("policy_denied");
    let ended = summary(project);
    assert_eq!(
        ended["security_events"].as_array().unwrap().len(),
        1,
        "{ended}"
    );
    assert_blocked(ask(project, server, tool, arguments), "DEFINITION_CHANGED");
}

/// Asserts that the evidence of the only run verifies.
fn assert_verifies(project: &Project) {
    let folder = run_plan::evidence(project);
    let line = format!("evidence verify {}", folder.display());
    project.agent(&line).exits(0);
}
