//! Machines that do not give every tier of the sandbox.

use super::{SHELL, output, project, shell, step, summary};
use crate::project::{Project, Run};
use serde_json::json;
use std::process::Command;

/// A project whose step runs a program.
fn printing() -> Project {
    let programs = json!([{ "path": "/usr/bin/printf", "arguments": ["[a-z]+"] }]);
    let input = json!({ "program": "/usr/bin/printf", "arguments": ["hello"] });
    project(shell(programs), json!([step(SHELL, "run", input)]))
}

/// Runs the plan of a project after a change of the machine, a shell command in separate namespaces.
fn run_after(project: &Project, change: &str) -> Run {
    let script = format!("{change} && exec \"$@\"");
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
        .args([&script, "sh", env!("CARGO_BIN_EXE_agent")])
        .args(["run-plan", "--plan", "plan.json"])
        .current_dir(project.path(""))
        .env("XDG_CONFIG_HOME", project.path("no-configuration"));
    Run::of(command)
}

/// Replaces a program by a file that can't be executed.
fn without(program: &str) -> String {
    format!("mount --bind /dev/null {program}")
}

#[test]
fn without_bubblewrap_a_program_runs_under_landlock() {
    let project = printing();
    run_after(&project, &without("$(command -v bwrap)")).exits(0);
    assert_eq!(output(&project, "run")["stdout"], "hello");
    assert_eq!(summary(&project)["steps"][0]["sandbox_tier"], "landlock");
}

#[test]
fn without_any_tier_no_program_runs_and_the_reason_is_given() {
    let project = printing();
    // The trial run of a tier needs bash.
    let ended = run_after(&project, &without("$(readlink -f /bin/bash)"));
    ended.exits(1).answers("handler_failed").answers("bash");
    let summary = summary(&project);
    assert_eq!(summary["reason"], "UNAVAILABLE");
    assert_eq!(summary["steps"][0]["sandbox_tier"], "none");
}
