//! Daemons that end, and apps that outlive them.

use crate::bed::{Bed, PATIENCE, get, mcp, supervisors};
use crate::own_network::in_own_network;
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[test]
fn an_app_outlives_its_daemon_and_is_found_by_the_next_one() {
    let mut bed = Bed::new(&[]);
    bed.done(&["run", "It says 'still here'"]);
    let id = bed.tasks()[0]["task_id"].as_str().unwrap().to_owned();
    let before = supervisors(&bed.path(""));
    assert_eq!(before.len(), 1);
    bed.kill();
    assert_eq!(supervisors(&bed.path("")), before);
    bed.start(&[]);
    let task = bed.task(&id);
    assert_eq!(task["state"], "ready");
    assert_eq!(get(task["url"].as_str().unwrap()).body, "still here");
    assert_eq!(get(task["direct_url"].as_str().unwrap()).body, "still here");
    bed.done(&["kill", &id]);
    assert!(supervisors(&bed.path("")).is_empty());
}

#[test]
fn apps_keep_their_ports_when_the_daemon_is_started_again() {
    // Another test could lease a port while it is free.
    let name = "lifecycle::apps_keep_their_ports_when_the_daemon_is_started_again";
    in_own_network(name, || {
        let mut bed = Bed::new(&[]);
        for text in ["one", "two", "three"] {
            bed.done(&["run", &format!("It says '{text}'")]);
        }
        let urls = |bed: &Bed| {
            let tasks = bed.tasks().into_iter();
            let mut urls: Vec<_> = tasks
                .map(|task| (task["task_id"].to_string(), task["direct_url"].to_string()))
                .collect();
            urls.sort();
            urls
        };
        let before = urls(&bed);
        bed.kill();
        bed.start(&[]);
        assert_eq!(urls(&bed), before);
        for task in bed.tasks() {
            bed.done(&["kill", task["task_id"].as_str().unwrap()]);
        }
    });
}

#[test]
fn probes_go_through_the_gateway_with_their_headers() {
    let bed = Bed::new(&[]);
    let app = "import os, http.server as h\nclass A(h.BaseHTTPRequestHandler):\n def do_GET(s):\n  s.send_response(200); s.end_headers(); s.wfile.write(f\"{s.headers['X-Of']} {s.headers['X-Forwarded-Prefix']}\".encode())\nh.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), A).serve_forever()\n";
    let id = bed.task_with(&[("app.py", app)]);
    let started = bed.verb("run.start", Some(&id), &json!({ "cmd": "python app.py" }));
    assert_eq!(started["ok"], true, "{started}");
    let gateway = bed.app_url(&id);
    let gateway = gateway.split_once("/apps/").unwrap().0;
    let check = |via: Value, prefix: &str| {
        let probes = json!([{
            "method": "GET", "path": "/", "expect_status": 200, "headers": { "X-Of": "probe" },
            "expect_body": format!("probe {prefix}"),
        }]);
        let input = json!({ "probes": probes, "via": via });
        let checked = bed.verb("httpcheck.assert", Some(&id), &input);
        assert_eq!(checked["data"]["pass"], true, "{checked}");
    };
    let prefix = format!("/apps/{id}");
    check(json!({ "gateway": gateway }), &prefix);
    check(json!({ "gateway": gateway, "task_id": id }), &prefix);
    check(json!({ "task_id": id }), "None");
}

#[test]
fn an_app_whose_supervisor_is_killed_has_ended() {
    let mut bed = Bed::new(&[]);
    let url = bed.done(&["run", "It says 'hello'"]);
    let [supervisor] = supervisors(&bed.path(""))[..] else {
        panic!("one supervisor");
    };
    let kill = |pid: i64| Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(kill(supervisor).unwrap().success());
    bed.eventually("the route is gone", || {
        (get(url.trim()).status == 410).then_some(())
    });
    // The same while no daemon runs.
    bed.done(&["run", "It says 'again'"]);
    let [supervisor] = supervisors(&bed.path(""))[..] else {
        panic!("one supervisor");
    };
    bed.kill();
    assert!(kill(supervisor).unwrap().success());
    bed.start(&[]);
    assert!(
        bed.tasks().iter().all(|task| task["state"] == "ended"),
        "{:?}",
        bed.tasks()
    );
}

#[test]
fn one_daemon_serves_a_folder() {
    let bed = Bed::new(&[]);
    let second = bed.mcp(&["mcpd", "--port", "0"]);
    assert_eq!(second.status.code(), Some(2));
    let errors = String::from_utf8(second.stderr).unwrap();
    assert!(errors.contains("another daemon serves"), "{errors}");
}

