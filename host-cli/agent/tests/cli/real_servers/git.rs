//! `mcp-server-git`, which runs the program `git` in its sandbox.

use super::{RealServer, ask, assert_blocked, assert_drift_is_refused, assert_verifies, run};
use crate::project::Project;
use crate::run_plan::{operator, output};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const GIT: RealServer = RealServer {
    id: "git",
    registry: "pypi",
    package: "mcp-server-git",
    version: "2026.10.19",
    arguments: &[],
    readonly: &["git_log", "git_status"],
};

const TOOL: &str = "git_log";

/// A repository with one commit.
fn repository() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), "init --quiet");
    git(
        folder.path(),
        "-c user.name=Ada -c user.email=ada@example.org commit --quiet --allow-empty --message the-first",
    );
    folder
}

fn git(folder: &Path, line: &str) -> String {
    let mut git = Command::new("git");
    let output = git
        .args(line.split(' '))
        .current_dir(folder)
        .output()
        .expect("git");
    assert!(output.status.success(), "git {line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A project whose server may read a repository.
fn project(tool: &str, arguments: Value, repository: &Path) -> Project {
    let project = GIT.project(tool, arguments);
    let folder = repository.display();
    operator(
        &project,
        &format!("servers:\n  git: {{ env: {{ PATH: /usr/bin }}, read: [{folder}] }}\n"),
    );
    project
}

#[test]
fn it_lists_the_commits_of_a_repository_that_it_may_read() {
    let repository = repository();
    let arguments = json!({ "repo_path": repository.path() });
    let project = project(TOOL, arguments.clone(), repository.path());
    run(&project).exits(0);
    let listed = output(&project, TOOL)[0]["text"].to_string();
    assert!(listed.contains("the-first"), "{listed}");
    assert_verifies(&project);
    let (run, answer) = ask(&project, &GIT, TOOL, &arguments);
    run.exits(0);
    let text = answer["payload"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("the-first"), "{text}");
}

#[test]
fn a_branch_is_refused_by_the_sandbox_and_for_a_query_by_the_lock() {
    let repository = repository();
    let arguments = json!({ "repo_path": repository.path(), "branch_name": "other" });
    let project = project("git_create_branch", arguments.clone(), repository.path());
    run(&project).exits(1).answers("`isError`");
    let branches = git(repository.path(), "branch --list");
    assert!(!branches.contains("other"), "{branches}");
    let asked = ask(&project, &GIT, "git_create_branch", &arguments);
    assert_blocked(asked, "NOT_READONLY");
}

#[test]
fn a_tool_whose_description_changed_is_not_called() {
    let repository = repository();
    let arguments = json!({ "repo_path": repository.path() });
    let project = project(TOOL, arguments.clone(), repository.path());
    assert_drift_is_refused(&GIT, &project, TOOL, &arguments);
}

#[test]
fn a_repository_that_it_may_not_read_is_not_there() {
    let repository = repository();
    let project = project(
        TOOL,
        json!({ "repo_path": repository.path() }),
        repository.path(),
    );
    operator(&project, "servers:\n  git: { env: { PATH: /usr/bin } }\n");
    run(&project).exits(1).answers("`isError`");
}

#[test]
fn it_must_answer_in_time() {
    let repository = repository();
    let project = GIT.project_within(TOOL, json!({ "repo_path": repository.path() }), 200);
    run(&project).exits(1).answers("timeout");
}

#[test]
fn a_server_that_cannot_start_fails_the_step() {
    let repository = repository();
    let project = project(
        TOOL,
        json!({ "repo_path": repository.path() }),
        repository.path(),
    );
    operator(
        &project,
        "servers:\n  git: { arguments: [--repository, /nowhere, --unknown] }\n",
    );
    run(&project).exits(1).answers("handler_failed");
    assert_verifies(&project);
}
