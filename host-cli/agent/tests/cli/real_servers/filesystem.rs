//! `@modelcontextprotocol/server-filesystem`, with one folder that it may read.

use super::{RealServer, ask, assert_blocked, assert_drift_is_refused, assert_verifies, run};
use crate::project::Project;
use crate::run_plan::{operator, output, read};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const FILESYSTEM: RealServer = RealServer {
    id: "filesystem",
    registry: "npm",
    package: "@modelcontextprotocol/server-filesystem",
    version: "2026.8.31",
    arguments: &["/"],
    readonly: &["list_directory", "read_text_file"],
};

const TOOL: &str = "read_text_file";

const NOTE: &str = "remember the milk\n";

/// A folder with a note, which the server may read.
fn note() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note.txt");
    fs::write(&note, NOTE).unwrap();
    (folder, note)
}

/// A project whose server gets the folder of a note as its only folder.
fn project(tool: &str, arguments: Value, note: &Path) -> Project {
    let project = FILESYSTEM.project(tool, arguments);
    let folder = note.parent().unwrap().display();
    operator(
        &project,
        &format!("servers:\n  filesystem: {{ arguments: [{folder}], read: [{folder}] }}\n"),
    );
    project
}

#[test]
fn its_output_is_typed() {
    let (_folder, note) = note();
    let project = project(TOOL, json!({ "path": note }), &note);
    run(&project).exits(0);
    assert_eq!(output(&project, TOOL), json!({ "content": NOTE }));
    assert_verifies(&project);
}

#[test]
fn it_reads_no_other_file() {
    let (_folder, note) = note();
    let other = json!({ "path": "/etc/passwd" });
    let project = project(TOOL, other.clone(), &note);
    run(&project).exits(1).answers("`isError`");
    let (run, answer) = ask(&project, &FILESYSTEM, TOOL, &other);
    let run = run.exits(1);
    assert_eq!(answer["result"], "error");
    assert!(run.stdout.contains("Access denied"), "{run:#?}");
    assert!(!run.stdout.contains("root:"), "{run:#?}");
}

#[test]
fn the_sandbox_refuses_what_the_server_would_write() {
    let (_folder, note) = note();
    let arguments = json!({ "path": note, "content": "overwritten" });
    let project = project("write_file", arguments.clone(), &note);
    run(&project).exits(1).answers("`isError`");
    assert_eq!(fs::read_to_string(&note).unwrap(), NOTE);
    // A query may not even call it.
    assert_blocked(
        ask(&project, &FILESYSTEM, "write_file", &arguments),
        "NOT_READONLY",
    );
}

#[test]
fn a_tool_whose_description_changed_is_not_called() {
    let (_folder, note) = note();
    let arguments = json!({ "path": note });
    let project = project(TOOL, arguments.clone(), &note);
    assert_drift_is_refused(&FILESYSTEM, &project, TOOL, &arguments);
}

#[test]
fn its_crash_fails_the_step_and_is_logged() {
    let (folder, note) = note();
    let project = project(TOOL, json!({ "path": note }), &note);
    let missing = folder.path().join("missing");
    operator(
        &project,
        &format!(
            "servers:\n  filesystem: {{ arguments: [{}] }}\n",
            missing.display()
        ),
    );
    run(&project).exits(1).answers("handler_failed");
    assert!(read(&project, "logs/read_text_file.log").contains("missing"));
    assert_verifies(&project);
}
