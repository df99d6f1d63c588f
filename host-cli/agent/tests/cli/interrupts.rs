//! Interrupted runs: whatever a run waits for is gone afterwards, and the evidence says so.

use crate::planned::GOAL;
use crate::processes::{assert_gone, await_start, send};
use crate::project::{Project, Run};
use crate::run_plan::{CANARY, evidence, operator, sleeps, started, summary};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// Asserts that the only run of a project was cancelled, and that its evidence is whole.
#[track_caller]
pub(crate) fn assert_cancelled(project: &Project, ended: Run) {
    drop(ended.exits(1));
    let folder = evidence(project);
    let summary = summary(project);
    for (member, value) in [
        ("status", "cancelled"),
        ("code", "handler_failed"),
        ("reason", "CANCELLED"),
    ] {
        assert_eq!(summary[member], value, "{summary}");
    }
    let verified = project.agent(&format!("evidence verify {}", folder.display()));
    drop(verified.exits(0));
}

/// Starts a run, waits until a program with an argument is started, and sends a signal. Returns how the run
/// ends.
fn interrupted(mut command: Command, (program, text): (&str, &str), signal: i32) -> Run {
    let folder = command.get_current_dir().expect("a folder").to_owned();
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    await_start(program, text);
    send(&child, signal);
    Run::new(child.wait_with_output().unwrap(), &folder)
}

#[test]
fn a_program_is_gone() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let seconds = format!("61.{}{signal}", std::process::id());
        let (project, started) = sleeps(&seconds);
        let command = project.command(["run-plan", "--plan", "plan.json"]);
        let ended = interrupted(command, (started, &seconds), signal);
        assert_gone(&seconds);
        assert_cancelled(&project, ended);
    }
}

/// A server that says nothing, and ignores that it shall end.
const SILENT: &str = "\
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
time.sleep(60)
";

#[test]
fn a_server_is_gone_within_and_without_the_sandbox() {
    for sandbox in [true, false] {
        let project = started("mars");
        project.write("operator/server.py", SILENT);
        if !sandbox {
            let text = project.read("operator/servers.local.yaml");
            let granted = text.lines().find(|line| line.contains("read: ")).unwrap();
            operator(&project, &text.replace(granted, "    sandbox: none"));
        }
        let path = project.path("operator/server.py").display().to_string();
        let mut command = project.command(["run-plan", "--plan", "plan.json"]);
        command.args(["--servers", "operator/servers.local.yaml"]);
        command.env("AGENT_TEST_CANARY", CANARY);
        let ended = interrupted(command, ("/usr/bin/python3", &path), libc::SIGINT);
        assert_gone(&path);
        assert_cancelled(&project, ended);
    }
}

#[test]
fn a_planner_is_gone_with_all_that_it_started() {
    let project = crate::planned::keeper();
    let seconds = format!("62.{}", std::process::id());
    let script = format!("#!/bin/sh\ntrap '' TERM INT\nsleep {seconds} &\nsleep {seconds}\n");
    project.write("planner.sh", script);
    fs::set_permissions(project.path("planner.sh"), Permissions::from_mode(0o700)).unwrap();
    let mut command = project.command(["run"].into_iter().chain(GOAL.split(' ')));
    command.args(["--planner", "command", "--planner-command", "./planner.sh"]);
    let ended = interrupted(command, ("sleep", &seconds), libc::SIGINT);
    assert_gone(&seconds);
    assert_cancelled(&project, ended);
    assert_eq!(summary(&project)["steps"], json!([]));
}
