//! `clients`: the servers of a user's clients.

use crate::project::{Project, Run};
use serde_json::{Value, json};
use std::fs;

const CLAUDE: &str = r#"{ "numStartups": 3, "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "@acme/files@1.2.3", "--token", "hunter2-a"], "env": { "ACME_KEY": "hunter2-b" } },
    "remote": { "url": "https://me:hunter2-c@api.example/mcp?key=hunter2-d", "headers": { "Authorization": "Bearer hunter2-e" } },
    "agent": { "command": "/usr/bin/agent", "args": ["serve"] },
    "off\u200b": { "command": "x postgres://me:hunter2-f@db.example/a", "disabled": true }
} }"#;

/// Runs the command with a home in the project.
fn clients(project: &Project, line: &str) -> Run {
    let mut command = project.command(line.split_whitespace());
    command.env("HOME", project.path("home"));
    command.env_remove("XDG_CONFIG_HOME");
    Run::of(command)
}

fn project() -> Project {
    let project = Project::empty();
    for folder in ["home/.codex", "home/.config/zed", ".vscode"] {
        fs::create_dir_all(project.path(folder)).unwrap();
    }
    project.write("home/.claude.json", CLAUDE);
    project.write(
        "home/.codex/config.toml",
        "model = \"x\"\n[mcp_servers.docs]\ncommand = \"uvx\"\nargs = [\"docs\"]\n",
    );
    // Settings without servers are no configuration.
    project.write("home/.config/zed/settings.json", "{ \"theme\": \"One\" }");
    project.write(
        ".vscode/mcp.json",
        "{ // here\n\"servers\": { \"web\": { \"url\": \"https://web.example/mcp\", }, } }",
    );
    project
}

#[test]
fn every_client_is_listed_with_its_servers_and_no_secret() {
    let project = project();
    let run = clients(&project, "clients").exits(0).notes_nothing();
    let home = project.path("home").display().to_string();
    let expected = "\
claude-code  HOME/.claude.json
  files          npx -y @acme/files@1.2.3 --token <secret>
                   package pkg:npm/%40acme/files@1.2.3
                   environment ACME_KEY
  remote         https://api.example/mcp
                   headers Authorization
                   query key
                   user info in the URL
  agent          /usr/bin/agent serve  [governed]
  off<U+200B>    x <secret>  [not started by the client]
codex  HOME/.codex/config.toml
  docs  uvx docs
          package pkg:pypi/docs
vscode  .vscode/mcp.json
  web  https://web.example/mcp
";
    let shown = run.stdout.replace(&home, "HOME");
    let squeezed = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(squeezed(&shown), squeezed(expected), "{shown}");
    assert!(!run.stdout.contains("hunter2"), "{run:?}");

    let run = clients(&project, "clients --format json").exits(0);
    assert!(!run.stdout.contains("hunter2"), "{run:?}");
    let listed = run.json();
    let servers = &listed["clients"][0]["servers"];
    assert_eq!(
        servers[0],
        json!({
            "name": "files", "path": "mcpServers.files", "enabled": true, "governed": false,
            "command": ["npx", "-y", "@acme/files@1.2.3", "--token", "<secret>"],
            "environment": ["ACME_KEY"], "package": "pkg:npm/%40acme/files@1.2.3"
        })
    );
    assert_eq!(servers[1]["url"], "https://api.example/mcp");
    assert_eq!(servers[2]["governed"], true);
    assert_eq!(servers[3]["enabled"], false);
}

#[test]
fn a_client_or_a_file_may_be_named() {
    let project = project();
    let names = |run: &Run| {
        let listed = run.json();
        let clients = listed["clients"].as_array().unwrap().iter();
        let names = clients.map(|it| it["client"].as_str().unwrap_or("none").to_owned());
        names.collect::<Vec<_>>()
    };
    let run = clients(
        &project,
        "clients --client vscode --client codex --format json",
    )
    .exits(0);
    assert_eq!(names(&run), ["vscode", "codex"]);
    let run = clients(
        &project,
        "clients --client home/.codex/config.toml --format json",
    )
    .exits(0);
    assert_eq!(names(&run), ["codex"]);
    assert_eq!(
        run.json()["clients"][0]["servers"][0]["name"],
        Value::from("docs")
    );
    clients(&project, "clients --client zed")
        .exits(0)
        .answers("no client has a server");
    clients(&project, "clients --client cursor")
        .exits(2)
        .notes("no configuration of `cursor` was found");
    let empty = Project::empty();
    clients(&empty, "clients")
        .exits(2)
        .notes("no configuration of an MCP client was found");
}

#[test]
fn what_can_not_be_read_is_named_and_the_others_are_listed() {
    let project = project();
    project.write(
        "home/.claude.json",
        "{ \"mcpServers\": { \"a\": { \"url\": \"hunter2\" }, \"a\": {} } }",
    );
    let run = clients(&project, "clients")
        .exits(1)
        .answers("  docs  uvx docs");
    let run = run.notes("DUPLICATE_KEY").notes(".claude.json:1:");
    assert!(!run.stdout.contains("claude-code") && !run.stderr.contains("hunter2"));
    project.write("other.json", "{ \"tools\": [] }");
    clients(&project, "clients --client other.json")
        .exits(1)
        .answers_nothing()
        .notes("IMPORT_FORMAT")
        .notes("other.json:1:1");
}

#[test]
fn tools_beyond_the_limits_of_a_client_are_warned_of() {
    let project = Project::empty();
    let long = "a".repeat(65);
    let capture = json!({
        "package": "sums", "version": "1", "endpoint": "https://sums.example/mcp",
        "tools/list": { "tools": [{ "name": long, "inputSchema": { "anyOf": [{}] } }] }
    });
    project.write("capture.json", capture.to_string());
    project.agent("index import capture.json").exits(0);
    project.write(
        "agents.md",
        "---\nname: a\nversion: 1.0.0\nrequires:\n  mcp:\n    - category: sums\n      permissions: []\n---\n",
    );
    project.agent("resolve").exits(0);
    let run = project.agent("tools --for openai").exits(0).answers(&long);
    run.notes("CLIENT_LIMIT")
        .notes("the API of OpenAI refuses the tool")
        .notes("more than 64 characters")
        .notes("has `anyOf`");
    project
        .agent("tools --for cursor")
        .exits(0)
        .notes_not("CLIENT_LIMIT");
    project
        .agent("tools --for other")
        .exits(2)
        .answers_nothing()
        .notes("name one of anthropic, cursor, gemini, openai, vscode");
}
