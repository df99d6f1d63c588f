//! Options of the daemon, commands without one, and failures as JSON.

use crate::bed::{Bed, PATIENCE, get, supervisors};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Output, Stdio};
use std::sync::mpsc::channel;
use std::thread;

/// Returns a folder of tasks that no daemon serves.
fn idle() -> Bed {
    let mut bed = Bed::new(&[]);
    bed.kill();
    bed
}

fn json_of(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{output:?}"))
}

/// Asserts that a command failed, with its failure as the response of a verb.
#[track_caller]
fn failed(output: &Output, exit: i32, code: &str, says: &str) {
    assert_eq!(output.status.code(), Some(exit), "{output:?}");
    let response = json_of(output);
    assert_eq!(response["ok"], false, "{response}");
    assert_eq!(response["version"], "v1", "{response}");
    assert_eq!(response["error"]["code"], code, "{response}");
    let message = response["error"]["message"].as_str().unwrap();
    assert!(message.contains(says), "{message}");
    assert!(response["error"]["hints"].is_array(), "{response}");
}

#[test]
fn a_prompt_gives_the_terminal_of_a_list_no_orders() {
    let bed = Bed::new(&[]);
    let prompt = "says \u{1b}]0;TITLE\u{7}\u{1b}[31m \u{202e}";
    let plan = bed.verb("plan.create", None, &json!({ "prompt": prompt }));
    assert_eq!(plan["ok"], true, "{plan}");
    let list = bed.done(&["list"]);
    assert_eq!(list.lines().count(), 1, "{list:?}");
    assert!(list.contains("TITLE"), "{list:?}");
    let is_order = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!list.contains(is_order), "{list:?}");
}

#[test]
fn only_commands_that_need_a_daemon_start_one() {
    let bed = idle();
    let is_idle = || !bed.path(".mcpd/.state/daemon.json").exists();
    fs::remove_file(bed.path(".mcpd/.state/daemon.json")).unwrap();
    assert_eq!(bed.done(&["list"]), "");
    assert_eq!(
        bed.done(&["--root", "none", "list", "--format", "json"]),
        "{\"tasks\":[]}\n"
    );
    assert!(!bed.path("none").exists());
    for command in [
        &["open", "ab12cd"][..],
        &["export", "ab12cd", "x"],
        &["kill", "ab12cd"],
    ] {
        let output = bed.mcp(&[command, &["--format", "json"]].concat());
        failed(&output, 1, "E_PLAN", "there is no task `ab12cd`");
        assert_eq!(json_of(&output)["error"]["task_id"], "ab12cd");
        assert!(is_idle(), "{command:?}");
    }
    assert_eq!(bed.mcp(&["mcpd", "--stop"]).status.code(), Some(1));
}

#[test]
fn tasks_are_listed_exported_and_ended_without_a_daemon() {
    let mut bed = Bed::new(&[]);
    bed.done(&["run", "It says 'hello'"]);
    let id = bed.tasks()[0]["task_id"].as_str().unwrap().to_owned();
    let stopped = bed.mcp(&["mcpd", "--stop"]);
    assert_eq!(stopped.status.code(), Some(0), "{stopped:?}");
    bed.ended();
    assert!(!bed.path(".mcpd/.state/daemon.json").exists());
    // The app runs on.
    assert_eq!(supervisors(&bed.path("")).len(), 1);
    let task = bed.task(&id);
    assert_eq!(
        (&task["state"], &task["url"]),
        (&json!("ready"), &Value::Null),
        "{task}"
    );
    let folder = bed.done(&["open", &id]);
    assert_eq!(folder.trim(), task["artifact_dir"].as_str().unwrap());
    bed.done(&["export", &id, "exported"]);
    assert!(bed.path("exported/app.py").exists());
    bed.done(&["kill", &id]);
    assert!(supervisors(&bed.path("")).is_empty());
    assert_eq!(bed.task(&id)["state"], "ended");
    bed.start(&[]);
    assert_eq!(bed.task(&id)["state"], "ended");
}

