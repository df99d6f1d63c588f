//! A step that calls a tool of a server over its standard streams, compared with `rmcp`'s client.

use super::carried_out::{agent, here, succeed};
use super::documents::Texts;
use super::per_step;
use crate::table::Table;
use crate::timing::shortest;
use agent_host::Engine;
use agent_mcp_protocol::{Client, Generations, Limits, Options, Stdio as Transport, Wait};
use agent_operator::{Operator, Server, Value as Setting};
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::runtime::{Builder, Runtime};

/// Numbers of steps: each of them starts the server.
const STEPS: (usize, usize) = (1, 9);

/// Numbers of calls of one connection.
const CALLS: (usize, usize) = (1, 1_001);

/// The interpreter of the server.
const PYTHON: &str = "/usr/bin/python3";

/// A server of 2025-11-25.
const SERVER: &str = r#"
import json, sys
results = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                   "serverInfo": {"name": "bench", "version": "1"}},
    "tools/list": {"tools": [{"name": "search", "description": "Searches.", "inputSchema": {
        "type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}]},
    "tools/call": {"content": [], "structuredContent": {"found": True}},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in results:
            answer["result"] = results[message["method"]]
        else:
            answer["error"] = {"code": -32601, "message": "unknown"}
        print(json.dumps(answer), flush=True)
"#;

/// Measures the start of a server with one call, and further calls.
pub(super) fn measure(engine: &Engine) -> Result<Table, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let script = folder.path().join("server.py");
    std::fs::write(&script, SERVER)?;
    let (lock, index) = locked(folder.path())?;
    let runtime = Builder::new_current_thread().enable_all().build()?;

    let title = "a step of a plan with one call of a tool, beside rmcp".to_owned();
    let rmcp = shortest(|| by_rmcp(&runtime, &script, 1));
    let mut table = Table::new(title, "rmcp: start, list, call", rmcp);
    table.add(
        "our client: start, list, call",
        shortest(|| by_our_client(&runtime, &script, 1)),
    );
    let evidence = folder.path().join("evidence");
    let texts = |steps| {
        let binding = json!({
            "driver_kind": "mcp_proxy", "server": "bench", "tool": "search",
            "destinations": ["https://unused.example"]
        });
        let texts = Texts::new(steps, binding, &json!({ "query": "mars" }));
        texts.locked(lock.clone(), index.clone())
    };
    for (name, unfenced) in [
        ("host: mcp_proxy step, no sandbox", true),
        ("host: mcp_proxy step, in the sandbox", false),
    ] {
        let operator = operator(&script, unfenced);
        let run = |texts| here(engine, texts, &operator, &evidence);
        let step = per_step(STEPS, texts, run);
        table.add(name, step);
    }
    let call = |run: fn(&Runtime, &Path, usize)| {
        per_step(CALLS, |calls| calls, |calls| run(&runtime, &script, calls))
    };
    table.add("rmcp: one more call", call(by_rmcp));
    table.add("our client: one more call", call(by_our_client));
    table.note("The server is a script in Python, which every step starts anew.".to_owned());
    Ok(table)
}

/// Returns the lock and the index of the server.
fn locked(folder: &Path) -> Result<(Vec<u8>, Vec<u8>), Box<dyn Error>> {
    let schema = json!({
        "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"]
    });
    let index = json!([{
        "id": "bench", "version": "1", "endpoint": "pkg:generic/bench@1",
        "categories": ["bench"], "scopes": [],
        "data": { "residency": "any", "maxSensitivity": "public" },
        "trust": { "signed": true, "publisher": "bench" },
        "capabilities": { "tools": { "search": {
            "description": "Searches.", "inputSchema": schema,
            "x-summit-capabilities": [
                { "verb": "search", "resource": "internet", "constraints": ["readonly"] }
            ]
        } } }
    }]);
    std::fs::write(folder.join("mcp.index.json"), index.to_string())?;
    let manifest = "---\nname: bench\nversion: 1.0.0\nrequires:\n  mcp:\n    \
                    - { category: bench, permissions: [] }\n---\n";
    std::fs::write(folder.join("agents.md"), manifest)?;
    succeed(agent(folder, &["resolve"]));
    let lock = std::fs::read(folder.join("agents.lock"))?;
    Ok((lock, index.to_string().into_bytes()))
}

/// Returns the operator's entry for the server.
fn operator(script: &Path, unfenced: bool) -> Operator {
    let command = [PYTHON.to_owned(), script.display().to_string()];
    let server = Server {
        command: command.map(Setting::literal).into(),
        read: vec![script.to_owned()],
        unfenced,
        ..Server::default()
    };
    Operator {
        servers: BTreeMap::from([("bench".to_owned(), server)]),
        ..Operator::default()
    }
}

fn start(script: &Path) -> (Child, ChildStdout, ChildStdin) {
    let mut command = Command::new(PYTHON);
    command
        .arg(script)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let mut child = command.spawn().expect("Python starts");
    let streams = (child.stdout.take(), child.stdin.take());
    let (Some(stdout), Some(stdin)) = streams else {
        unreachable!("both were piped");
    };
    (child, stdout, stdin)
}

/// Starts the server, lists its tools and calls one, with `rmcp`.
fn by_rmcp(runtime: &Runtime, script: &Path, calls: usize) {
    runtime.block_on(async {
        let (mut child, stdout, stdin) = start(script);
        let client = ().serve((stdout, stdin)).await.expect("rmcp connects");
        let tools = client.list_all_tools().await.expect("rmcp lists");
        assert_eq!(tools.len(), 1, "one tool");
        for _ in 0..calls {
            let Value::Object(arguments) = json!({ "query": "mars" }) else {
                unreachable!("an object");
            };
            let call = CallToolRequestParams::new("search").with_arguments(arguments);
            let result = client.call_tool(call).await.expect("rmcp calls");
            assert!(result.structured_content.is_some(), "a result");
        }
        client.cancel().await.expect("rmcp ends");
        // As the host does: it waits for no farewell.
        child.kill().await.expect("the server ends");
    });
}

/// Starts the server, lists its tools and calls one, with the client that handlers call.
fn by_our_client(runtime: &Runtime, script: &Path, calls: usize) {
    runtime.block_on(async {
        let (mut child, stdout, stdin) = start(script);
        let wait = Wait::time(Duration::from_secs(60));
        let options = Options {
            name: "bench".to_owned(),
            version: "1".to_owned(),
            generations: Generations::Both,
            limits: Limits::default(),
        };
        let transport = Transport::new(stdout, stdin, options.limits.frame_bytes);
        let client = Client::connect(transport, &options, &wait).await;
        let mut client = client.expect("our client connects");
        client.list_tools(&wait).await.expect("our client lists");
        for _ in 0..calls {
            let called = client.call_tool("search", br#"{"query":"mars"}"#, &wait);
            called.await.expect("our client calls");
        }
        child.kill().await.expect("the server ends");
    });
}
