//! Verbs that fail: each with its code, a hint, and nothing left running.

use crate::bed::{Bed, get, supervisors};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

/// An app that answers `ok`.
const APP: &str = "import os, http.server as h\nclass A(h.BaseHTTPRequestHandler):\n def do_GET(s):\n  s.send_response(200); s.end_headers(); s.wfile.write(b'ok')\nh.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), A).serve_forever()\n";

fn start() -> Value {
    json!({ "cmd": "python app.py", "ready": { "timeout_sec": 20 } })
}

/// Asserts that a verb failed with a code, says something, and gives hints.
pub(crate) fn failed(response: &Value, code: &str, says: &str) {
    assert_eq!(response["ok"], false, "{response}");
    let error = &response["error"];
    assert_eq!(error["code"], code, "{response}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(says), "{message}");
    let hints = error["hints"].as_array().unwrap();
    assert!(
        hints.iter().any(|it| !it.as_str().unwrap().is_empty()),
        "{response}"
    );
}

#[test]
fn verbs_fail_with_their_codes() {
    let bed = Bed::new(&[]);
    let none = bed.verb("run.start", None, &start());
    failed(&none, "E_PLAN", "there is no task");
    failed(
        &bed.verb("plan.create", None, &json!({})),
        "E_PLAN",
        "prompt",
    );
    let unknown = bed.verb(
        "plan.create",
        None,
        &json!({ "prompt": "predict the weather" }),
    );
    failed(&unknown, "E_PLAN", "no service for the prompt");
    failed(
        &bed.verb("plan.destroy", None, &json!({})),
        "E_PLAN",
        "plan.destroy",
    );

    let id = bed.task_with(&[("app.py", "raise SystemExit(3)\n")]);
    let task = Some(&*id);
    let outside = json!({ "writes": [{ "path": "../x", "content": "" }] });
    failed(&bed.verb("fs.apply", task, &outside), "E_FS", "../x");
    assert!(!bed.path(".mcpd/x").exists());
    let patch = json!({ "patches": [{ "path": "app.py", "diff": "--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-other\n+new\n" }] });
    failed(&bed.verb("fs.apply", task, &patch), "E_FS", "app.py");

    let crashed = bed.verb("run.start", task, &start());
    failed(&crashed, "E_RUNTIME", "the app exited with code 3");
    assert_eq!(crashed["error"]["task_id"], id);
    assert_eq!(bed.task(&id)["state"], "failed");
    let slow =
        json!({ "writes": [{ "path": "app.py", "content": "import time\ntime.sleep(100)\n" }] });
    assert_eq!(bed.verb("fs.apply", task, &slow)["ok"], true);
    let start_soon = json!({ "cmd": "python app.py", "ready": { "timeout_sec": 1 } });
    failed(
        &bed.verb("run.start", task, &start_soon),
        "E_TIMEOUT",
        "within 1 s",
    );
    assert_eq!(supervisors(&bed.path("")), [0_i64; 0]);

    let packages = json!({ "cmd": "pip install flask && python app.py" });
    failed(
        &bed.verb("run.start", task, &packages),
        "E_POLICY",
        "installation of dependencies",
    );
    fs::write(bed.path(".mcpd/policy.yaml"), "policies:\n  secret: 1\n").unwrap();
    failed(&bed.verb("run.start", task, &start()), "E_POLICY", "secret");
    // A file that others can change is not a policy.
    let policy = bed.path(".mcpd/policy.yaml");
    fs::set_permissions(&policy, fs::Permissions::from_mode(0o666)).unwrap();
    failed(
        &bed.verb("run.start", task, &start()),
        "E_POLICY",
        "policy.yaml",
    );
    fs::remove_file(bed.path(".mcpd/policy.yaml")).unwrap();

    let key = format!("KEY = 'ghp_{}'\n", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let secret = json!({ "writes": [{ "path": "app.py", "content": key }] });
    assert_eq!(bed.verb("fs.apply", task, &secret)["ok"], true);
    failed(&bed.verb("run.start", task, &start()), "E_POLICY", "app.py");

    let good = json!({ "writes": [{ "path": "app.py", "content": APP }] });
    assert_eq!(bed.verb("fs.apply", task, &good)["ok"], true);
    let started = bed.verb("run.start", task, &start());
    assert_eq!(started["ok"], true, "{started}");
    // The port of a closed listener refuses connections.
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let probes =
        json!([{ "method": "GET", "path": "/", "expect_status": 200, "expect_body": "ok" }]);
    let elsewhere = json!({ "probes": probes, "via": { "gateway": format!("http://{gone}") } });
    failed(
        &bed.verb("httpcheck.assert", task, &elsewhere),
        "E_NETWORK",
        &gone.to_string(),
    );
    let checked = bed.verb("httpcheck.assert", task, &json!({ "probes": probes }));
    assert_eq!(checked["data"]["pass"], true, "{checked}");
    let wrong = json!({ "probes": [{ "method": "GET", "path": "/", "expect_status": 404 }] });
    let checked = bed.verb("httpcheck.assert", task, &wrong);
    assert_eq!(checked["data"]["pass"], false, "{checked}");
    let report = bed.verb(
        "report.finish",
        task,
        &json!({ "include": ["../../etc/passwd"] }),
    );
    failed(&report, "E_FS", "/include/0");
    let report = bed.verb(
        "report.finish",
        task,
        &json!({ "include": ["source"], "verdict": "pass" }),
    );
    let files = report["data"]["files"].as_array().unwrap();
    assert!(files.contains(&json!("source/app.py")), "{report}");
}

#[test]
fn limits_are_enforced_or_refused() {
    let bed = Bed::new(&[]);
    let hungry = "x = bytearray(1 << 30)\nfor at in range(0, len(x), 4096): x[at] = 1\nimport time\ntime.sleep(100)\n";
    let id = bed.task_with(&[("app.py", hungry)]);
    let input = json!({ "cmd": "python app.py", "limits": { "mem_mb": 64 }, "ready": { "timeout_sec": 20 } });
    let response = bed.verb("run.start", Some(&id), &input);
    failed(&response, "E_RUNTIME", "the app");
    let too_much = json!({ "cmd": "python app.py", "limits": { "mem_mb": 16 } });
    failed(
        &bed.verb("run.start", Some(&id), &too_much),
        "E_PLAN",
        "/limits/mem_mb",
    );
}

#[test]
fn an_app_that_fails_later_loses_its_route() {
    let bed = Bed::new(&[]);
    let app = APP.replace(
        "s.send_response(200)",
        "s.path == '/end' and os._exit(7)\n  s.send_response(200)",
    );
    let id = bed.task_with(&[("app.py", &app)]);
    let started = bed.verb("run.start", Some(&id), &start());
    assert_eq!(started["ok"], true, "{started}");
    let url = bed.task(&id)["url"].as_str().unwrap().to_owned();
    assert_eq!(get(&url).status, 200);
    let ended = get(&format!("{url}end")).status;
    assert_eq!(ended, 502);
    bed.eventually("the route is gone", || {
        (get(&url).status == 410).then_some(())
    });
    assert_eq!(bed.task(&id)["state"], "failed");
    let again = bed.verb("run.start", Some(&id), &start());
    assert_eq!(again["ok"], true, "{again}");
    assert_eq!(get(&url).status, 200);
}
