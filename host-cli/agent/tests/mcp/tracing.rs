//! `mcpd --otlp`: spans of verbs and of their stages.

#[path = "../../../agent/tests/cli/serve/collector.rs"]
mod collector;

use crate::bed::Bed;
use collector::{Collector, attributes};
use serde_json::{Value, json};

/// The span that the client names as the parent of a verb.
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[track_caller]
fn span<'s>(spans: &'s [Value], name: &str) -> &'s Value {
    let found: Vec<_> = spans.iter().filter(|it| it["name"] == name).collect();
    assert_eq!(found.len(), 1, "{name}: {spans:#?}");
    found[0]
}

#[test]
fn verbs_and_their_stages_have_spans() {
    let collector = Collector::start(Some(200));
    let url = format!("http://{}", collector.address);
    let mut bed = Bed::new(&["--otlp", &url]);
    bed.done(&["run", "It says 'canary of a prompt'"]);
    let id = bed.tasks()[0]["task_id"].as_str().unwrap().to_owned();
    let body = json!({ "task_id": id, "input": { "cmd": "python -m nosuchmodule" } }).to_string();
    let named = [("traceparent", PARENT)];
    let failed = bed.daemon_with("POST", "/verbs/run.start", &named, &body);
    assert_eq!(failed.status, 422, "{}", failed.body);
    // What is left is sent at the end.
    let stopped = bed.mcp(&["mcpd", "--stop"]);
    assert_eq!(stopped.status.code(), Some(0));
    bed.ended();
    let spans = collector.spans("mcpd");

    let verbs = spans.iter().filter(|it| it["kind"] == 2);
    let starts: Vec<_> = verbs.filter(|it| it["name"] == "run.start").collect();
    let [started, failed] = starts[..] else {
        panic!("{spans:#?}");
    };
    for verb in [
        "plan.create",
        "fs.apply",
        "httpcheck.assert",
        "report.finish",
    ] {
        let attributes = attributes(span(&spans, verb));
        assert_eq!(attributes["gen_ai.tool.name"], verb);
        assert_eq!(attributes["gen_ai.operation.name"], "execute_tool");
        assert_eq!(attributes["agent.verb.version"], "v1");
        assert_eq!(attributes["agent.client.id"], "cli");
        assert_eq!(attributes["agent.task.id"], &json!(id), "{verb}");
        assert!(!attributes.contains_key("error.type"), "{verb}");
    }
    let within = |stage: &str, outer: &Value| {
        let is_within = |it: &&Value| it["name"] == stage && it["parentSpanId"] == outer["spanId"];
        let found: Vec<_> = spans.iter().filter(is_within).collect();
        assert_eq!(found.len(), 1, "{stage}: {spans:#?}");
        assert_eq!(found[0]["kind"], 1, "{stage}");
        assert_eq!(found[0]["traceId"], outer["traceId"]);
        found[0].clone()
    };
    within("plan", span(&spans, "plan.create"));
    within("scan", started);
    within("probes", span(&spans, "httpcheck.assert"));
    let start = within("start", started);
    let (sandbox, ready) = (within("sandbox", &start), within("ready", &start));
    let time = |span: &Value, name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
    assert!(time(&sandbox, "endTimeUnixNano") <= time(&ready, "startTimeUnixNano"));
    assert!(time(&ready, "startTimeUnixNano") <= time(&ready, "endTimeUnixNano"));

    assert_eq!(attributes(failed)["error.type"], "E_RUNTIME");
    assert_eq!(failed["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(failed["parentSpanId"], "00f067aa0ba902b7");
    assert_eq!(
        attributes(&within("start", failed))["error.type"],
        "E_RUNTIME"
    );
    let bodies = collector.bodies.lock().unwrap().concat();
    assert!(!bodies.contains("canary"), "{bodies}");
    assert!(!bodies.contains("nosuchmodule"), "{bodies}");
}

#[test]
fn stages_are_counted_without_a_collector() {
    let bed = Bed::new(&[]);
    bed.done(&["run", "It says 'hello'"]);
    let metrics = bed.daemon("GET", "/metrics", "").body;
    for stage in ["plan", "scan", "start", "sandbox", "ready", "probes"] {
        let count = format!("mcpd_stage_duration_seconds_count{{stage=\"{stage}\"}} 1\n");
        assert!(metrics.contains(&count), "{metrics}");
    }
    assert!(metrics.contains("mcpd_client_sessions 0"), "{metrics}");
    assert!(!metrics.contains("mcpd_spans"), "{metrics}");
}

#[test]
fn a_collector_that_is_no_url_is_refused() {
    let mut bed = Bed::new(&[]);
    bed.kill();
    let refused = bed.mcp(&["mcpd", "--otlp", "ftp://127.0.0.1/"]);
    assert_eq!(refused.status.code(), Some(2));
    let errors = String::from_utf8(refused.stderr).unwrap();
    assert!(
        errors.contains("the collector `ftp://127.0.0.1/`"),
        "{errors}"
    );
}
