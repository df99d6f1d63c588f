//! From a prompt to an app that answers.

use crate::bed::{Bed, get, request};
use std::fs;

const HELLO: &str = "Create a web service that responds 'Hello, World!'";

#[test]
fn a_prompt_becomes_an_app_that_answers_until_it_is_killed() {
    let bed = Bed::new(&[]);
    let url = bed.done(&["run", HELLO]);
    let url = url.trim();
    let response = get(url);
    assert_eq!((response.status, &*response.body), (200, "Hello, World!"));
    let task = &bed.tasks()[0];
    let id = task["task_id"].as_str().unwrap();
    assert_eq!(task["url"], url);
    assert!(url.ends_with(&format!("/apps/{id}/")), "{url}");
    assert_eq!(
        get(task["direct_url"].as_str().unwrap()).body,
        "Hello, World!"
    );
    for artifact in [
        "plan.json",
        "manifest.json",
        "run.log",
        "probes.log",
        "patches/0001.json",
    ] {
        let path = bed.path(&format!(".mcpd/{id}/{artifact}"));
        assert!(
            fs::metadata(path).is_ok_and(|it| it.len() > 0),
            "{artifact}"
        );
    }
    let entries = fs::read_dir(bed.path(&format!(".mcpd/{id}"))).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "manifest.json",
        "patches",
        "plan.json",
        "probes.log",
        "run.log",
        "source",
    ];
    assert_eq!(names, expected);
    let base = url.strip_suffix(&format!("/apps/{id}/")).unwrap();
    assert_eq!(get(&format!("{url}_health")).status, 200);
    assert_eq!(get(&format!("{base}/apps/ffffff/")).status, 404);
    assert!(get(&format!("{base}/")).body.contains(id));
    let open = bed.done(&["open", id]);
    assert!(open.lines().nth(1) == Some(url), "{open}");
    bed.done(&["export", id, "exported"]);
    let exported = fs::read_to_string(bed.path("exported/app.py")).unwrap();
    assert!(exported.contains("Hello, World!"));
    bed.done(&["kill", id]);
    assert_eq!(get(url).status, 410);
    assert_eq!(bed.task(id)["state"], "ended");
}

#[test]
fn services_of_node_are_tested_and_served() {
    let bed = Bed::new(&[]);
    let url = bed.done(&["run", "--lang", "node", "A key-value store"]);
    let key = format!("{}a", url.trim());
    assert_eq!(request("PUT", &key, &[], "1").status, 204);
    assert_eq!(get(&key).body, "1");
}

#[test]
fn a_change_is_applied_or_taken_back() {
    // It plans an app that answers with the last word of the prompt, and one that fails for `crash`.
    let planner = r#"
import json, sys
request = json.load(sys.stdin)
word = (request.get("change") or request["prompt"]).split()[-1]
source = "import os, http.server as h\nclass A(h.BaseHTTPRequestHandler):\n def do_GET(s):\n  s.send_response(200); s.end_headers(); s.wfile.write(b'" + word + "')\n"
source += "raise SystemExit(3)\n" if word == "crash" else "h.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), A).serve_forever()\n"
json.dump({"files": [{"path": "app.py", "content": source}], "start": "python app.py", "lang": "python"}, sys.stdout)
"#;
    let bed = Bed::new(&["--planner", "/usr/bin/python3", "-c", planner]);
    let url = bed.done(&["run", "say one"]);
    let url = url.trim();
    let id = bed.tasks()[0]["task_id"].as_str().unwrap().to_owned();
    assert_eq!(get(url).body, "one");
    bed.done(&["change", &id, "say two"]);
    assert_eq!(get(url).body, "two");
    let failed = bed.mcp(&["change", &id, "say crash"]);
    assert_eq!(failed.status.code(), Some(1));
    let errors = String::from_utf8(failed.stderr).unwrap();
    assert!(
        errors.contains("the app exited with code 3 (E_RUNTIME)"),
        "{errors}"
    );
    assert!(errors.contains("the change is taken back"), "{errors}");
    assert_eq!(get(url).body, "two");
    // A probe that fails takes a change back, too.
    let failed = bed.mcp(&["change", &id, "say 'other' three"]);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(get(url).body, "two");
}

#[test]
fn many_apps_run_at_the_same_time() {
    const APPS: usize = 12;
    let bed = Bed::new(&[]);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..APPS)
            .map(|number| {
                let bed = &bed;
                scope.spawn(move || {
                    let prompt = format!("It says 'number {number}'");
                    let url = bed.done(&["run", &prompt]);
                    assert_eq!(get(url.trim()).body, format!("number {number}"));
                })
            })
            .collect();
        runs.into_iter().for_each(|run| run.join().unwrap());
    });
    assert_eq!(bed.tasks().len(), APPS);
    let ready = bed
        .tasks()
        .iter()
        .filter(|it| it["state"] == "ready")
        .count();
    assert_eq!(ready, APPS);
}