#[test]
fn a_daemon_keeps_its_port_between_starts() {
    let mut bed = Bed::new(&[]);
    let first = bed.address();
    bed.kill();
    bed.start(&[]);
    assert_eq!(bed.address(), first);
    bed.kill();
    // Another program takes it in the meantime.
    let taken = TcpListener::bind(&first).unwrap();
    bed.start(&[]);
    assert_ne!(bed.address(), first);
    bed.kill();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = bed.mcp(&["mcpd", "--port", "0", "--listen", &port]);
    assert_eq!(refused.status.code(), Some(2));
    let errors = String::from_utf8(refused.stderr).unwrap();
    assert!(errors.contains("--listen"), "{errors}");
    drop(taken);
    bed.start(&["--listen", &port]);
    assert_eq!(bed.address(), first);
}

#[test]
fn failures_are_json_where_json_is_asked_for() {
    let bed = Bed::new(&[]);
    let run = |prompt: &str, more: &[&str]| {
        bed.mcp(&[&["run", prompt, "--format", "json"], more].concat())
    };
    failed(
        &run("predict the weather", &[]),
        1,
        "E_PLAN",
        "no service for the prompt",
    );
    failed(&run("hello", &["--lang", "cobol"]), 2, "E_PLAN", "cobol");
    failed(
        &run("hello", &["--policy-file", "none.yaml"]),
        2,
        "E_RUNTIME",
        "options of its own",
    );
    fs::write(
        bed.path(".mcpd/policy.yaml"),
        "policies:\n  verbs:\n    fs.apply: deny\n",
    )
    .unwrap();
    let denied = run("hello", &[]);
    failed(&denied, 1, "E_POLICY", "the policy denies `fs.apply`");
    assert_eq!(
        json_of(&denied)["error"]["hints"].as_array().unwrap().len(),
        1
    );
    let file = bed.path("file");
    fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    failed(
        &bed.mcp(&["--root", file, "run", "x", "--format", "json"]),
        2,
        "E_FS",
        "file",
    );
    failed(
        &bed.mcp(&["--root", file, "list", "--format=json"]),
        2,
        "E_FS",
        "file",
    );
    // A person gets no JSON.
    let denied = bed.mcp(&["run", "hello"]);
    assert_eq!((denied.status.code(), denied.stdout.len()), (Some(1), 0));
}

/// A server with the interface of OpenAI, which answers each request with a plan. Returns its URL, and its requests.
fn model(plan: &Value) -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let message = json!({ "role": "assistant", "content": plan.to_string() });
    let choice = json!({ "index": 0, "finish_reason": "stop", "message": message });
    let body = json!({ "id": "x", "object": "chat.completion", "choices": [choice] }).to_string();
    let (sender, requests) = channel();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut reader = BufReader::new(connection.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut request = vec![0; length];
            reader.read_exact(&mut request).unwrap();
            let _ = sender.send(head + &String::from_utf8(request).unwrap());
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            connection.write_all(answer.as_bytes()).unwrap();
        }
    });
    (url, requests)
}

