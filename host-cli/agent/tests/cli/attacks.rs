//! Attacks through the program, by tables of `tests/attacks`: servers that lie, programs that want more than
//! their sandbox gives, and names that lead out of the folder of the evidence.

use crate::project::{Project, Run};
use crate::run_plan::server::{self, Request, Response, Server};
use crate::run_plan::{
    HTTP, MCP, NOOP, SHELL, evidence, index, mcp, operator, output, project, read, run_as_operator,
    runs, started, step, summary,
};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time that an attack may hold up a run.
const LONGEST: Duration = Duration::from_secs(20);

/// Milliseconds that a step has.
const TIMEOUT_MS: u64 = 2500;

/// Returns the milliseconds that a step has: few if all of them pass, and else enough for a busy machine.
fn timeout_ms(row: &Value) -> u64 {
    match row["code"] == "timeout" {
        true => TIMEOUT_MS,
        false => 15_000,
    }
}

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
            "timeout_ms": timeout_ms(row), "max_input_bytes": 4096, "max_output_bytes": 4096,
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
                "timeout_ms": timeout_ms(row), "max_input_bytes": 4096, "max_output_bytes": 4096,
                "max_log_bytes": 256
            }
        }]);
        let input = json!({ "program": "/usr/bin/python3", "arguments": ["-c", program] });
        let project = project(bindings, json!([step(SHELL, "run", input)]));
        let run = project.agent("run-plan --plan plan.json");
        assert_code(row, &project, &run);
        let log = read(&project, "logs/run.log");
        if let Some(says) = row["says"].as_str() {
            assert!(log.contains(says), "{}: {log}", row["name"]);
        }
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
        assert!(
            log.len() <= 256,
            "{}: {} bytes of log",
            row["name"],
            log.len()
        );
    });
}

/// A server on loopback that answers every connection with the bytes of an attack.
struct Liar {
    origin: String,
    /// The number of its connections.
    connections: Arc<AtomicUsize>,
}

impl Liar {
    fn start(attack: &Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let text = text(&attack["text"]).replace("ORIGIN", &origin);
        let connections = Arc::new(AtomicUsize::new(0));
        let (count, attack) = (Arc::clone(&connections), attack.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let (text, attack) = (text.clone(), attack.clone());
                // A client that has gone is no failure.
                thread::spawn(move || answer_raw(stream, &text, &attack).ok());
            }
        });
        Self {
            origin,
            connections,
        }
    }
}

/// Answers a request with a text; then with more of it, until the client goes, or with silence or the end.
fn answer_raw(mut stream: TcpStream, text: &str, attack: &Value) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head)? > 0 {}
    stream.write_all(text.as_bytes())?;
    if let Some(more) = attack["more"].as_str() {
        let pause = Duration::from_millis(attack["pause"].as_u64().expect("a pause"));
        loop {
            stream.write_all(more.as_bytes())?;
            thread::sleep(pause);
        }
    }
    if attack.get("ends").is_none() {
        while reader.read_line(&mut head)? > 0 {}
    }
    Ok(())
}

#[test]
fn responses_that_lie_end_in_their_code() {
    carry_out("responses.json", 35, |row| {
        let liar = Liar::start(row);
        let bindings = json!([{
            "connector_id": HTTP, "tool_id": "get", "driver_kind": "http", "methods": ["GET"],
            "destinations": [liar.origin], "non_public_addresses": ["127.0.0.1"],
            "limits": {
                "timeout_ms": timeout_ms(row), "max_input_bytes": 4096, "max_output_bytes": 4096,
                "max_log_bytes": 256
            }
        }]);
        let input = json!({ "method": "GET", "url": liar.origin });
        let project = project(bindings, json!([step(HTTP, "get", input)]));
        let run = project.agent("run-plan --plan plan.json");
        assert_code(row, &project, &run);
        if let Some(status) = row.get("status") {
            assert_eq!(output(&project, "get")["status"], *status);
        }
        // Nothing is followed, and nothing is repeated.
        assert_eq!(
            liar.connections.load(Ordering::SeqCst),
            1,
            "{}",
            row["name"]
        );
    });
}

