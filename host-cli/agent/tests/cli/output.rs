//! Streams, formats, colours, and control characters on a terminal.

use crate::project::{INDEX, MANIFEST, Project, Run};
use std::fs::File;
use std::process::{Command, Stdio};

const INVALID: &str = "---\nname: x\n---\n";

#[test]
fn problems_are_printed_in_every_format() {
    let project = Project::new();
    project.write("agents.md", INVALID);
    for command in ["validate", "resolve", "why acme", "diff"] {
        project
            .agent(command)
            .exits(1)
            .answers_nothing()
            .notes("error[MISSING_FIELD]");
        let run = project
            .agent(&format!("{command} --format json"))
            .exits(1)
            .notes_nothing();
        assert_eq!(run.json()["valid"], false);
        assert_eq!(run.json()["diagnostics"][0]["code"], "MISSING_FIELD");
        let run = project
            .agent(&format!("{command} --format sarif"))
            .exits(1)
            .notes_nothing();
        assert_eq!(
            run.json()["runs"][0]["results"][0]["ruleId"],
            "MISSING_FIELD"
        );
        project
            .agent(&format!("{command} --format github"))
            .exits(1)
            .notes_nothing()
            .answers("::error file=agents.md");
    }
}

#[test]
fn valid_input_is_reported_in_every_format() {
    let project = Project::new();
    project.agent("validate").exits(0).answers_nothing();
    let run = project
        .agent("validate --format json")
        .exits(0)
        .notes_nothing();
    assert_eq!(run.json()["valid"], true);
    let run = project
        .agent("validate --format sarif")
        .exits(0)
        .notes_nothing();
    assert_eq!(
        run.json()["runs"][0]["results"].as_array().unwrap().len(),
        0
    );
    project
        .agent("validate --format github")
        .exits(0)
        .answers_nothing()
        .notes_nothing();
}

#[test]
fn answers_have_their_own_json() {
    let project = Project::new();
    for command in ["discover", "resolve", "why acme", "why audiences", "verify"] {
        project
            .agent(&format!("{command} --format json"))
            .exits(0)
            .json();
    }
}

#[test]
fn warnings_change_nothing_and_can_be_silenced() {
    let project = Project::new();
    let lookalike = INDEX.replace("\"euro\"", "\"\u{430}cme\"");
    project.write("mcp.index.json", lookalike);
    for command in ["validate", "resolve", "why acme", "resolve --format json"] {
        project
            .agent(command)
            .exits(0)
            .notes("warning[LOOKALIKE_ID]");
    }
    project.agent("validate -q").exits(0).notes_nothing();
    project
        .agent("resolve -q")
        .exits(0)
        .notes_nothing()
        .answers_nothing();
    let run = project
        .agent("validate --format json")
        .exits(0)
        .notes_nothing();
    assert_eq!(run.json()["diagnostics"][0]["severity"], "warning");
}

#[test]
fn quiet_keeps_errors_and_answers() {
    let project = Project::new();
    project.agent("discover -q").exits(0).answers("acme");
    project.agent("why acme -q").exits(0).answers("acme");
    project.write("agents.md", INVALID);
    project
        .agent("validate -q")
        .exits(1)
        .notes("error[MISSING_FIELD]");
}

#[test]
fn why_reports_unknown_subjects() {
    let project = Project::new();
    project
        .agent("why acmee")
        .exits(2)
        .answers_nothing()
        .notes("did you mean `acme`");
    project.agent("why audiences").exits(0).answers("euro");
    project
        .agent("why euro@1.0.0")
        .exits(0)
        .answers("RESIDENCY_MISMATCH");
}

#[test]
fn colours_are_for_terminals() {
    let project = Project::new();
    let escapes = |arguments: &str, variable: Option<&str>| {
        let mut command = project.command(arguments.split_whitespace());
        command.envs(variable.map(|variable| (variable, "1")));
        let run = Run::of(command);
        run.stdout.contains('\x1b')
    };
    assert!(!escapes("discover", None));
    assert!(escapes("discover --color always", None));
    assert!(escapes("--color always discover", Some("NO_COLOR")));
    assert!(escapes("discover", Some("CLICOLOR_FORCE")));
    assert!(!escapes("discover --color never", Some("CLICOLOR_FORCE")));
    assert!(!escapes("discover --format json --color always", None));
}

/// Runs the program in a terminal and returns both streams as one text.
fn typed(project: &Project, line: &str, variable: Option<&str>) -> String {
    let program = env!("CARGO_BIN_EXE_agent");
    let mut command = Command::new("script");
    command
        .args([
            "--quiet",
            "--command",
            &format!("{program} {line}"),
            "/dev/null",
        ])
        .current_dir(project.path(""))
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .envs(variable.map(|variable| (variable, "1")))
        .stdin(Stdio::null());
    Run::of(command).exits(0).stdout.replace("\r\n", "\n")
}

#[test]
fn a_terminal_gets_colours() {
    let project = Project::new();
    assert!(typed(&project, "discover", None).contains("\x1b["));
    assert!(!typed(&project, "discover", Some("NO_COLOR")).contains('\x1b'));
    assert!(!typed(&project, "discover --color never", None).contains('\x1b'));
}

#[test]
fn on_a_terminal_a_blank_line_separates_answer_and_notes() {
    let project = Project::new();
    let typed = typed(&project, "resolve --color never", None);
    assert!(typed.ends_with("\n\nwrote agents.lock\n"), "{typed}");
}

#[test]
fn data_cannot_act_on_a_terminal_either() {
    let project = Project::new();
    project.write(
        "mcp.index.json",
        INDEX.replace("\"acme\"", "\"ac\u{202e}me\""),
    );
    project
        .agent("discover --format json")
        .exits(0)
        .answers("\"ac\u{202e}me\"");
    let typed = typed(&project, "discover --format json", None);
    assert!(typed.contains("\"ac<U+202E>me\""), "{typed}");
}

#[test]
fn no_input_can_act_on_a_terminal() {
    let project = Project::new();
    let hostile = "\x1b]0;title\x07\u{9b}2J\u{202e}";
    project.write(
        "agents.md",
        MANIFEST.replace("us-only", &format!("\"{hostile}\"")),
    );
    project.write("mcp.index.json", format!("[\"{hostile}\"]"));
    let clean = |text: &str| {
        !text.contains(|char: char| char != '\n' && (char.is_control() || char == '\u{202e}'))
    };
    let run = project.agent("validate").exits(1);
    assert!(clean(&run.stderr), "{run:#?}");

    let name = format!("{hostile}.md");
    project.write(&name, INVALID);
    let run = Run::of(project.command(["validate", &name])).exits(1);
    assert!(clean(&run.stderr), "{run:#?}");
    let run = Run::of(project.command(["validate", hostile])).exits(2);
    assert!(clean(&run.stderr), "{run:#?}");
    let run = Run::of(project.command(["why", hostile])).exits(1);
    assert!(clean(&run.stderr), "{run:#?}");
}

#[test]
fn a_reader_that_goes_away_changes_nothing() {
    let project = Project::new();
    for arguments in [
        "discover",
        "discover --format json",
        "explain",
        "resolve",
        "man",
    ] {
        let mut child = project
            .command(arguments.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments}: {output:?}");
    }
    assert!(project.has("agents.lock"));
}

#[test]
fn an_answer_that_cannot_be_printed_is_no_answer() {
    let project = Project::new();
    for arguments in ["discover", "discover --format json", "explain"] {
        let mut command = project.command(arguments.split_whitespace());
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.contains("can't write to standard output: no space left"),
            "{stderr}"
        );
    }
}
