//! Four real servers of a client, adopted in one command, with the keyring of a private D-Bus session.

use crate::project::{Project, Run};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Calls a tool of each server through the gateway of a configuration, and prints the results.
const CLIENT: &str = include_str!("adopt.py");

const SECRET: &str = "hunter2-of-the-client";

/// Maximum time of an adoption whose packages are installed.
const MINUTE: Duration = Duration::from_secs(60);

fn project() -> Project {
    let project = Project::empty();
    for folder in ["home/.cursor", "home/.config/pip", "notes", "runtime"] {
        fs::create_dir_all(project.path(folder)).unwrap();
    }
    // The registries of this machine.
    let home = std::env::home_dir().unwrap();
    for file in [".npmrc", ".config/pip/pip.conf"] {
        if home.join(file).is_file() {
            fs::copy(home.join(file), project.path("home").join(file)).unwrap();
        }
    }
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(arguments)
            .current_dir(project.path("notes"))
            .output();
        assert!(done.unwrap().status.success());
    };
    git(&["init", "--quiet", "."]);
    let notes = project.path("notes").display().to_string();
    let server = |command: &str, arguments: Value| json!({ "command": command, "args": arguments });
    let mut everything = server(
        "npx",
        json!(["-y", "@modelcontextprotocol/server-everything@2026.8.31"]),
    );
    everything["env"] = json!({ "API_TOKEN": SECRET });
    let configuration = json!({ "mcpServers": {
        "files": server("npx", json!(["-y", "@modelcontextprotocol/server-filesystem", notes])),
        "time": server("uvx", json!(["mcp-server-time"])),
        "git": server("uvx", json!(["mcp-server-git", "--repository", notes])),
        "everything": everything
    } });
    project.write("home/.cursor/mcp.json", configuration.to_string());
    project.write("client.py", CLIENT);
    project
}

/// Runs a script in a D-Bus session of its own, with an open keyring.
fn in_session(project: &Project, script: &str) -> Run {
    let script = format!(
        "printf x | gnome-keyring-daemon --foreground --unlock --components=secrets > keyring.log 2>&1 &\n\
         keyring=$!\ntrap 'kill $keyring' EXIT\n\
         for i in $(seq 50); do test -s keyring.log && break; sleep 0.1; done\n{script}\n"
    );
    project.write("session.sh", script);
    let mut command = project.command_of("dbus-run-session", ["--", "sh", "session.sh"]);
    command.env("HOME", project.path("home"));
    command.env("XDG_RUNTIME_DIR", project.path("runtime"));
    for folder in ["CONFIG", "DATA", "STATE"] {
        command.env_remove(format!("XDG_{folder}_HOME"));
    }
    // The program of the keyring, and not that of the other tests.
    let path = std::env::var("PATH").unwrap();
    let agent = Path::new(env!("CARGO_BIN_EXE_agent")).parent().unwrap();
    command.env("PATH", format!("{}:{path}", agent.display()));
    Run::of(command)
}

#[test]
fn four_servers_are_governed_in_one_command() {
    let project = project();
    let file = "home/.cursor/mcp.json";
    let before = project.read(file);
    // The first run installs the packages.
    let run = in_session(&project, "agent adopt --yes && agent adopt --undo").exits(0);
    for server in ["files", "time", "git", "everything"] {
        assert!(run.stdout.contains(&format!("✓ {server}  ")), "{run:?}");
    }
    let run = run.answers("1 secret moved to the keyring");
    run.answers("published by");
    assert_eq!(project.read(file), before);

    let notes = project.path("notes").display().to_string();
    let calls = json!([
        ["echo", { "message": "hello" }],
        ["get_current_time", { "timezone": "Asia/Tokyo" }],
        ["list_allowed_directories", {}],
        ["git_status", { "repo_path": notes }],
    ]);
    project.write("calls.json", calls.to_string());
    let begin = Instant::now();
    in_session(&project, "agent adopt --yes").exits(0);
    let time = begin.elapsed();
    assert!(time < MINUTE, "{time:?}");
    let run = in_session(&project, "python3 client.py && agent doctor").exits(0);
    for result in [
        "Echo: hello",
        "\"timezone\": \"Asia/Tokyo\"",
        "Allowed directories",
        "No commits yet",
    ] {
        assert!(run.stdout.contains(result), "no {result} in {run:?}");
    }
    assert!(!project.read(file).contains(SECRET));
    let operator = project.read("home/.config/agent/servers.local.yaml");
    assert!(
        operator.contains("{ keyring: \"everything.API_TOKEN\" }"),
        "{operator}"
    );
    assert!(!project.has("home/.local/share/agent/secrets"));
    the_readme_shows_what_happens(&project);
}

/// Narrows the lock, then narrows it again and replays: the README quotes both answers.
fn the_readme_shows_what_happens(project: &Project) {
    let folder = "home/.config/agent/gateways/cursor";
    let manifest = project.read(&format!("{folder}/agents.md"));
    let narrowed = |tools: &str| {
        let only = format!("category: files\n      permissions: []\n      only: [{tools}]\n");
        let narrowed = manifest.replace("category: files\n      permissions: []\n", &only);
        assert_ne!(narrowed, manifest);
        narrowed
    };
    let note = project.path("notes/todo.md").display().to_string();
    project.write("notes/todo.md", "Buy milk\n");
    let calls = json!([
        ["read_text_file", { "path": note }],
        ["write_file", { "path": note, "content": "x" }],
    ]);
    project.write("calls.json", calls.to_string());
    let within = project.path(folder).display().to_string();
    let two = narrowed("read_text_file, list_directory");
    project.write(&format!("{folder}/agents.md"), two);
    let run = in_session(
        project,
        &format!("agent --directory {within} resolve && python3 client.py"),
    );
    let refused = run.exits(0).stdout;
    project.write(&format!("{folder}/agents.md"), narrowed("list_directory"));
    let run = in_session(
        project,
        &format!("cd {within} && agent resolve --quiet; agent replay agent.audit.jsonl"),
    );
    let replayed = run.exits(1).stdout;
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    for (answer, line) in [
        (&refused, "The call of `write_file` is refused."),
        (
            &refused,
            "TOOL_NOT_LOCKED: the lock has only `list_directory`, `read_text_file` of `files`, and not `write_file`.",
        ),
        (
            &refused,
            "  help: Call a tool of the list; a human must change the lock for this one.",
        ),
        (
            &replayed,
            "`read_text_file` of `files`  was allowed, now refused",
        ),
        (
            &replayed,
            "      now: TOOL_NOT_LOCKED: the lock has only `list_directory` of `files`, and not `read_text_file`",
        ),
    ] {
        assert!(readme.contains(line), "{line}");
        assert!(answer.contains(line), "{line}: {answer}");
    }
}
