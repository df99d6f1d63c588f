//! Reading of inputs, and its failures.

use crate::project::{INDEX, MANIFEST, Project, Run};
use serde_json::json;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;

#[test]
fn validate_and_resolve_name_the_tools_that_no_client_gets() {
    let project = Project::empty();
    let tools = json!({
        "hidden": { "description": "Reads\u{200b}." },
        "broken": { "inputSchema": { "properties": { "a": { "pattern": "a(?!b)" } } } },
        "sound": { "inputSchema": { "type": "object" } },
    });
    let entry = json!({
        "id": "files", "version": "1", "endpoint": "https://tools.acme.example/",
        "categories": ["files"], "scopes": [],
        "data": { "residency": "any", "maxSensitivity": "internal" },
        "trust": { "signed": true, "publisher": "P" },
        "capabilities": { "tools": tools },
    });
    project.write("mcp.index.json", json!([entry]).to_string());
    let requires = "requires:\n  mcp:\n    - { category: files, permissions: [] }\n";
    project.write(
        "agents.md",
        format!("---\nname: a\nversion: 1\n{requires}---\n"),
    );
    for line in ["validate", "resolve"] {
        let run = project.agent(line).exits(0);
        let run = run
            .notes("the definition of `hidden` of `files` contains U+200B")
            .notes("nobody can call `broken` of `files`");
        assert_eq!(run.stderr.matches("warning[").count(), 2, "{run:#?}");
    }
}

#[test]
fn the_manifest_is_found_by_its_usual_names() {
    let project = Project::new();
    fs::rename(project.path("agents.md"), project.path("AGENTS.md")).unwrap();
    project.agent("resolve").exits(0);
    project.write("agents.md", "---\n---\n");
    project.agent("resolve").exits(1).notes("--> agents.md:");
}

#[test]
fn no_manifest_is_no_answer() {
    let project = Project::empty();
    project
        .agent("validate")
        .exits(2)
        .answers_nothing()
        .notes("there is no `agents.md`")
        .notes("`agent init`");
    project
        .agent("validate other.md")
        .exits(2)
        .notes("can't read `other.md`: no such file");
}

#[test]
fn validate_takes_the_index_if_there_is_one() {
    let project = Project::new();
    project.agent("validate").exits(0);
    project.write("mcp.index.json", "[1]");
    project
        .agent("validate")
        .exits(1)
        .notes("mcp.index.json:1:2");
    fs::remove_file(project.path("mcp.index.json")).unwrap();
    project.agent("validate").exits(0);
    project
        .agent("validate --index mcp.index.json")
        .exits(2)
        .notes("can't read");
    project
        .agent("resolve")
        .exits(2)
        .notes("can't read `mcp.index.json`");
}

#[test]
fn validate_reports_the_problems_of_both_files() {
    let project = Project::new();
    project.write("agents.md", MANIFEST.replace("us-only", "moon"));
    project.write("mcp.index.json", INDEX.replace("internal", "secret"));
    let run = project.agent("validate").exits(1).answers_nothing();
    assert_eq!(
        run.stderr.matches("error[UNKNOWN_VALUE]").count(),
        3,
        "{run:#?}"
    );
}

#[test]
fn user_info_of_an_endpoint_is_shown_nowhere() {
    let project = Project::new();
    let secret = INDEX.replacen("https://", "https://ada:hunter2@", 1);
    // All is on the one line that is shown.
    project.write("mcp.index.json", secret.replace('\n', " "));
    for format in ["text", "json", "sarif", "github"] {
        let run = project
            .agent(&format!("resolve --format {format}"))
            .exits(1);
        let all = run.stdout.clone() + &run.stderr;
        assert!(all.contains("INVALID_ENDPOINT"), "{run:#?}");
        assert!(!all.contains("hunter2"), "{run:#?}");
    }
    project
        .agent("resolve")
        .exits(1)
        .notes("https://***********@");
    assert!(!project.path("agents.lock").exists());
}

#[test]
fn either_file_can_come_from_standard_input() {
    let project = Project::new();
    project.agent_reading("resolve -", MANIFEST).exits(0);
    let lock = project.read("agents.lock");
    fs::remove_file(project.path("agents.lock")).unwrap();
    project.agent_reading("resolve --index -", INDEX).exits(0);
    assert_eq!(project.read("agents.lock"), lock);
    project
        .agent_reading("resolve - --index -", MANIFEST)
        .exits(2)
        .notes("only once");
    project.agent_reading("verify --lock -", &lock).exits(0);
    project.agent_reading("diff agents.lock -", &lock).exits(0);
    project
        .agent_reading("validate -", "")
        .exits(1)
        .notes("<stdin>:1:1");
}

#[test]
fn a_folder_a_device_and_a_pipe_are_no_files() {
    let project = Project::new();
    fs::create_dir(project.path("folder")).unwrap();
    project
        .agent("validate folder")
        .exits(2)
        .notes("can't read `folder`: is a directory");
    project
        .agent("validate /dev/zero")
        .exits(2)
        .notes("not a regular file");
    let made = Command::new("mkfifo")
        .arg(project.path("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    project
        .agent("discover --index pipe")
        .exits(2)
        .notes("not a regular file");
    symlink("nowhere", project.path("link")).unwrap();
    project
        .agent("validate --index link")
        .exits(2)
        .notes("can't read `link`");
}

#[test]
fn an_endless_input_comes_to_an_end() {
    let project = Project::new();
    let mut command = project.command(["validate", "-", "--format=json"]);
    command.stdin(File::open("/dev/zero").unwrap());
    let run = Run::of(command).exits(1);
    assert_eq!(run.json()["diagnostics"][0]["code"], "INPUT_TOO_LARGE");
}

#[test]
fn a_name_need_not_be_unicode() {
    let project = Project::new();
    let name = OsStr::from_bytes(b"\xff.md");
    fs::write(project.path(name), MANIFEST).unwrap();
    Run::of(project.command([OsStr::new("validate"), name])).exits(0);
    fs::write(project.path(name), "").unwrap();
    Run::of(project.command([OsStr::new("validate"), name]))
        .exits(1)
        .notes("--> \u{fffd}.md:1:1");
}

#[test]
fn an_input_may_start_within_a_character() {
    let project = Project::new();
    for bytes in [b"\x80".as_slice(), b"\xbf---\n", &[0x80; 40_000]] {
        fs::write(project.path("agents.md"), bytes).unwrap();
        project
            .agent("validate")
            .exits(1)
            .notes("error[INVALID_UTF8]")
            .notes("--> agents.md:1:1");
    }
}
