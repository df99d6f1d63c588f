//! The daemon over HTTP, and as a server of the Model Context Protocol.

use crate::bed::{Bed, PATIENCE, request};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;

const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");

fn rpc(bed: &Bed, headers: &[(&str, &str)], message: &Value) -> Value {
    let mut all = vec![ACCEPT];
    all.extend(headers);
    let response = bed.daemon_with("POST", "/mcp", &all, &message.to_string());
    serde_json::from_str(&response.body)
        .unwrap_or_else(|_| panic!("{} {}", response.status, response.body))
}

#[test]
fn only_who_has_the_token_is_answered() {
    let bed = Bed::new(&[]);
    let url = format!("http://{}/", bed.address());
    assert_eq!(request("GET", &url, &[], "").status, 401);
    let wrong = [("Authorization", "Bearer 0123456789abcdef0123456789abcdef")];
    assert_eq!(request("GET", &url, &wrong, "").status, 401);
    let page = [("Origin", "http://evil.example")];
    assert_eq!(bed.daemon_with("GET", "/", &page, "").status, 403);
    assert_eq!(bed.daemon("GET", "/other", "").status, 404);
    let discovery: Value = serde_json::from_str(&bed.daemon("GET", "/", "").body).unwrap();
    let expected = json!({
        "name": "assertlang-mcpd",
        "version": env!("CARGO_PKG_VERSION"),
        "capabilities": [
            {"verb": "plan.create", "version": "v1"},
            {"verb": "fs.apply", "version": "v1"},
            {"verb": "run.start", "version": "v1"},
            {"verb": "httpcheck.assert", "version": "v1"},
            {"verb": "report.finish", "version": "v1"},
        ],
    });
    assert_eq!(discovery, expected);
    let metrics = bed.daemon("GET", "/metrics", "").body;
    assert!(metrics.contains("mcpd_client_sessions 0"), "{metrics}");
}

#[test]
fn clients_without_sessions_call_verbs_as_tools() {
    let bed = Bed::new(&[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers = |method| {
        [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ]
    };
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let list = rpc(&bed, &headers("tools/list"), &list);
    let tools = list["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let verbs = [
        "plan.create",
        "fs.apply",
        "run.start",
        "httpcheck.assert",
        "report.finish",
    ];
    assert_eq!(names, verbs);
    for tool in &tools[1..] {
        let task = &tool["inputSchema"]["properties"]["task_id"];
        assert_eq!(task["type"], "string", "{tool}");
        assert_eq!(tool["_meta"]["dev.assertlang/version"], "v1");
    }
    let call = |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments, "_meta": meta});
        let message = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        let named = [headers("tools/call").as_slice(), &[("Mcp-Name", name)]].concat();
        rpc(&bed, &named, &message)
    };
    let plan = call("plan.create", json!({"prompt": "It says 'hi'"}));
    let plan = &plan["result"];
    assert_eq!(plan["isError"], false, "{plan}");
    assert_eq!(plan["resultType"], "complete");
    let data = &plan["structuredContent"]["data"];
    let text: Value = serde_json::from_str(plan["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["data"], *data);
    let task = &data["task_id"];
    // The version of a verb may be named, and the client's only task need not be.
    let applied = call("fs.apply@v1", json!({"writes": data["files"]}));
    assert_eq!(applied["result"]["isError"], false, "{applied}");
    let started = call("run.start", json!({"task_id": task, "cmd": data["start"]}));
    assert_eq!(
        started["result"]["structuredContent"]["data"]["transport"], "uds",
        "{started}"
    );
    let wrong = call("run.start", json!({"task_id": "ffffff", "cmd": "x"}));
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    assert_eq!(
        wrong["result"]["structuredContent"]["error"]["code"],
        "E_PLAN"
    );
    assert_eq!(call("plan.destroy", json!({}))["error"]["code"], -32602);
}

#[test]
fn a_client_over_standard_streams_ends_with_its_input() {
    let mut bed = Bed::new(&[]);
    bed.kill();
    let mut daemon = bed.command(&["mcpd", "--stdio", "--port", "0"]);
    let daemon = daemon.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut daemon = daemon.stderr(Stdio::null()).spawn().unwrap();
    let (mut input, output) = (daemon.stdin.take().unwrap(), daemon.stdout.take().unwrap());
    let (sender, lines) = channel();
    thread::spawn(move || {
        let lines = BufReader::new(output).lines();
        lines
            .map_while(Result::ok)
            .try_for_each(|line| sender.send(line))
    });
    let mut ask = |id: u64, method: &str, params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{message}").unwrap();
        let line = lines.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let opened = ask(1, "initialize", client);
    assert_eq!(
        opened["result"]["serverInfo"]["name"], "assertlang-mcpd",
        "{opened}"
    );
    let plan = ask(
        2,
        "tools/call",
        json!({"name": "plan.create", "arguments": {"prompt": "hello"}}),
    );
    assert_eq!(plan["result"]["isError"], false, "{plan}");
    drop(input);
    assert!(daemon.wait().unwrap().success());
}
