//! The command line itself: names, groups, the folder, and the next step in a folder without documents.

use crate::project::{Project, Run};
use crate::serve::client::Served;
use crate::serve::project_of;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

#[test]
fn help_lists_commands_by_what_people_want_to_do() {
    let help = Project::empty().agent("--help").exits(0).stdout;
    let places = [
        "Start:\n  init ",
        "\n  adopt ",
        "Ask:\n  validate ",
        "Operate:\n  serve ",
        "Plans:\n  plan ",
        "Apps:\n  app ",
        "Tools:\n  check-handler ",
        "Options:\n",
        "Exit codes:",
    ]
    .map(|part| help.find(part).unwrap_or_else(|| panic!("{part}: {help}")));
    assert!(places.is_sorted(), "{help}");
    assert!(help.lines().all(|line| line.len() <= 100), "{help}");
}

#[test]
fn options_stand_under_their_headings() {
    let help = Project::empty().agent("serve -h").exits(0).stdout;
    let section = |name: &str| {
        let (_, rest) = help.split_once(&format!("\n{name}:\n")).unwrap();
        rest.split("\n\n").next().unwrap()
    };
    for (name, options) in [
        (
            "Clients",
            &["--http", "--token-file", "--config", "--for"][..],
        ),
        ("Records", &["--audit", "--otlp", "--ui"]),
        ("Evaluation context", &["--tenant", "--policy", "--health"]),
        ("Options", &["--lock", "--index", "--observe"]),
    ] {
        for option in options {
            assert!(
                section(name).contains(&format!("{option} ")),
                "{option}: {help}"
            );
        }
    }
    for command in ["resolve", "plan check", "run-plan", "index add"] {
        let help = Project::empty().agent(&format!("{command} -h")).exits(0);
        let (_, options) = help.stdout.split_once("\nOptions:\n").unwrap();
        let options = options.split("\n\n").next().unwrap();
        for option in ["--index ", "--format "] {
            assert!(options.contains(option), "{command} {option}: {options}");
        }
    }
}

#[test]
fn an_earlier_name_of_a_command_is_understood() {
    let project = Project::empty();
    let report = project
        .agent("--quiet sandbox check --format json")
        .exits(0);
    assert_eq!(report.json(), project.agent("sandbox --format json").json());
    project
        .agent("audit verify")
        .exits(2)
        .notes("Usage: agent audit");
}

#[test]
fn a_command_works_in_another_folder() {
    let (project, other) = (Project::new(), Project::empty());
    let folder = project.path("").display().to_string();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent"));
        command.args(arguments).current_dir(other.path(""));
        Run::of(command)
    };
    run(&["resolve", "--directory", &folder]).exits(0);
    assert!(project.has("agents.lock"));
    assert_eq!(other.files(), [""; 0]);
    run(&["--directory", "none", "resolve"])
        .exits(2)
        .notes("`none` can't be entered: no such file or directory");
}

#[test]
fn a_gateway_finds_the_documents_beside_its_lock() {
    let project = project_of("stdio", "");
    fs::create_dir(project.path("elsewhere")).unwrap();
    for name in ["agents.lock", "mcp.index.json", "agents.definitions.json"] {
        if project.has(name) {
            fs::rename(
                project.path(name),
                project.path(Path::new("elsewhere").join(name)),
            )
            .unwrap();
        }
    }
    let lock = project.path("elsewhere/agents.lock");
    let options = format!("--lock {} --servers servers.local.yaml", lock.display());
    let mut served = Served::start(&project, &options);
    served.initialize("2025-11-25");
    let answer = served.ask(
        "tools/call",
        json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }),
    );
    assert_eq!(answer["result"]["structuredContent"]["sum"], 3, "{answer}");
    served.end();
    assert!(project.has("elsewhere/agent.audit.jsonl"));
    assert!(!project.has("agent.audit.jsonl"));
}

#[test]
fn a_folder_without_documents_leads_to_the_next_step() {
    let project = Project::empty();
    for command in ["validate", "resolve", "tools", "init", "serve"] {
        project.agent(command).exits(2).notes("`agent adopt`");
    }
    project
        .agent("verify")
        .exits(1)
        .answers("LOCK_MISSING")
        .notes("`agent adopt`");
    let project = Project::new();
    project
        .agent("verify")
        .exits(1)
        .notes("help: write it with `agent resolve`");
    project
        .agent("tools")
        .exits(2)
        .notes("there is no `agents.lock` in this folder\nhelp: write it with `agent resolve`");
}

/// Calls the program by a path and under a name.
fn called(project: &Project, path: &Path, name: &str, arguments: &[&str]) -> Run {
    let mut command = Command::new(path);
    let folder = project.path("");
    command
        .arg0(name)
        .args(arguments)
        .env("XDG_CONFIG_HOME", &folder)
        .current_dir(folder);
    Run::of(command)
}

#[test]
fn the_program_has_two_names() {
    let project = Project::empty();
    let link = project.path("mcp");
    symlink(env!("CARGO_BIN_EXE_agent"), &link).unwrap();
    fs::create_dir(project.path("copy")).unwrap();
    let copy = project.path("copy/mcp");
    fs::copy(env!("CARGO_BIN_EXE_agent"), &copy).unwrap();
    for path in [&link, &copy] {
        let mcp = |arguments: &[&str]| called(&project, path, path.to_str().unwrap(), arguments);
        mcp(&["--help"])
            .exits(0)
            .answers("Usage: mcp [OPTIONS] <COMMAND>");
        mcp(&["kill", "00ff00"]).exits(1).notes("`mcp list`");
        mcp(&["completions", "bash"]).exits(0).answers("_mcp()");
        mcp(&["man", "run"]).exits(0).answers("mcp\\-run");
        // It starts itself, as a daemon and as the supervisor of an app.
        mcp(&["run", "It says 'two names'"])
            .exits(0)
            .answers("http://");
        mcp(&["kill", &task(&project)]).exits(0);
        mcp(&["mcpd", "--stop"]).exits(0);
        fs::remove_dir_all(project.path(".mcpd")).unwrap();
    }
    let agent = Path::new(env!("CARGO_BIN_EXE_agent"));
    called(&project, agent, "agent", &["app", "kill", "00ff00"])
        .exits(1)
        .notes("`agent app list`");
}

/// Returns the only task of a project.
fn task(project: &Project) -> String {
    let tasks = project.agent("app list --format json").exits(0).json();
    tasks["tasks"][0]["task_id"].as_str().unwrap().to_owned()
}

#[test]
fn every_command_has_a_manual_page() {
    let project = Project::empty();
    fs::create_dir(project.path("pages")).unwrap();
    project.agent("man --folder pages").exits(0);
    for page in ["agent.1", "agent-adopt.1", "agent-plan-check.1"] {
        assert!(
            project.read(&format!("pages/{page}")).starts_with(".ie"),
            "{page}"
        );
    }
    project
        .agent("man --folder none")
        .exits(2)
        .notes("`none` can't be written: no such file or directory");
}
