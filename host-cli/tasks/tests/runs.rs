//! Runs of tasks in the real sandbox, reached over their sockets.

mod support;

use agent_tasks::{AskedLimits, Cause, Found, Phase, Started, Task, Tasks};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};
use support::{LONG, Place, eventually, get, groups, log, processes, server, supervisor};

fn ended(started: Started) -> Cause {
    match started {
        Started::Ended(run) => run.end.unwrap().cause,
        other => panic!("{other:?}"),
    }
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

/// Runs a program that never gets ready to its end.
fn end_of(program: &str, limits: AskedLimits) -> (Cause, String) {
    let place = Place::new();
    let task = place.task(program);
    let mut spec = place.spec(&task);
    spec.limits = limits;
    let cause = ended(task.start(supervisor(), spec).unwrap());
    (cause, log(&task))
}

#[test]
fn a_task_is_started_answers_and_is_stopped_without_a_trace() {
    let place = Place::new();
    let marker = format!("marker-{}", std::process::id());
    let task = place.task(&server());
    let mut spec = place.spec(&task);
    spec.commands[0].push(marker.clone());
    let run = match task.start(supervisor(), spec).unwrap() {
        Started::Ready(run) => run,
        other => panic!("{other:?}: {}", log(&task)),
    };
    assert_eq!(run.phase, Phase::Ready);
    assert_eq!(run.port, Some(8080));
    assert!(processes(&marker).contains(&run.pid.unwrap()));
    let answer = get(&run.socket).unwrap();
    assert!(answer.ends_with("\r\n\r\nHello, World!"), "{answer}");
    assert_eq!(log(&task), "listening on 8080\n");
    assert!(matches!(task.find().unwrap(), Found::Running(_)));
    let again = task.start(supervisor(), place.spec(&task)).unwrap_err();
    assert!(again.to_string().contains("already runs"), "{again}");

    let run = task.stop(Duration::from_secs(5)).unwrap().unwrap();
    assert_eq!(run.end.unwrap().cause, Cause::Stopped);
    assert!(processes(&marker).is_empty());
    assert!(!run.socket.exists());
    assert!(groups(run.supervisor.pid).is_empty());
    let names = fs::read_dir(task.path()).unwrap();
    let mut names: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
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
    place.ready(&task);
    task.stop(Duration::from_secs(5)).unwrap();
}
