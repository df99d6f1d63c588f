//! Apps in Rust: components that no process runs.

use crate::bed::{Bed, PATIENCE, get, request, supervisors};
use agent_pack::{Toolchain, Workspace};
use serde_json::{Value, json};
use std::env;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

/// Starts a daemon that finds the toolchain for wasm.
fn bed() -> Bed {
    bed_with(&[])
}

fn bed_with(options: &[&str]) -> Bed {
    let workspace = Workspace::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let toolchain = Toolchain::find(&workspace).unwrap();
    let present = env::var_os("PATH").unwrap_or_default();
    let folders = [toolchain.bin]
        .into_iter()
        .chain(env::split_paths(&present));
    Bed::with_path(Some(env::join_paths(folders).unwrap()), options)
}

fn run(bed: &Bed, prompt: &str) -> (String, String) {
    let url = bed.done(&["run", "--lang", "rust", prompt]);
    let url = url.trim().to_owned();
    let tasks = bed.tasks();
    let task = tasks.iter().find(|task| task["url"] == *url).unwrap();
    (task["task_id"].as_str().unwrap().to_owned(), url)
}

/// Opens a task in Rust whose source is another one.
fn task(bed: &Bed, source: &str) -> String {
    let plan = json!({ "prompt": "hello", "constraints": { "lang_hint": ["rust"] } });
    let plan = bed.verb("plan.create", None, &plan);
    let id = plan["data"]["task_id"].as_str().unwrap().to_owned();
    let mut writes = plan["data"]["files"].as_array().unwrap().clone();
    for file in &mut writes {
        if file["path"] == "src/lib.rs" {
            file["content"] = source.into();
        }
    }
    let applied = bed.verb("fs.apply", Some(&id), &json!({ "writes": writes }));
    assert_eq!(applied["ok"], true, "{applied}");
    id
}

fn start(bed: &Bed, id: &str, more: Value) -> Value {
    let mut input = json!({ "cmd": "cargo run --release" });
    input
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    bed.verb("run.start", Some(id), &input)
}

/// Opens a task with a build script. Returns its id.
fn built_with(bed: &Bed, script: &str) -> String {
    let plan = json!({ "prompt": "hello", "constraints": { "lang_hint": ["rust"] } });
    let plan = bed.verb("plan.create", None, &plan);
    let id = plan["data"]["task_id"].as_str().unwrap().to_owned();
    let mut writes = plan["data"]["files"].as_array().unwrap().clone();
    writes.push(json!({ "path": "build.rs", "content": script }));
    let applied = bed.verb("fs.apply", Some(&id), &json!({ "writes": writes }));
    assert_eq!(applied["ok"], true, "{applied}");
    id
}

