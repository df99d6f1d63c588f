//! `serve --otlp`: spans of requests and calls, and collectors that take them or don't.

use super::client::{Served as Stdio, refusal};
use super::collector::{Collector, attributes};
use super::http::Served;
use super::operating::wait_for;
use super::{OPTIONS, project_of};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

/// What no span may have.
const CANARY: &str = "canary-5f2a-of-a-client";

fn options(collector: &Collector) -> String {
    format!("{OPTIONS} --otlp http://{}", collector.address)
}

/// Returns the only span of a name and a kind whose request has an id.
#[track_caller]
fn span<'s>(spans: &'s [Value], name: &str, kind: u8, id: &str) -> &'s Value {
    let found = spans.iter().filter(|it| {
        let own = attributes(it).get("jsonrpc.request.id").copied();
        it["name"] == name && it["kind"] == kind && (id.is_empty() || own == Some(&json!(id)))
    });
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), 1, "{name} {id}: {spans:#?}");
    found[0]
}

#[test]
fn requests_and_calls_have_spans_without_what_was_said() {
    let collector = Collector::start(Some(200));
    let project = project_of("usual", "");
    let mut served = Stdio::start(&project, &options(&collector));
    served.initialize("2025-11-25");
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    // Whether a client samples its trace is no matter of ours.
    let parent = format!("00-{trace}-00f067aa0ba902b7-00");
    let params = json!({
        "name": "add", "arguments": { "a": 1, "b": 2 },
        "_meta": { "traceparent": parent, "tracestate": CANARY, "x": CANARY },
    });
    served.ask("tools/call", params);
    let invalid = served.call("add", json!({ "a": CANARY }));
    assert_eq!(refusal(&invalid), "ARGUMENT_INVALID");
    served.ask(CANARY, json!({}));
    served.ask("tools/call", json!({ "name": CANARY, "arguments": {} }));
    let unlocked = served.call("unlocked", json!({}));
    assert_eq!(refusal(&unlocked), "TOOL_NOT_LOCKED");
    assert_eq!(refusal(&served.call("exit", json!({}))), "SERVER_FAILED");
    served.end().exits(0).notes_not("spans");

    let spans = collector.spans("agent-gateway");
    assert!(!json!(spans).to_string().contains(CANARY), "{spans:#?}");
    let opened = span(&spans, "initialize", 2, "1");
    let of_opened = attributes(opened);
    assert_eq!(of_opened["mcp.protocol.version"], "2025-11-25");
    assert_eq!(of_opened["network.transport"], "pipe");
    assert_eq!(opened.get("parentSpanId"), None);

    let outer = span(&spans, "tools/call add", 2, "2");
    let inner = span(&spans, "tools/call add", 3, "");
    assert_eq!(outer["traceId"], trace);
    assert_eq!(outer["parentSpanId"], "00f067aa0ba902b7");
    assert_eq!(inner["traceId"], trace);
    assert_eq!(inner["parentSpanId"], outer["spanId"]);
    assert_eq!(outer["status"], json!({}));
    let of_outer = attributes(outer);
    for (name, value) in [
        ("mcp.method.name", json!("tools/call")),
        ("gen_ai.operation.name", json!("execute_tool")),
        ("gen_ai.tool.name", json!("add")),
        ("agent.client.id", json!("stdio")),
        ("agent.decision", json!("forward")),
        ("agent.lock.digest", lock_of(&project.read("audit.jsonl"))),
        ("agent.observe", json!(false)),
        ("agent.server.id", json!("calculator")),
        ("agent.server.version", json!("1.0.0")),
    ] {
        assert_eq!(of_outer[name], &value, "{name}");
    }
    let of_inner = attributes(inner);
    assert_eq!(of_inner["mcp.protocol.version"], "2025-11-25");
    assert_eq!(of_inner["network.transport"], "pipe");
    assert_eq!(of_inner["agent.outcome"], "delivered");

    let refused = span(&spans, "tools/call add", 2, "3");
    let of_refused = attributes(refused);
    assert_eq!(of_refused["agent.decision"], "refuse");
    assert_eq!(of_refused["agent.code"], "ARGUMENT_INVALID");
    assert_eq!(of_refused["error.type"], "tool_error");
    assert_eq!(refused["status"]["code"], 2);
    let other = attributes(span(&spans, "_OTHER", 2, "4"));
    assert_eq!(other["rpc.response.status_code"], "-32601");
    let unknown = attributes(span(&spans, "tools/call", 2, "5"));
    assert_eq!(unknown["error.type"], "-32602");
    let unlocked = attributes(span(&spans, "tools/call unlocked", 2, "6"));
    assert_eq!(unlocked["agent.code"], "TOOL_NOT_LOCKED");
    let failed = attributes(span(&spans, "tools/call exit", 3, ""));
    assert_eq!(failed["error.type"], "connection_closed");
    assert_eq!(failed["agent.code"], "SERVER_FAILED");
}

#[test]
fn a_server_belongs_to_the_trace_of_its_call_if_there_are_spans() {
    let collector = Collector::start(Some(200));
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let of_client = format!("00-{trace}-00f067aa0ba902b7-00");
    let params = json!({
        "name": "slow", "arguments": { "seconds": 0.01 }, "_meta": { "traceparent": of_client },
    });
    let project = project_of("traced", "");
    let asked = |options: &str| {
        let mut served = Stdio::start(&project, options);
        served.initialize("2025-11-25");
        let answer = served.ask("tools/call", params.clone());
        served.end().exits(0);
        answer["result"]["content"][0]["text"].clone()
    };
    let received = asked(&options(&collector));
    let spans = collector.spans("agent-gateway");
    let inner = span(&spans, "tools/call slow", 3, "");
    let id = inner["spanId"].as_str().unwrap();
    assert_eq!(received, format!("00-{trace}-{id}-01"));
    assert_eq!(asked(OPTIONS), "None");
}

