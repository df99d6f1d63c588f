//! A session: what a runner can reach, how it is limited, and what ends with it.

use crate::support::{example, runner};
use agent_runners::{Error, Place, Reply, Request, Runner, Session, Started};
use agent_sandbox::{Limit, RunError};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use std::fs;
use std::time::Duration;
use tempfile::TempDir;

const TASK: &str = "ab12cd";
/// A server that listens at `PORT`, writes a line, and has a marker in its command line.
const SERVER: &str = "import os, socket, time; s = socket.create_server(('127.0.0.1', int(os.environ['PORT']))); \
                      print('listening', flush=True); time.sleep(1000)";

struct Case {
    session: Session,
    folder: TempDir,
    _program: TempDir,
}

async fn open(text: &str) -> Case {
    open_within(text, |_| {}).await
}

async fn open_within(text: &str, limit: impl FnOnce(&mut Place)) -> Case {
    let (runner, program) = runner(text);
    let folder = tempfile::tempdir().unwrap();
    let mut place = Place::new(folder.path(), 8080);
    place.limits.wall_time = Some(Duration::from_secs(120));
    limit(&mut place);
    Case {
        session: Session::open(&runner, &place).await.unwrap(),
        folder,
        _program: program,
    }
}

fn manifest(marker: &str) -> Box<RawValue> {
    let command = format!("python3 -c \"{SERVER}\" {marker}");
    to_raw_value(&json!({"entry": {"cmd": command}})).unwrap()
}

async fn health(session: &mut Session) -> Result<Reply, Error> {
    session.call(&Request::Health { task_id: TASK }).await
}

fn count(marker: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .filter(|line| String::from_utf8_lossy(line).contains(marker))
        .count()
}