/// Opens a task whose build waits, and sends the request for its start. Returns its id and the connection.
fn slow_start(bed: &Bed, seconds: u64) -> (String, TcpStream) {
    let wait =
        format!("fn main() {{ std::thread::sleep(std::time::Duration::from_secs({seconds})) }}\n");
    let id = built_with(bed, &wait);
    let token = fs::read_to_string(bed.path(".mcpd/.state/token")).unwrap();
    let body = json!({ "task_id": id, "input": { "cmd": "cargo run --release" } }).to_string();
    let (address, length) = (bed.address(), body.len());
    let mut stream = TcpStream::connect(&address).unwrap();
    let token = token.trim();
    let head = format!(
        "POST /verbs/run.start HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .unwrap();
    bed.eventually("the app is built", || {
        (bed.task(&id)["state"] == "installing").then_some(())
    });
    (id, stream)
}

#[test]
fn a_client_that_leaves_ends_no_start() {
    let bed = bed();
    let (id, stream) = slow_start(&bed, 3);
    drop(stream);
    bed.eventually("the app is ready", || {
        let task = bed.task(&id);
        let state = task["state"].as_str().unwrap();
        assert!(
            ["installing", "starting", "ready"].contains(&state),
            "{task}"
        );
        (state == "ready").then_some(())
    });
    assert_eq!(get(&bed.app_url(&id)).status, 200);
}

#[test]
fn a_build_that_fills_the_disk_is_ended() {
    let bed = bed();
    let fill = "fn main() {
    let folder = std::env::var(\"OUT_DIR\").unwrap();
    for number in 0..u64::MAX {
        let _ = std::os::unix::fs::symlink(\"none\", format!(\"{folder}/{number}\"));
    }
}
";
    let id = built_with(&bed, fill);
    let failed = start(&bed, &id, json!({}));
    assert_eq!(failed["error"]["code"], "E_BUILD", "{failed}");
    let message = failed["error"]["message"].as_str().unwrap();
    assert_eq!(message, "the build exceeded its limit `files`");
    assert!(!bed.path(&format!(".mcpd/.state/builds/{id}")).exists());
}

#[test]
fn the_end_of_a_task_ends_its_build() {
    let bed = bed();
    let (id, mut stream) = slow_start(&bed, 600);
    bed.done(&["kill", &id]);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("E_RUNTIME"), "{answer}");
    assert!(answer.contains("the task was ended"), "{answer}");
    assert_eq!(bed.task(&id)["state"], "ended");
    assert!(!bed.path(&format!(".mcpd/.state/builds/{id}")).exists());
}

#[test]
fn a_service_is_built_served_changed_and_ended() {
    let mut bed = bed();
    let prompt = "Create a web service that responds 'Hello, World!'";
    let (id, url) = run(&bed, prompt);
    assert_eq!(get(&url).body, "Hello, World!");
    for artifact in ["manifest.json", "run.log", "probes.log", "plan.json"] {
        assert!(
            bed.path(&format!(".mcpd/{id}/{artifact}")).exists(),
            "{artifact}"
        );
    }
    let log = fs::read_to_string(bed.path(&format!(".mcpd/{id}/run.log"))).unwrap();
    assert!(log.contains("Compiling app v0.1.0"), "{log}");
    // Nothing runs but the supervisor.
    let [supervisor] = supervisors(&bed.path(""))[..] else {
        panic!("one supervisor");
    };
    let children = fs::read_to_string(format!("/proc/{supervisor}/task/{supervisor}/children"));
    assert_eq!(children.unwrap(), "");

    // The app outlives its daemon.
    bed.kill();
    bed.start(&[]);
    let url = bed.task(&id)["url"].as_str().unwrap().to_owned();
    let direct = bed.task(&id)["direct_url"].as_str().unwrap().to_owned();
    assert_eq!(get(&url).body, "Hello, World!");
    assert_eq!(get(&direct).body, "Hello, World!");

    bed.done(&["change", &id, "say 'Changed'"]);
    assert_eq!(get(&url).body, "Changed");
    // A change whose app does not pass is taken back.
    let before = fs::read_to_string(bed.path(&format!(".mcpd/{id}/source/src/lib.rs"))).unwrap();
    assert_eq!(
        bed.mcp(&["change", &id, "make it a store that says 'no'"])
            .status
            .code(),
        Some(1)
    );
    let after = fs::read_to_string(bed.path(&format!(".mcpd/{id}/source/src/lib.rs"))).unwrap();
    assert_eq!(after, before);
    assert_eq!(get(&url).body, "Changed");

    bed.done(&["kill", &id]);
    assert_eq!(get(&url).status, 410);
    assert!(supervisors(&bed.path("")).is_empty());
    assert!(!bed.path(&format!(".mcpd/.state/builds/{id}")).exists());
}

#[test]
fn services_do_what_they_are_for() {
    let bed = bed();
    let (_, store) = run(&bed, "A key-value store");
    let key = format!("{store}a");
    assert_eq!(get(&key).status, 404);
    assert_eq!(request("PUT", &key, &[], "1").status, 204);
    assert_eq!(get(&key).body, "1");
    assert_eq!(get(&store).body, "/a");
    assert_eq!(
        request("PUT", &key, &[], &"x".repeat((1 << 20) + 1)).status,
        413
    );
    assert_eq!(get(&key).body, "1");
    assert_eq!(request("DELETE", &key, &[], "").status, 204);
    assert_eq!(request("DELETE", &key, &[], "").status, 404);
    assert_eq!(request("POST", &key, &[], "").status, 405);
}

#[test]
fn errors_of_the_compiler_are_reported() {
    let bed = bed();
    let id = task(
        &bed,
        "mod wasi;\nfn handle(_: wasi::Request) -> wasi::Response {\n    missing()\n}\n",
    );
    let failed = start(&bed, &id, json!({}));
    assert_eq!(failed["error"]["code"], "E_BUILD", "{failed}");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("error[E0425]"), "{message}");
    assert!(message.contains("(src/lib.rs:3:5)"), "{message}");
    let log = fs::read_to_string(bed.path(&format!(".mcpd/{id}/run.log"))).unwrap();
    assert!(log.contains("cannot find function `missing`"), "{log}");
    assert_eq!(bed.task(&id)["state"], "failed");

    let answers_nothing = "#[no_mangle]\npub extern \"C\" fn other() {}\n";
    for (source, reason) in [
        (answers_nothing, "exports no `wasi:http/incoming-handler`"),
        ("", ""),
    ] {
        let id = task(&bed, source);
        let failed = start(&bed, &id, json!({}));
        assert_eq!(failed["error"]["code"], "E_BUILD", "{failed}");
        let message = failed["error"]["message"].as_str().unwrap();
        assert!(message.contains(reason), "{message}");
    }

    let id = task(&bed, "");
    for (more, reason) in [
        (json!({ "cmd": "./app" }), "starts no app in Rust"),
        (
            json!({ "ready": { "regex": "listening" } }),
            "prints nothing before its first request",
        ),
    ] {
        let failed = start(&bed, &id, more);
        assert_eq!(failed["error"]["code"], "E_PLAN", "{failed}");
        let message = failed["error"]["message"].as_str().unwrap();
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn a_build_reaches_neither_files_nor_a_network() {
    let bed = bed();
    fs::write(bed.path("secret"), "secret").unwrap();
    let id = task(
        &bed,
        "mod wasi;\nmod world;\nfn handle(_: wasi::Request) -> wasi::Response {\n    wasi::response(200, \"text/plain\", env!(\"REPORT\"))\n}\n",
    );
    let secret = bed.path("secret").display().to_string();
    let cache = env::home_dir()
        .unwrap()
        .join(".cache/agent")
        .display()
        .to_string();
    let build = format!(
        r#"use std::fs;
use std::net::TcpStream;

fn main() {{
    let read = fs::read({secret:?}).is_ok();
    let written = fs::write("{cache}/apps/x.cwasm", "x").is_ok() || fs::write("/usr/x", "x").is_ok();
    let connected = TcpStream::connect({address:?}).is_ok();
    let own = fs::write("/app/own", "x").is_ok();
    println!("cargo::rustc-env=REPORT={{read}} {{written}} {{connected}} {{own}}");
}}
"#,
        address = bed.address()
    );
    let writes = json!({ "writes": [{ "path": "build.rs", "content": build }] });
    assert_eq!(bed.verb("fs.apply", Some(&id), &writes)["ok"], true);
    let started = start(&bed, &id, json!({}));
    assert_eq!(started["ok"], true, "{started}");
    let url = bed.task(&id)["url"].as_str().unwrap().to_owned();
    assert_eq!(get(&url).body, "false false false true");
    // What the build wrote is as untrusted as the app.
    assert!(!bed.path(&format!(".mcpd/{id}/source/own")).exists());
    assert!(bed.path(&format!(".mcpd/.state/work/{id}/own")).exists());
}

#[test]
fn a_request_that_exceeds_its_limits_fails_alone() {
    let bed = bed();
    let source = r#"
mod wasi;
mod world;

fn handle(request: wasi::Request) -> wasi::Response {
    match &*request.path {
        "/spin" => loop {
            std::hint::black_box(0);
        },
        "/bomb" => {
            let mut kept = Vec::new();
            loop {
                kept.push(std::hint::black_box(vec![1_u8; 1 << 20]));
            }
        }
        "/trap" => panic!("on purpose"),
        _ => wasi::response(200, "text/plain", "lives"),
    }
}
"#;
    let id = task(&bed, source);
    let limits = json!({ "limits": { "mem_mb": 32, "cpu_pct": 80, "wall_sec": 300 } });
    let started = start(&bed, &id, limits);
    assert_eq!(started["ok"], true, "{started}");
    let [supervisor] = supervisors(&bed.path(""))[..] else {
        panic!("one supervisor");
    };
    assert_eq!(started["data"]["pid"], supervisor);
    assert_eq!(
        started["data"]["unenforced"]
            .as_array()
            .map(Vec::len)
            .unwrap_or(0),
        0
    );
    let url = bed.task(&id)["url"].as_str().unwrap().to_owned();
    for (path, reason) in [
        ("spin", "units of fuel"),
        ("bomb", "its memory limit of 32 MiB"),
        ("trap", "the app stopped"),
    ] {
        assert_eq!(get(&format!("{url}{path}")).status, 500, "{path}");
        assert_eq!(get(&url).body, "lives", "after {path}");
        let log = fs::read_to_string(bed.path(&format!(".mcpd/{id}/run.log"))).unwrap();
        let line = log
            .lines()
            .find(|line| line.contains(&format!("GET /{path}: ")));
        let line = line.unwrap_or_else(|| panic!("{path}: {log}"));
        assert!(
            line.starts_with("mcpd: E_RUNTIME: ") && line.contains(reason),
            "{line}"
        );
    }
}

#[test]
fn an_app_ends_when_nobody_uses_it_and_when_its_time_is_over() {
    let bed = bed_with(&["--idle", "2"]);
    let (id, url) = run(&bed, "It says 'hello'");
    bed.eventually("the idle app ends", || {
        (bed.task(&id)["state"] == "ended").then_some(())
    });
    assert_eq!(get(&url).status, 410);
    let id = task(
        &bed,
        "mod wasi;\nmod world;\nfn handle(_: wasi::Request) -> wasi::Response {\n    wasi::response(200, \"\", \"\")\n}\n",
    );
    let started = start(&bed, &id, json!({ "limits": { "wall_sec": 1 } }));
    assert_eq!(started["ok"], true, "{started}");
    bed.eventually("the app reaches its limit", || {
        (bed.task(&id)["state"] != "ready").then_some(())
    });
    let run = fs::read_to_string(bed.path(&format!(".mcpd/.state/{id}.run.json"))).unwrap();
    let run: Value = serde_json::from_str(&run).unwrap();
    assert_eq!(
        run["end"]["cause"],
        json!({ "kind": "limit", "limit": "wall_sec" })
    );
}

#[test]
fn an_app_is_built_from_files_that_it_may_only_read() {
    let bed = bed();
    let policy = "policies:\n  tools:\n    filesystem: readonly\n";
    fs::write(bed.path(".mcpd/policy.yaml"), policy).unwrap();
    let (_, url) = run(&bed, "It says 'read only'");
    assert_eq!(get(&url).body, "read only");
}

/// The crate comes from the public registry.
#[test]
fn an_app_is_built_with_its_crates() {
    let bed = bed();
    let id = task(&bed, "");
    let source = |path: &str| bed.path(&format!(".mcpd/{id}/source/{path}"));
    let read = |path: &str| fs::read_to_string(source(path)).unwrap();
    // The lock of the template has no crates.
    fs::remove_file(source("Cargo.lock")).unwrap();
    let manifest = format!("{}\n[dependencies]\nitoa = \"1\"\n", read("Cargo.toml"));
    let hello = bed.verb(
        "plan.create",
        None,
        &json!({ "prompt": "It says 'hello'", "constraints": { "lang_hint": ["rust"] } }),
    );
    let files = hello["data"]["files"].as_array().unwrap();
    let library = files.iter().find(|it| it["path"] == "src/lib.rs").unwrap();
    let library = library["content"].as_str().unwrap();
    let counted = "format!(\"crates: {}\", itoa::Buffer::new().format(42)))";
    assert_eq!(library.matches("TEXT)").count(), 1, "{library}");
    let library = library.replace("TEXT)", counted);
    let writes = json!({ "writes": [
        { "path": "Cargo.toml", "content": manifest },
        { "path": "src/lib.rs", "content": library },
    ] });
    let applied = bed.verb("fs.apply", Some(&id), &writes);
    assert_eq!(applied["ok"], true, "{applied}");
    let denied = start(&bed, &id, json!({}));
    assert_eq!(denied["error"]["code"], "E_POLICY", "{denied}");
    let policy =
        "policies:\n  deps_allowlist:\n    rust: [itoa]\n  verbs:\n    deps.install@v1: allow\n";
    fs::write(bed.path(".mcpd/policy.yaml"), policy).unwrap();
    let started = start(&bed, &id, json!({}));
    assert_eq!(started["ok"], true, "{started}");
    let url = bed.task(&id)["url"].as_str().unwrap().to_owned();
    assert_eq!(get(&url).body, "crates: 42");
}