/// Returns the digest of the lock in the first record of a log.
fn lock_of(log: &str) -> Value {
    let record: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    let lock = record["content"]["documents"]["lock"].clone();
    assert!(lock.is_string(), "{record}");
    lock
}

#[test]
fn clients_over_http_have_spans_and_status_counts_them() {
    let collector = Collector::start(Some(200));
    let project = project_of("usual", "");
    let options = options(&collector).replace("127.0.0.1", "localhost");
    let served = Served::start(&project, &options);
    let session = served.initialize("2025-11-25");
    served.call(&session, "add", json!({ "a": 1, "b": 2 }));
    let slow = json!({ "name": "slow", "arguments": { "seconds": 20 } });
    // Its client disconnects.
    let left = served.alone(9, "tools/call", slow);
    thread::sleep(Duration::from_millis(500));
    drop(left);
    let shown = wait_for(|| {
        let shown = project.agent("status --format json").json();
        let otlp = shown["gateways"][0]["otlp"].clone();
        (otlp["sent"].as_u64().unwrap() >= 5).then_some(otlp)
    });
    assert_eq!(shown["dropped"], 0, "{shown}");
    let url = format!("http://localhost:{}/v1/traces", collector.address.port());
    assert_eq!(shown["url"], url);
    project
        .agent("status")
        .answers(&format!("sent to {url}, 0 dropped"));
    let token = served.agents[0].1.clone();
    served.end().exits(0);
    let spans = collector.spans("agent-gateway");
    assert!(!json!(spans).to_string().contains(&token));
    let call = attributes(span(&spans, "tools/call add", 2, "7"));
    assert_eq!(call["mcp.session.id"], &json!(session));
    assert_eq!(call["network.transport"], "tcp");
    assert_eq!(call["network.protocol.name"], "http");
    for kind in [2, 3] {
        let left = span(&spans, "tools/call slow", kind, "");
        assert_eq!(attributes(left)["error.type"], "cancelled", "{left}");
    }
}

#[test]
fn a_collector_that_is_dead_or_slow_changes_no_call() {
    // A port that was free a moment ago has no listener.
    let dead = TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = dead.local_addr().unwrap();
    let slow = Collector::start(None).address;
    for address in [dead, slow] {
        let project = project_of("usual", "");
        let options = format!("{OPTIONS} --otlp http://{address}/v1/traces");
        let mut served = Stdio::start(&project, &options);
        served.initialize("2025-11-25");
        served.call("add", json!({ "a": 0, "b": 2 }));
        let began = Instant::now();
        for number in 0..50 {
            let sum = served.call("add", json!({ "a": number, "b": 2 }));
            assert_eq!(sum["structuredContent"], json!({ "sum": number + 2 }));
        }
        let took = began.elapsed();
        assert!(took < Duration::from_secs(9), "{took:?}");
        let ends = Instant::now();
        let ended = served.end().exits(0);
        let took = ends.elapsed();
        assert!(took < Duration::from_secs(9), "{took:?}");
        let notes = ended.stderr.matches("spans were dropped: ").count();
        assert_eq!(notes, 1, "{}", ended.stderr);
    }
}

#[test]
fn a_collector_is_named_by_a_url() {
    let project = project_of("usual", "");
    for url in [
        "127.0.0.1:4318",
        "ftp://127.0.0.1/",
        "http://user:key@127.0.0.1:4318",
    ] {
        project
            .agent(&format!("serve {OPTIONS} --otlp {url}"))
            .exits(2)
            .notes("the collector `");
    }
}

#[test]
fn counts_are_text_for_clients_with_a_token() {
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    let session = served.initialize("2025-11-25");
    served.call(&session, "add", json!({ "a": 1, "b": 2 }));
    served.call(&session, "add", json!({ "a": CANARY }));
    served.call(&session, "unlocked", json!({}));
    let bearer = format!("Bearer {}", served.agents[0].1);
    let own = [("Authorization", &*bearer)];
    assert_eq!(served.open("GET", "/metrics", &[], "").answer().status, 401);
    assert_eq!(
        served.open("POST", "/metrics", &own, "").answer().status,
        405
    );
    let shown = served.open("GET", "/metrics", &own, "").answer();
    assert_eq!(shown.status, 200, "{shown:?}");
    let kind = shown.header("content-type").unwrap();
    assert_eq!(kind, "text/plain; version=0.0.4; charset=utf-8");
    for line in [
        "agent_decisions_total{action=\"forward\",code=\"\"} 1",
        "agent_decisions_total{action=\"refuse\",code=\"ARGUMENT_INVALID\"} 1",
        "agent_decisions_total{action=\"refuse\",code=\"TOOL_NOT_LOCKED\"} 1",
        "agent_calls_total{server=\"calculator\",outcome=\"delivered\"} 1",
        "agent_call_duration_seconds_count{server=\"calculator\"} 1",
        "agent_tools{state=\"exposed\"} 4",
        "agent_client_sessions 1",
    ] {
        let found = shown.body.lines().any(|it| it == line);
        assert!(found, "{line}\n{}", shown.body);
    }
    assert!(
        shown
            .body
            .contains("agent_server_health{server=\"calculator\",health=\"")
    );
    assert!(!shown.body.contains(CANARY));
    served.end().exits(0);
}