#[test]
fn a_model_plans_apps() {
    let app = "import os, http.server as h\nclass A(h.BaseHTTPRequestHandler):\n def do_GET(s):\n  s.send_response(200); s.end_headers(); s.wfile.write(b'planned')\nh.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), A).serve_forever()\n";
    let plan = json!({ "files": [{ "path": "app.py", "content": app }], "start": "python app.py", "lang": "python" });
    let (url, requests) = model(&plan);
    let mut bed = idle();
    let config = bed.path("config/agent");
    fs::create_dir_all(&config).unwrap();
    let key = config.join("key");
    fs::write(&key, "sk-of-a-test\n").unwrap();
    let operator = format!("secrets:\n  MODEL_KEY: {{ file: {} }}\n", key.display());
    fs::write(config.join("servers.local.yaml"), operator).unwrap();
    let of_model = [
        "--planner-url",
        &url,
        "--planner-model",
        "small",
        "--planner-key",
        "MODEL_KEY",
    ];
    for planner in [&[][..], &["--planner", "openai"]] {
        bed.start(&[&of_model[..], planner].concat());
        let answer = get(bed.done(&["run", "an app that is 'planned'"]).trim());
        assert_eq!(answer.body, "planned");
        let request = requests.recv_timeout(PATIENCE).unwrap();
        assert!(
            request.starts_with("POST /v1/chat/completions "),
            "{request}"
        );
        assert!(
            request
                .to_lowercase()
                .contains("authorization: bearer sk-of-a-test"),
            "{request}"
        );
        assert!(
            request.contains("\"small\"") && request.contains("an app that is"),
            "{request}"
        );
        bed.kill();
    }
    // The daemon that a command starts gets its options.
    let started = [&["run", "an app that is 'planned'"], &of_model[..]].concat();
    bed.done(&started);
    assert!(requests.recv_timeout(PATIENCE).is_ok());
    let again = bed.mcp(&started);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    assert_eq!(bed.mcp(&["mcpd", "--stop"]).status.code(), Some(0));

    for (options, says) in [
        (&["--planner", "openai"][..], "has no server"),
        (
            &["--planner", "openai", "--idle", "1"],
            "all words after it",
        ),
        (&["--planner-url", &url], "--planner-model"),
        (
            &["--planner-url", "ftp://x", "--planner-model", "m"],
            "the planner: the base URL",
        ),
        (
            &[&of_model[..4], &["--planner-key", "MISSING"]].concat(),
            "no secret `MISSING`",
        ),
    ] {
        let refused = bed.mcp(&[&["mcpd"], options].concat());
        assert_eq!(refused.status.code(), Some(2), "{options:?}");
        let errors = String::from_utf8(refused.stderr).unwrap();
        assert!(errors.contains(says), "{errors}");
    }
}

#[test]
fn a_client_over_standard_streams_is_served_by_the_running_daemon() {
    let mut bed = Bed::new(&[]);
    let own = bed.verb("plan.create", None, &json!({ "prompt": "hello" }));
    let mut client = bed.command(&["mcpd", "--stdio"]);
    let client = client.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut client = client.stderr(Stdio::null()).spawn().unwrap();
    let (mut input, output) = (client.stdin.take().unwrap(), client.stdout.take().unwrap());
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
        serde_json::from_str::<Value>(&line).unwrap()["result"].clone()
    };
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let opened = ask(1, "initialize", hello);
    assert_eq!(opened["serverInfo"]["name"], "assertlang-mcpd", "{opened}");
    assert_eq!(
        ask(2, "tools/list", json!({}))["tools"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    let mut call = |id: u64, name: &str, arguments: Value| {
        ask(
            id,
            "tools/call",
            json!({ "name": name, "arguments": arguments }),
        )
    };
    let plan = call(3, "plan.create", json!({ "prompt": "It says 'forwarded'" }));
    assert_eq!(plan["isError"], false, "{plan}");
    let plan = &plan["structuredContent"]["data"];
    // A client does not find the task of the other client.
    let applied = call(4, "fs.apply", json!({ "writes": plan["files"] }));
    assert_eq!(applied["isError"], false, "{applied}");
    let other = call(
        5,
        "fs.apply",
        json!({ "writes": [], "task_id": own["data"]["task_id"] }),
    );
    assert_eq!(
        other["structuredContent"]["error"]["code"], "E_PLAN",
        "{other}"
    );
    let id = plan["task_id"].as_str().unwrap();
    let task = bed.task(id);
    assert_eq!(
        (&task["state"], &task["client"]),
        (&json!("applied"), &json!("stdio"))
    );
    bed.kill();
    let lost = call(6, "run.start", json!({ "cmd": plan["start"] }));
    assert_eq!(lost["isError"], true, "{lost}");
    assert_eq!(
        lost["structuredContent"]["error"]["code"], "E_NETWORK",
        "{lost}"
    );
    drop(input);
    assert!(client.wait().unwrap().success());
}

#[test]
fn a_port_hint_that_the_planner_ignores_is_stated() {
    let bed = Bed::new(&[]);
    let input = json!({ "prompt": "hello", "constraints": { "port_hint": 8123 } });
    let plan = bed.verb("plan.create", None, &input);
    let assumptions = plan["data"]["assumptions"].as_array().unwrap();
    let ignored = "the planner ignored `port_hint` 8123: the app listens where `PORT` says";
    assert_eq!(assumptions.last().unwrap(), ignored, "{plan}");
}
