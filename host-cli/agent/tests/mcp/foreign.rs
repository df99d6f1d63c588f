//! Apps that foreign runners write, start and stop.

use crate::bed::{Bed, get};
use crate::failures::failed;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

/// The page with a runner that keeps the protocol.
const PAGE: &str = include_str!("../../../../docs/reference/runner.md");

/// Starts a daemon whose apps in Python have the runner of the page, with other text in some places.
pub(crate) fn bed(changes: &[(&str, &str)]) -> (Bed, TempDir) {
    let text = PAGE.split_once("```python\n").unwrap().1;
    let mut text = text.split_once("```\n").unwrap().0.to_owned();
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replacen(from, to, 1);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runner");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let runner = format!("python={}", path.display());
    (Bed::new(&["--runner", &runner]), folder)
}

#[test]
fn an_app_of_a_foreign_runner_lives_as_any_other() {
    let write = "        path.chmod(file.get(\"mode\", 0o644))\n";
    let more = format!("{write}    (APP / \"NOTICE\").write_text(\"written by a runner\\n\")\n");
    let stop = "def stop(request):\n";
    let says = format!("{stop}    os.write(LOG, b\"the runner was asked to stop\\n\")\n");
    let (mut bed, _runner) = bed(&[(write, &more), (stop, &says)]);
    bed.done(&["run", "It says 'from afar'"]);
    let task = &bed.tasks()[0];
    let id = task["task_id"].as_str().unwrap();
    assert_eq!(task["state"], "ready", "{task}");
    let url = task["url"].as_str().unwrap();
    assert_eq!(get(url).body, "from afar");
    assert_eq!(get(task["direct_url"].as_str().unwrap()).body, "from afar");
    let path = |name: &str| bed.path(&format!(".mcpd/{id}/{name}"));
    let read = |name: &str| fs::read_to_string(path(name)).unwrap();
    // What the runner added is a part of the batch, and of the manifest.
    assert_eq!(read("source/NOTICE"), "written by a runner\n");
    assert!(read("patches/0001.json").contains("NOTICE"));
    assert!(read("manifest.json").contains("NOTICE"));

    bed.kill();
    bed.start(&[]);
    assert_eq!(bed.task(id)["state"], "ready");
    let url = bed.task(id)["url"].as_str().unwrap().to_owned();
    assert_eq!(get(&url).body, "from afar");
    bed.done(&["kill", id]);
    assert_eq!(get(&url).status, 410);
    let log = fs::read_to_string(bed.path(&format!(".mcpd/{id}/run.log"))).unwrap();
    assert!(log.contains("the runner was asked to stop"), "{log}");
}

#[test]
fn what_a_foreign_runner_refuses_is_the_failure_of_the_verb() {
    let listens = "    if not wait(lambda: app.poll() is not None or listens(), 30):";
    let blocked = format!("    raise Failure(\"E_POLICY\", \"leftpad is blocked\")\n{listens}");
    let code = "\"E_PLAN\": 10,";
    let codes = format!("{code} \"E_POLICY\": 20,");
    let (bed, _runner) = bed(&[(listens, &blocked), (code, &codes)]);
    let id = bed.task_with(&[("app.py", "")]);
    let start = json!({ "cmd": "python3 app.py" });
    let started = bed.verb("run.start", Some(&id), &start);
    failed(&started, "E_POLICY", "leftpad is blocked");
    assert_eq!(bed.task(&id)["state"], "failed");
}

#[test]
fn a_foreign_runner_that_breaks_the_protocol_starts_and_writes_nothing() {
    let dump = "json.dump(body";
    let noisy = format!("print('starting')\n{dump}");
    let (bed, _runner) = bed(&[(dump, &noisy)]);
    let plan = bed.verb("plan.create", None, &json!({ "prompt": "hello" }));
    let id = plan["data"]["task_id"].as_str().unwrap();
    let writes = json!({ "writes": [{ "path": "app.py", "content": "" }] });
    let applied = bed.verb("fs.apply", Some(id), &writes);
    failed(&applied, "E_RUNTIME", "");
    let source = bed.path(&format!(".mcpd/{id}/source"));
    assert_eq!(fs::read_dir(source).unwrap().count(), 0);
}

#[test]
fn a_foreign_runner_that_fills_the_disk_writes_nothing() {
    let write = "        path.chmod(file.get(\"mode\", 0o644))\n";
    let fill = "    for number in range(1_000_000): (APP / str(number)).symlink_to(\"none\")\n";
    let locks = "    (APP / \"x/y\").mkdir(parents=True); (APP / \"x\").chmod(0)\n";
    let (mut bed, _runner) = bed(&[(write, &format!("{write}{locks}{fill}"))]);
    let plan = bed.verb("plan.create", None, &json!({ "prompt": "hello" }));
    let id = plan["data"]["task_id"].as_str().unwrap();
    let writes = json!({ "writes": [{ "path": "app.py", "content": "" }] });
    let applied = bed.verb("fs.apply", Some(id), &writes);
    failed(
        &applied,
        "E_RUNTIME",
        "the runner exceeded its limit `files`",
    );
    let source = bed.path(&format!(".mcpd/{id}/source"));
    assert_eq!(fs::read_dir(source).unwrap().count(), 0);
    // The next daemon starts, and removes what it can.
    bed.kill();
    bed.start(&[]);
    let left = fs::read_dir(bed.path(".mcpd/.state")).unwrap().flatten();
    let names: Vec<_> = left.map(|it| it.file_name()).collect();
    assert!(
        !names
            .iter()
            .any(|it| it.to_string_lossy().starts_with("staging-")),
        "{names:?}"
    );
}

#[test]
fn an_app_of_a_foreign_runner_that_ends_has_failed() {
    let (bed, _runner) = bed(&[]);
    let app = "import os, http.server as h\nclass H(h.BaseHTTPRequestHandler):\n def do_GET(s):\n  s.path == '/end' and os._exit(7)\n  s.send_response(200); s.end_headers()\nh.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), H).serve_forever()\n";
    let id = bed.task_with(&[("app.py", app)]);
    let started = bed.verb("run.start", Some(&id), &json!({ "cmd": "python3 app.py" }));
    assert_eq!(started["ok"], true, "{started}");
    let url = bed.task(&id)["url"].as_str().unwrap().to_owned();
    assert_eq!(get(&url).status, 200);
    get(&format!("{url}end"));
    bed.eventually("the task has failed", || {
        (bed.task(&id)["state"] == "failed").then_some(())
    });
    assert_eq!(get(&url).status, 410);
}