#[tokio::test]
async fn an_app_outlives_its_invocation_and_ends_with_the_session() {
    let marker = format!("session-{}", std::process::id());
    let mut case = open(example()).await;
    let manifest = manifest(&marker);
    let task_id = TASK;
    let request = Request::Start {
        task_id,
        manifest: &manifest,
    };
    let reply = case.session.call(&request).await.unwrap();
    let text = String::from_utf8(reply.stdout).unwrap();
    assert_eq!((reply.exit_code, &*reply.stderr), (0, &b""[..]), "{text}");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    let started = Started::read(&answer["data"].to_string()).unwrap();
    assert!(started.is_among(&case.session.listening()));
    assert_eq!(count(&marker), 1);
    let reply = health(&mut case.session).await.unwrap();
    let text = String::from_utf8(reply.stdout).unwrap();
    assert!(text.contains(r#""live": true, "ready": true"#), "{text}");
    assert_eq!(case.session.log_since(0).bytes, b"listening\n");
    case.session.end().await;
    assert_eq!(count(&marker), 0);
}

#[tokio::test]
async fn a_dropped_session_leaves_nothing() {
    let marker = format!("dropped-{}", std::process::id());
    let mut case = open(example()).await;
    let manifest = manifest(&marker);
    let task_id = TASK;
    let request = Request::Start {
        task_id,
        manifest: &manifest,
    };
    assert_eq!(case.session.call(&request).await.unwrap().exit_code, 0);
    assert_eq!(count(&marker), 1);
    drop(case.session);
    for _ in 0..500 {
        if count(&marker) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the app runs on");
}

/// Writes what it can do as an answer.
const PROBE: &str = r#"#!/usr/bin/python3 -ISB
import json, os, socket, sys
def can(path):
    try:
        open(path, "w").close()
        return True
    except OSError:
        return False
def reaches(address):
    with socket.socket() as client:
        client.settimeout(2)
        return client.connect_ex(address) == 0
json.dump({
    "writes": [path for path in ("/app/a", "/tmp/a", "/requests/a", "/etc/a", "/usr/a", "/b", sys.argv[0]) if can(path)],
    "environment": sorted(line.split(b"=")[0].decode() for line in open("/proc/self/environ", "rb").read().split(b"\0")[:-1]),
    "port": os.environ["PORT"],
    "folder": os.getcwd(),
    "reaches": reaches(("127.0.0.1", OUTSIDE)),
}, sys.stdout)
"#;

#[tokio::test]
async fn a_runner_reaches_its_folder_and_nothing_else() {
    let outside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = outside.local_addr().unwrap().port().to_string();
    let mut case = open(&PROBE.replace("OUTSIDE", &port)).await;
    let reply = health(&mut case.session).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&reply.stderr), "");
    let found: serde_json::Value = serde_json::from_slice(&reply.stdout).unwrap();
    let expected = json!({
        "writes": ["/app/a", "/tmp/a"],
        "environment": ["HOME", "PATH", "PORT", "PWD", "TMPDIR"],
        "port": "8080",
        "folder": "/app",
        "reaches": false,
    });
    assert_eq!(found, expected);
    assert!(case.folder.path().join("a").exists());
}

#[tokio::test]
async fn an_answer_has_a_limit() {
    let edge = agent_runners::limits::MAX_ANSWER_BYTES;
    let text = |bytes: u64| format!("#!/bin/sh\nhead -c {bytes} /dev/zero\n");
    let mut case = open(&text(edge)).await;
    let reply = health(&mut case.session).await.unwrap();
    assert_eq!(reply.stdout.len() as u64, edge);
    let mut case = open(&text(edge + 1)).await;
    let error = health(&mut case.session).await.unwrap_err();
    assert_eq!(error, Error::AnswerTooLarge);
    let error = health(&mut case.session).await.unwrap_err();
    assert!(
        matches!(error, Error::Ended(_)),
        "the session is over: {error}"
    );
}

#[tokio::test]
async fn a_request_has_a_limit() {
    let mut case = open("#!/bin/sh\nwc -c\n").await;
    let edge = agent_runners::limits::MAX_REQUEST_BYTES;
    let size = |text: &RawValue| text.get().len();
    let frame = r#"{"method":"apply","version":"v1","task_id":"ab12cd","plan":}"#.len();
    let plan = |bytes: usize| to_raw_value(&"x".repeat(bytes - frame - 2)).unwrap();
    let over = plan(edge + 1);
    assert_eq!(size(&over) + frame, edge + 1);
    let task_id = TASK;
    let apply = |plan| Request::Apply { task_id, plan };
    let error = case.session.call(&apply(&over)).await.unwrap_err();
    assert_eq!(error, Error::RequestTooLarge);
    let reply = case.session.call(&apply(&plan(edge))).await.unwrap();
    assert_eq!(
        String::from_utf8_lossy(&reply.stdout).trim(),
        edge.to_string()
    );
}

#[tokio::test]
async fn standard_error_is_cut_and_later_answers_are_in_step() {
    let kept = agent_runners::limits::KEPT_ERROR_BYTES;
    let text = format!(
        "#!/bin/sh\nhead -c {} /dev/zero >&2\necho done\nexit 7\n",
        kept + 9
    );
    let mut case = open(&text).await;
    for _ in 0..2 {
        let reply = health(&mut case.session).await.unwrap();
        assert_eq!(reply.stderr.len() as u64, kept);
        assert_eq!((&*reply.stdout, reply.exit_code), (&b"done\n"[..], 7));
    }
}

#[tokio::test]
async fn a_session_ends_at_its_limit_of_memory() {
    let hungry = "#!/usr/bin/python3 -ISB\nheld = [bytearray(1 << 20) for _ in range(400)]\nprint(len(held))\n";
    let mut case = open_within(hungry, |place| place.limits.memory_bytes = 128 << 20).await;
    match health(&mut case.session).await {
        Err(Error::Sandbox(error)) => {
            assert!(
                matches!(error, RunError::LimitExceeded(Limit::Memory, _)),
                "{error}"
            );
        }
        // Where each process is limited by itself, the allocation fails.
        Ok(reply) => assert_ne!(reply.exit_code, 0),
        Err(error) => panic!("{error}"),
    }
}

/// Writes a line into a stream of its keeper: where answers go, or where requests come from.
const FORGER: &str = r#"#!/usr/bin/python3 -ISB
import os
keeper = os.getppid()
for name in sorted(os.listdir(f"/proc/{keeper}/fd"), key=int):
    path = f"/proc/{keeper}/fd/{name}"
    access = int(open(f"/proc/{keeper}/fdinfo/{name}").read().split("flags:")[1].split()[0], 8) & 3
    if name not in ("2", "9") and os.readlink(path).startswith("pipe:") and access == ACCESS:
        os.write(os.open(path, os.O_WRONLY), b"LINE\n")
        break
else:
    raise SystemExit(99)
"#;

#[tokio::test]
async fn a_runner_that_spoils_the_streams_of_its_keeper_ends_its_session() {
    for (access, line, good) in [("1", "0 0 0 0", 0), ("0", "size 1", 1)] {
        let text = FORGER.replace("ACCESS", access).replace("LINE", line);
        let mut case = open(&text).await;
        for _ in 0..good {
            let reply = health(&mut case.session).await.unwrap();
            assert_eq!(
                reply.exit_code,
                0,
                "{}",
                String::from_utf8_lossy(&reply.stderr)
            );
        }
        let error = health(&mut case.session).await.unwrap_err();
        assert!(matches!(error, Error::Ended(_)), "{error}");
    }
}

#[tokio::test]
async fn a_runner_ended_by_a_signal_has_no_success() {
    let mut case = open("#!/bin/sh\nkill -9 $$\n").await;
    assert_eq!(health(&mut case.session).await.unwrap().exit_code, 128 + 9);
}

#[test]
fn a_runner_is_an_executable_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runner");
    for path in [folder.path(), &file] {
        assert!(Runner::new(path).is_err(), "{}", path.display());
    }
    fs::write(&file, "").unwrap();
    let error = Runner::new(&file).unwrap_err().to_string();
    assert!(error.contains("not an executable file"), "{error}");
}