#[test]
fn of_daemons_that_start_at_once_one_serves() {
    let folder = tempfile::tempdir().unwrap();
    let run = || {
        let mut command = mcp();
        let arguments = ["mcpd", "--port", "0", "--idle", "1"];
        let command = command.current_dir(folder.path()).args(arguments);
        command.stderr(Stdio::null()).spawn().unwrap()
    };
    let mut daemons: Vec<_> = (0..4).map(|_| run()).collect();
    let end = Instant::now() + PATIENCE;
    loop {
        let ended = daemons.iter_mut().filter_map(|it| it.try_wait().unwrap());
        let ended: Vec<_> = ended.map(|status| status.code()).collect();
        if ended.len() == 3 {
            assert_eq!(ended, [Some(2); 3]);
            break;
        }
        assert!(Instant::now() < end, "{} have ended", ended.len());
        sleep(Duration::from_millis(20));
    }
    for daemon in &mut daemons {
        let _ = daemon.kill();
        daemon.wait().unwrap();
    }
}

#[test]
fn tasks_are_named_by_their_ids() {
    let bed = Bed::new(&[]);
    for command in ["open", "kill"] {
        assert_eq!(bed.mcp(&[command, "ab12cd"]).status.code(), Some(1));
        for wrong in ["", "a/b", "AB12CD", "é"] {
            assert_eq!(bed.mcp(&[command, wrong]).status.code(), Some(2), "{wrong}");
        }
    }
}

#[test]
fn an_idle_app_ends() {
    let bed = Bed::new(&["--idle", "1"]);
    let url = bed.done(&["run", "It says 'hello'"]);
    bed.eventually("the app ends", || {
        let state = bed.tasks()[0]["state"].clone();
        (state == "ended").then_some(())
    });
    assert_eq!(get(url.trim()).status, 410);
}

#[test]
fn readiness_is_an_expression_of_ecmascript() {
    let bed = Bed::new(&[]);
    // The digit of the first line is not one of ECMAScript.
    let app = "import os, http.server as h, time
print('listening \u{663}', flush=True)
server = h.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), h.BaseHTTPRequestHandler)
time.sleep(1)
print('listening 3', flush=True)
server.serve_forever()
";
    let id = bed.task_with(&[("app.py", app)]);
    let ready = json!({ "regex": r"^listening[^]\d+\cI?$", "timeout_sec": 20 });
    let start = json!({ "cmd": "python app.py", "ready": ready });
    let started = bed.verb("run.start", Some(&id), &start);
    assert_eq!(started["ok"], true, "{started}");
    let log = fs::read_to_string(bed.path(&format!(".mcpd/{id}/run.log"))).unwrap();
    assert_eq!(log, "listening \u{663}\nlistening 3\n");
    let ready = json!({ "regex": "^(?=listening)" });
    let start = json!({ "cmd": "python app.py", "ready": ready });
    let refused = bed.verb("run.start", Some(&id), &start);
    assert_eq!(refused["error"]["code"], "E_PLAN", "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("look-around is not supported"),
        "{message}"
    );
    assert!(message.ends_with(", at byte 1"), "{message}");
}

#[test]
fn a_batch_is_taken_back_once() {
    let bed = Bed::new(&[]);
    let id = bed.task_with(&[("app.py", "1\n")]);
    let change = json!({ "writes": [{ "path": "app.py", "content": "2\n" }] });
    assert_eq!(bed.verb("fs.apply", Some(&id), &change)["ok"], true);
    let file = bed.path(&format!(".mcpd/{id}/source/app.py"));
    let revert = || {
        let response = bed.daemon("POST", &format!("/tasks/{id}/revert"), "");
        serde_json::from_str::<Value>(&response.body).unwrap()
    };
    assert_eq!(revert()["ok"], true);
    assert_eq!(fs::read_to_string(&file).unwrap(), "1\n");
    let again = revert();
    assert_eq!(again["error"]["code"], "E_FS", "{again}");
    let message = again["error"]["message"].as_str().unwrap();
    assert!(message.contains("took batch"), "{message}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "1\n");
    // A later change can be taken back again.
    assert_eq!(bed.verb("fs.apply", Some(&id), &change)["ok"], true);
    assert_eq!(revert()["ok"], true);
    assert_eq!(fs::read_to_string(&file).unwrap(), "1\n");
}