/// A server over its standard streams that lies at one method: its arguments are the method, a file with its
/// answer, a file with its errors, and whether it ends then.
const STDIO_LIAR: &str = r#"
import json, sys, time
_, at, text, errors, ends = sys.argv
for line in sys.stdin:
    message = json.loads(line)
    method, result = message.get("method"), None
    if method == at:
        sys.stderr.write(open(errors).read())
        sys.stderr.flush()
        out = open(text, "rb").read().replace(b"ID", json.dumps(message["id"]).encode())
        sys.stdout.buffer.write(out)
        sys.stdout.buffer.flush()
        if ends == "true":
            sys.exit()
    elif method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "acme", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "search", "description": "Searches.", "inputSchema": {
            "type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}]}
    if result is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    elif method is not None and method != at and "id" in message:
        error = {"code": -32601, "message": "unknown"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
"#;

/// Returns the bytes of an attack, given as text or in hexadecimal.
fn bytes(row: &Value) -> Vec<u8> {
    match row["hex"].as_str() {
        None => text(&row["text"]).into_bytes(),
        Some(hex) => {
            let digits = hex
                .as_bytes()
                .chunks(2)
                .map(|it| std::str::from_utf8(it).unwrap());
            digits
                .map(|it| u8::from_str_radix(it, 16).unwrap())
                .collect()
        }
    }
}

#[test]
fn servers_over_streams_that_lie_end_in_their_code() {
    carry_out("stdio.json", 40, |row| {
        let project = started("mars");
        let pool = project.read("tool-pool.json");
        let limit = format!("\"timeout_ms\":{}", timeout_ms(row));
        let limited = pool.replace("\"timeout_ms\":20000", &limit);
        assert_ne!(limited, pool);
        project.write("tool-pool.json", limited);
        let folder = project.path("operator").display().to_string();
        let at = row["at"].as_str().expect("a method");
        let configuration = format!(
            "servers:\n  acme:\n    command: [/usr/bin/python3, {folder}/server.py]\n    \
             arguments: [\"{at}\", {folder}/text, {folder}/errors, \"{}\"]\n    \
             read: [{folder}/server.py, {folder}/text, {folder}/errors]\n",
            row.get("ends").is_some()
        );
        operator(&project, &configuration);
        project.write("operator/server.py", STDIO_LIAR);
        project.write("operator/text", bytes(row));
        let errors = row.get("errors").map(text).unwrap_or_default();
        project.write("operator/errors", errors);
        let run = run_as_operator(&project);
        assert_code(row, &project, &run);
        let log = read(&project, "logs/search.log");
        assert!(
            log.len() <= 256,
            "{}: {} bytes of log",
            row["name"],
            log.len()
        );
    });
}

/// Returns all files and folders below a folder, by their paths.
fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if fs::symlink_metadata(&path).unwrap().is_dir() {
                folders.push(path.clone());
            }
            all.push(path);
        }
    }
    all.sort();
    all
}

/// A project with a step that keeps its input.
fn keeper() -> Project {
    let bindings = json!([{ "connector_id": NOOP, "tool_id": "keep", "driver_kind": "noop" }]);
    project(bindings, json!([step(NOOP, "keep", json!(1))]))
}

#[test]
fn names_that_are_paths_end_in_their_code() {
    carry_out("paths.json", 30, |row| {
        let project = keeper();
        let mut plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
        let value = match row.get("value") {
            Some(value) => json!(text(value)),
            None => row["number"].clone(),
        };
        match row["at"].as_str() {
            Some("step_id") => plan["plan"]["steps"][0]["step_id"] = value,
            _ => plan["plan"]["request_id"] = value,
        }
        project.write("plan.json", plan.to_string());
        let root = project.path("..").canonicalize().unwrap();
        let before = all_below(&root);
        let run = project.agent("run-plan --plan plan.json");
        assert_code(row, &project, &run);
        let artifacts = root.join("work/artifacts");
        let outside = all_below(&root).into_iter();
        let outside: Vec<_> = outside.filter(|it| !it.starts_with(&artifacts)).collect();
        assert_eq!(outside, before, "{}", row["name"]);
        assert_eq!(runs(&project).len(), 1);
    });
}

#[test]
fn evidence_is_not_written_through_links() {
    for link in ["mova_agent", "mova_agent/req", "mova_agent/req/runs"] {
        for target in ["elsewhere", "missing", "a-file"] {
            let project = keeper();
            fs::create_dir(project.path("elsewhere")).unwrap();
            project.write("a-file", "old");
            let link = project.path("artifacts").join(link);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(project.path(target), &link).unwrap();
            let before = all_below(&project.path(""));
            let ended = project.agent("run-plan --plan plan.json").exits(2);
            let ended = ended
                .notes("evidence can't be stored")
                .notes("is a symbolic link, which leads elsewhere");
            drop(ended);
            assert_eq!(all_below(&project.path("")), before);
            assert_eq!(project.read("a-file"), "old");
        }
    }
    // The user may name a link; the usual folder may be foreign.
    let project = keeper();
    fs::create_dir(project.path("elsewhere")).unwrap();
    symlink(project.path("elsewhere"), project.path("artifacts")).unwrap();
    symlink(project.path("elsewhere"), project.path("named")).unwrap();
    let refused = project.agent("run-plan --plan plan.json").exits(2);
    drop(refused.notes("`artifacts` is a symbolic link, which leads elsewhere"));
    assert!(!project.has("elsewhere/mova_agent"));
    project
        .agent("run-plan --plan plan.json --artifacts named")
        .exits(0);
    assert!(project.has("elsewhere/mova_agent/req"));
}
