//! Many tasks at the same time.

use crate::bed::{Bed, get, supervisors};
use crate::remains::{Remains, last_run, processes};
use crate::small_app::{APP, start};
use serde_json::{Value, json};
use std::fs;
use std::sync::Mutex;
use std::thread;

/// Number of tasks.
const TASKS: usize = 50;

/// Number of clients that work at the same time.
const CLIENTS: usize = 10;

/// The most that the daemon may grow for a task, in KiB.
const DAEMON_KIB: u64 = 512;

/// Maximum private memory of the supervisor of a task, in KiB.
const SUPERVISOR_KIB: u64 = 16 << 10;

/// Does something for each of all tasks, for several at a time.
fn each<T: Send>(work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, done) = (Mutex::new(0..TASKS), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                loop {
                    let Some(number) = next.lock().unwrap().next() else {
                        break;
                    };
                    let result = work(number);
                    done.lock().unwrap().push((number, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns the memory that a process shares with no other one, in KiB.
fn own_memory(pid: i64) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let lines = text.lines().filter_map(|line| {
        let (name, rest) = line.split_once(':')?;
        let size = rest.trim().strip_suffix(" kB")?.parse::<u64>().ok()?;
        name.starts_with("Private_").then_some(size)
    });
    lines.sum()
}

#[test]
fn fifty_tasks_run_answer_and_end_within_bounded_memory() {
    let bed = Bed::new(&[]);
    let marker = |number: usize| format!("crowd-{}-{number}", std::process::id());
    // What the first task needs, each further one needs no more.
    let first = bed.task_with(&[("app.py", APP)]);
    assert_eq!(
        bed.verb("run.start", Some(&first), &start("crowd-first"))["ok"],
        true
    );
    assert_eq!(get(&bed.app_url(&first)).body, "ok");
    let before = own_memory(bed.pid());

    let ids = each(|number| {
        let app = APP.replace("\\r\\n\\r\\nok", "\\r\\n\\r\\n%02d' % NUMBER + b'");
        let app = app.replace("NUMBER", &number.to_string());
        let id = bed.task_with(&[("app.py", &app)]);
        let started = bed.verb("run.start", Some(&id), &start(&marker(number)));
        assert_eq!(started["ok"], true, "{started}");
        id
    });
    let all: Vec<Value> = bed.tasks();
    let ready = all.iter().filter(|task| task["state"] == "ready");
    assert_eq!(ready.count(), TASKS + 1);
    let mut ports: Vec<_> = all.iter().map(|it| it["direct_url"].to_string()).collect();
    ports.sort();
    ports.dedup();
    assert_eq!(ports.len(), TASKS + 1, "each has a port of its own");
    each(|number| {
        let id = &ids[number];
        let expected = format!("{number:02}");
        assert_eq!(get(&bed.app_url(id)).body, expected);
        let probe =
            json!({ "method": "GET", "path": "/", "expect_status": 200, "expect_body": expected });
        let checked = bed.verb("httpcheck.assert", Some(id), &json!({ "probes": [probe] }));
        assert_eq!(checked["data"]["pass"], true, "{checked}");
    });

    let grown = own_memory(bed.pid()).saturating_sub(before);
    assert!(
        grown <= DAEMON_KIB * TASKS as u64,
        "the daemon grew by {grown} KiB"
    );
    let own = supervisors(&bed.path(""));
    assert_eq!(own.len(), TASKS + 1);
    let largest = own.iter().map(|pid| own_memory(*pid)).max().unwrap();
    assert!(largest <= SUPERVISOR_KIB, "a supervisor has {largest} KiB");

    let remains: Vec<_> = (0..TASKS)
        .map(|number| Remains::of(&bed, &ids[number], &marker(number)))
        .collect();
    each(|number| bed.done(&["kill", &ids[number]]));
    for remains in &remains {
        remains.are_none(&bed);
    }
    for id in &ids {
        assert_eq!(last_run(&bed, id)["end"]["cause"]["kind"], "stopped");
    }
    assert_eq!(
        get(&bed.app_url(&first)).body,
        "ok",
        "the other one runs on"
    );
    assert!(!processes("crowd-first").is_empty());
}
