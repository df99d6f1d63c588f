//! Attacks through the program, by tables of `tests/attacks`: MCP servers that lie, and programs that want
//! more than their sandbox gives.

use crate::project::{Project, Run};
use crate::run_plan::server::{self, Request, Response, Server};
use crate::run_plan::{MCP, SHELL, evidence, index, mcp, output, project, step, summary};
use serde_json::{Value, json};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The longest time that an attack may hold up a run.
const LONGEST: Duration = Duration::from_secs(20);

/// Milliseconds that a step has.
const TIMEOUT_MS: u64 = 2500;

/// The attacks of a table.
fn table(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/attacks")
        .join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// Returns a text: a string, or parts, of which `[n, "x"]` is `x` so many times.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => match &parts[..] {
            [Value::Number(times), Value::String(part)] => {
                part.repeat(usize::try_from(times.as_u64().expect("a size")).expect("a size"))
            }
            parts => parts.iter().map(text).collect(),
        },
        other => panic!("{other} is no text"),
    }
}

/// Carries out every attack of a table, and reports all that do not end as they have to.
fn carry_out(name: &str, least: usize, attack: impl Fn(&Value)) {
    let rows = table(name);
    assert!(rows.len() >= least, "{}", rows.len());
    let failed = rows.iter().filter(|row| {
        let began = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| attack(row)));
        ended.is_err() || began.elapsed() > LONGEST
    });
    let failed: Vec<_> = failed.map(|row| row["name"].clone()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Asserts that a run ended in the code of its row, with evidence that can be read.
#[track_caller]
fn assert_code(row: &Value, project: &Project, run: &Run) {
    let found = &summary(project)["code"];
    let wanted = [&row["code"], row.get("or").unwrap_or(&row["code"])];
    assert!(
        wanted.contains(&found),
        "{}: {found}: {run:#?}",
        row["name"]
    );
    assert_eq!(run.code, Some(i32::from(!found.is_null())), "{run:#?}");
    // What a peer wrote gives a terminal no orders, and does not reorder what is shown.
    for shown in [&run.stdout, &run.stderr] {
        let is_order =
            |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!shown.contains(is_order), "{}: {shown:?}", row["name"]);
    }
    for entry in fs::read_dir(evidence(project).join("episodes")).expect("episodes") {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).expect("UTF-8");
        for line in text
            .lines()
            .filter(|_| path.extension().is_some_and(|it| it == "jsonl"))
        {
            serde_json::from_str::<Value>(line).expect("JSON");
        }
        assert!(
            text.len() < 200_000,
            "{} has {} bytes",
            path.display(),
            text.len()
        );
    }
}

#[test]
fn servers_that_lie_end_in_their_code() {
    carry_out("servers.json", 45, |row| {
        let at = row["at"].as_str().expect("a method").to_owned();
        let is_early = at != "tools/call";
        let lie = row.clone();
        let server = Server::start(move |request| answer(request, &at, &lie));
        let mut bindings = mcp(&server);
        bindings[0]["limits"] = json!({
            "timeout_ms": TIMEOUT_MS, "max_input_bytes": 4096, "max_output_bytes": 4096,
            "max_log_bytes": 256
        });
        let steps = json!([step(MCP, "search", json!({ "query": "mars" }))]);
        let project = project(bindings, steps);
        index(&project, &server, "Searches.");
        let run = project.agent("run-plan --plan plan.json");
        assert_code(row, &project, &run);
        let calls = server
            .methods()
            .iter()
            .filter(|it| *it == "tools/call")
            .count();
        assert_eq!(calls, usize::from(!is_early), "{}", row["name"]);
    });
}

/// Answers as a server does, but for one method.
fn answer(request: &Request, at: &str, lie: &Value) -> Response {
    let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
    if message["method"] != at {
        return server::mcp(request, "Searches.");
    }
    if lie.get("slow").is_some() {
        thread::sleep(Duration::from_secs(5));
    }
    let word = |member: &str, usual: &'static str| match lie[member].as_str() {
        // The responses of the server are constant texts.
        Some(word) => &*Box::leak(word.to_owned().into_boxed_str()),
        None => usual,
    };
    let body = text(&lie["text"]).replace("ID", &message["id"].to_string());
    (
        word("status", "200 OK"),
        word("type", "application/json"),
        body,
    )
}

#[test]
fn programs_that_attack_end_in_their_code() {
    carry_out("processes.json", 18, |row| {
        let server = Server::start(|_| ("200 OK", "text/plain", String::new()));
        let port = server
            .origin()
            .rsplit(':')
            .next()
            .expect("a port")
            .to_owned();
        let program = text(&row["program"]).replace("PORT", &port);
        let bindings = json!([{
            "connector_id": SHELL, "tool_id": "run", "driver_kind": "restricted_shell",
            "programs": [{ "path": "/usr/bin/python3", "arguments": ["-c", "[^\\u0000]*"] }],
            "limits": {
                "timeout_ms": TIMEOUT_MS, "max_input_bytes": 4096, "max_output_bytes": 4096,
                "max_log_bytes": 256
            }
        }]);
        let input = json!({ "program": "/usr/bin/python3", "arguments": ["-c", program] });
        let project = project(bindings, json!([step(SHELL, "run", input)]));
        let run = project.agent("run-plan --plan plan.json");
        assert_code(row, &project, &run);
        if let (Some(prints), true) = (row["prints"].as_str(), run.code == Some(0)) {
            let stdout = output(&project, "run")["stdout"].clone();
            assert_eq!(
                stdout.as_str().map(str::trim),
                Some(prints),
                "{}",
                row["name"]
            );
        }
        assert_eq!(server.requests().len(), 0, "{}", row["name"]);
        let log = fs::read(evidence(&project).join("logs/run.log")).expect("a log");
        assert!(
            log.len() <= 256,
            "{}: {} bytes of log",
            row["name"],
            log.len()
        );
    });
}
