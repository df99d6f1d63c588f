//! Failures by name, each with what it leaves: nothing but the files and logs of its task.

use crate::bed::{Bed, get};
use crate::failures::failed;
use crate::remains::{Remains, last_run, processes};
use crate::small_app::{APP, start};
use serde_json::{Value, json};
use std::fs;
use std::net::{TcpListener, TcpStream};

#[test]
fn a_blocked_dependency_is_refused_before_anything_starts() {
    let bed = Bed::new(&[]);
    let policy =
        "policies:\n  deps_allowlist:\n    python: [flask]\n  verbs:\n    deps.install: allow\n";
    fs::write(bed.path(".mcpd/policy.yaml"), policy).unwrap();
    let id = bed.task_with(&[("app.py", APP)]);
    let input =
        json!({ "cmd": "pip install requests==2.32.3 && python app.py blocked-dependency" });
    let refused = bed.verb("run.start", Some(&id), &input);
    failed(&refused, "E_POLICY", "requests");
    assert_eq!(refused["error"]["task_id"], *id);
    assert_eq!(bed.task(&id)["state"], "failed");
    assert_eq!(processes("blocked-dependency"), [0_i64; 0]);
    let run = bed.path(&format!(".mcpd/.state/{id}.run.json"));
    assert!(!run.exists(), "no supervisor was started");
    assert_eq!(get(&bed.app_url(&id)).status, 410);
    // Without them the app starts.
    let started = bed.verb("run.start", Some(&id), &start("blocked-dependency"));
    assert_eq!(started["ok"], true, "{started}");
    // On the command line, too: a plan with such a package opens no task.
    let planner = r#"
import json, sys
json.dump({"files": [{"path": "app.py", "content": ""}], "start": "python app.py", "lang": "python",
           "deps": {"python": {"requirements": ["requests==2.32.3"]}}}, sys.stdout)
"#;
    let mut bed = Bed::new(&["--planner", "/usr/bin/python3", "-c", planner]);
    let run = bed.mcp(&["run", "anything"]);
    assert_eq!(run.status.code(), Some(1));
    let errors = String::from_utf8(run.stderr).unwrap();
    assert!(errors.contains("(E_POLICY)"), "{errors}");
    assert_eq!(bed.tasks(), [Value::Null; 0]);
    bed.kill();
}

#[test]
fn a_runtime_crash_leaves_nothing_whenever_it_happens() {
    let bed = Bed::new(&[]);
    // At once, with a process that it leaves in a separate session.
    let early = "import os, sys, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n\
                 print('no configuration', flush=True)\nsys.exit(3)\n";
    let id = bed.task_with(&[("app.py", early)]);
    let crashed = bed.verb("run.start", Some(&id), &start("early-crash"));
    failed(&crashed, "E_RUNTIME", "the app exited with code 3");
    let hints = crashed["error"]["hints"].to_string();
    assert!(hints.contains("no configuration"), "{hints}");
    Remains::of(&bed, &id, "early-crash").are_none(&bed);
    assert_eq!(bed.task(&id)["state"], "failed");
    let log = fs::read_to_string(bed.path(&format!(".mcpd/{id}/run.log"))).unwrap();
    assert!(log.contains("no configuration"), "{log}");

    // By a signal, when it was ready.
    let late = APP.replace(
        "client.recv(65536)",
        "b'/crash' in client.recv(65536) and os.abort()",
    );
    let id = bed.task_with(&[("app.py", &late)]);
    let started = bed.verb("run.start", Some(&id), &start("late-crash"));
    assert_eq!(started["ok"], true, "{started}");
    let remains = Remains::of(&bed, &id, "late-crash");
    assert!(
        remains.list().len() >= 3,
        "{remains:?}: {:?}",
        remains.list()
    );
    let port = started["data"]["port"].as_u64().unwrap();
    assert_eq!(get(&format!("{}crash", bed.app_url(&id))).status, 502);
    remains.are_none(&bed);
    assert_eq!(bed.task(&id)["state"], "failed");
    let leased = format!("127.0.0.1:{port}");
    assert!(TcpStream::connect(leased).is_err(), "the lease has ended");
    let probes = json!({ "probes": [{ "method": "GET", "path": "/", "expect_status": 200 }] });
    let checked = bed.verb("httpcheck.assert", Some(&id), &probes);
    failed(&checked, "E_RUNTIME", "failed");
}

#[test]
fn an_app_that_is_not_ready_in_time_is_ended() {
    let bed = Bed::new(&[]);
    let id = bed.task_with(&[("app.py", "import time\ntime.sleep(1000)\n")]);
    let input = json!({ "cmd": "python app.py not-ready", "ready": { "timeout_sec": 1 } });
    failed(
        &bed.verb("run.start", Some(&id), &input),
        "E_TIMEOUT",
        "within 1 s",
    );
    Remains::of(&bed, &id, "not-ready").are_none(&bed);
}

#[test]
fn a_gateway_that_is_not_there_changes_nothing() {
    let bed = Bed::new(&[]);
    let id = bed.task_with(&[("app.py", APP)]);
    let started = bed.verb("run.start", Some(&id), &start("no-gateway"));
    assert_eq!(started["ok"], true, "{started}");
    let before = last_run(&bed, &id);
    // The port of a closed listener refuses connections.
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let probes =
        json!([{ "method": "GET", "path": "/", "expect_status": 200, "expect_body": "ok" }]);
    let via = json!({ "probes": probes, "via": { "gateway": format!("http://{gone}") } });
    let checked = bed.verb("httpcheck.assert", Some(&id), &via);
    failed(&checked, "E_NETWORK", &gone.to_string());
    // The app is as it was, and no probe is recorded that was not sent.
    assert_eq!(last_run(&bed, &id), before);
    assert_eq!(bed.task(&id)["state"], "ready");
    let log = bed.path(&format!(".mcpd/{id}/probes.log"));
    assert_eq!(fs::read(&log).unwrap(), b"");
    let checked = bed.verb("httpcheck.assert", Some(&id), &json!({ "probes": probes }));
    assert_eq!(checked["data"]["pass"], true, "{checked}");
    assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 1);
    let remains = Remains::of(&bed, &id, "no-gateway");
    bed.done(&["kill", &id]);
    remains.are_none(&bed);
}
