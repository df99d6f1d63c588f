//! `adopt`, `connect`, `disconnect` and `doctor`: the gateway in the configurations of clients.

use crate::project::{Project, Run};
use crate::run_plan::server::{Server, mcp};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// A server that says where it ran.
const SERVER: &str = include_str!("adopt/server.py");

/// A secret that stands in every configuration of these tests.
const SECRET: &str = "hunter2-of-the-client";

/// A project with a home, a server in `srv` and a folder that the server may write.
fn project() -> Project {
    let project = Project::empty();
    for folder in ["home", "srv", "data"] {
        fs::create_dir(project.path(folder)).unwrap();
    }
    project.write("srv/server.py", SERVER);
    project
}

fn command(project: &Project, line: &str) -> Command {
    let mut command = project.command(line.split_whitespace());
    command.env("HOME", project.path("home"));
    for folder in ["CONFIG", "DATA", "STATE"] {
        command.env_remove(format!("XDG_{folder}_HOME"));
    }
    command
}

fn agent(project: &Project, line: &str) -> Run {
    Run::of(command(project, line))
}

/// Writes a configuration, in which `SRV`, `DATA` and `SECRET` are replaced.
fn write(project: &Project, file: &str, text: &str) -> String {
    let path = |name: &str| project.path(name).display().to_string();
    let text = text
        .replace("SRV", &path("srv/server.py"))
        .replace("DATA", &path("data"))
        .replace("SECRET", SECRET);
    fs::create_dir_all(project.path(file).parent().unwrap()).unwrap();
    project.write(file, &text);
    text
}

/// Returns the files below a folder, in order.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    let path = entry.path();
                    let below = path.strip_prefix(folder).unwrap();
                    found.push(below.display().to_string());
                }
            }
        }
    }
    found.sort();
    found
}

/// The configurations of clients: the file in the home, and its content with two servers, of which a container
/// stays.
const CLIENTS: [(&str, &str, &str); 13] = [
    (
        "amp",
        ".config/amp/settings.json",
        r#"{ "amp.mcpServers": { "sums": { "command": "/usr/bin/python3", "args": ["SRV", "DATA"], "env": { "TOKEN": "SECRET" } }, "box": { "command": "docker", "args": ["run", "x"] } }, "amp.x": 1 }"#,
    ),
    (
        "claude-code",
        ".claude.json",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"sums\": {\n      \"type\": \"stdio\",\n      \"command\": \"/usr/bin/python3\",\n      \"args\": [\"SRV\", \"DATA\"],\n      \"env\": { \"TOKEN\": \"SECRET\" }\n    },\n    \"box\": { \"command\": \"docker\", \"args\": [\"run\", \"x\"] }\n  }\n}\n",
    ),
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        r#"{"mcpServers":{"sums":{"command":"/usr/bin/python3","args":["SRV","DATA"],"env":{"TOKEN":"SECRET"}},"box":{"command":"docker","args":["run","x"]}}}"#,
    ),
    (
        "cline",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "{\r\n  \"mcpServers\": {\r\n    \"sums\": { \"command\": \"/usr/bin/python3\", \"args\": [\"SRV\", \"DATA\"], \"env\": { \"TOKEN\": \"SECRET\" }, \"disabled\": false },\r\n    \"box\": { \"command\": \"docker\", \"args\": [\"run\", \"x\"] }\r\n  }\r\n}\r\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "model = \"m\" # mine\n\n[mcp_servers.sums]\ncommand = \"/usr/bin/python3\"\nargs = [\"SRV\", \"DATA\"]\n\n[mcp_servers.sums.env]\nTOKEN = \"SECRET\"\n\n[mcp_servers.box]\ncommand = \"docker\"\nargs = [\"run\", \"x\"]\n\n[tui]\nx = 1\n",
    ),
    (
        "continue",
        ".continue/config.yaml",
        "name: mine\nmcpServers:\n  # of sums\n  - name: sums\n    command: /usr/bin/python3\n    args: [\"SRV\", \"DATA\"]\n    env:\n      TOKEN: SECRET\n  - name: box\n    command: docker\n    args: [run, x]\nrules: []\n",
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        "{\n  // mine\n  \"mcpServers\": {\n    \"sums\": { \"command\": \"/usr/bin/python3\", \"args\": [\"SRV\", \"DATA\"], \"env\": { \"TOKEN\": \"SECRET\" } }, // of sums\n    \"box\": { \"command\": \"docker\", \"args\": [\"run\", \"x\"] },\n  },\n}",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "{\n\t\"theme\": \"x\",\n\t\"mcpServers\": {\n\t\t\"sums\": {\n\t\t\t\"command\": \"/usr/bin/python3\", \"args\": [\"SRV\", \"DATA\"],\n\t\t\t\"env\": { \"TOKEN\": \"SECRET\" }\n\t\t},\n\t\t\"box\": { \"command\": \"docker\", \"args\": [\"run\", \"x\"] }\n\t}\n}\n",
    ),
    (
        "goose",
        ".config/goose/config.yaml",
        "GOOSE_MODEL: m\nextensions:\n  developer:\n    type: builtin\n    enabled: true\n  sums:\n    type: stdio\n    enabled: true\n    cmd: /usr/bin/python3\n    args:\n      - SRV\n      - DATA\n    envs:\n      TOKEN: SECRET\n  box:\n    type: stdio\n    cmd: docker\n    args: [run, x]\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        r#"{ "$schema": "x", "mcp": { "sums": { "type": "local", "command": ["/usr/bin/python3", "SRV", "DATA"], "environment": { "TOKEN": "SECRET" } }, "box": { "type": "local", "command": ["docker", "run", "x"] } } }"#,
    ),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "{\n  \"servers\": {\n    \"sums\": { \"type\": \"stdio\", \"command\": \"/usr/bin/python3\", \"args\": [\"SRV\", \"DATA\"], \"env\": { \"TOKEN\": \"SECRET\" } },\n    \"box\": { \"command\": \"docker\", \"args\": [\"run\", \"x\"] }\n  },\n  \"inputs\": []\n}\n",
    ),
    (
        "windsurf",
        ".codeium/windsurf/mcp_config.json",
        "\u{feff}{ \"mcpServers\": { \"sums\": { \"command\": \"/usr/bin/python3\", \"args\": [\"SRV\", \"DATA\"], \"env\": { \"TOKEN\": \"SECRET\" } }, \"box\": { \"command\": \"docker\", \"args\": [\"run\", \"x\"] } } }",
    ),
    (
        "zed",
        ".config/zed/settings.json",
        "// Zed\n{\n  \"theme\": \"One\",\n  \"context_servers\": {\n    \"sums\": { \"source\": \"custom\", \"command\": \"/usr/bin/python3\", \"args\": [\"SRV\", \"DATA\"], \"env\": { \"TOKEN\": \"SECRET\" } },\n    \"box\": { \"command\": \"docker\", \"args\": [\"run\", \"x\"] },\n  },\n}\n",
    ),
];

#[test]
fn every_client_is_governed_and_gets_its_bytes_back() {
    for (client, file, text) in CLIENTS {
        let project = project();
        let file = format!("home/{file}");
        let before = write(&project, &file, text);
        let run = agent(&project, "adopt --yes");
        let run = run.exits(1).answers("✓ sums  sums@1.0.0");
        let run = run.answers("it runs in a container");
        run.answers("1 secret moved to files that only you can read");
        // It ran in the sandbox, in which its folder can be written.
        assert_eq!(project.read("data/ran"), "sums\n", "{client}");
        let after = project.read(&file);
        assert!(
            !after.contains(SECRET) && after.contains("docker"),
            "{client}: {after}"
        );
        let shown = agent(&project, "clients").exits(0).answers("[governed]");
        shown.answers("docker run x");
        check_secret(&project);
        // Nothing is left to do, and nothing changes.
        agent(&project, "adopt --yes")
            .exits(1)
            .notes("no server can be adopted");
        assert_eq!(project.read(&file), after);
        agent(&project, "doctor")
            .exits(0)
            .answers("its lock matches its index");

        agent(&project, "adopt --undo")
            .exits(0)
            .notes("its servers back");
        assert_eq!(project.read(&file), before, "{client}");
        let left = files(&project.path("home"));
        let below = file.trim_start_matches("home/").to_owned();
        let mut expected = vec![".local/state/agent/adopt.lock".to_owned(), below];
        expected.sort();
        assert_eq!(left, expected, "{client}");
    }
}

/// Finds the secret nowhere but in its own file and in the backup, which nobody else reads.
fn check_secret(project: &Project) {
    let home = project.path("home");
    let mut found = Vec::new();
    for file in files(&home) {
        let path = home.join(&file);
        let text = fs::read(&path).unwrap();
        if String::from_utf8_lossy(&text).contains(SECRET) {
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&path), 0o600, "{file}");
            assert_eq!(mode(path.parent().unwrap()), 0o700, "{file}");
            found.push(file);
        }
    }
    let expected = [
        ".local/share/agent/secrets/sums.TOKEN",
        ".local/state/agent/adopt/1/before",
    ];
    assert_eq!(found, expected);
}

const CURSOR: &str = "home/.cursor/mcp.json";

/// A configuration with one server.
const ONE: &str = r#"{ "mcpServers": { "sums": { "command": "/usr/bin/python3", "args": ["SRV", "DATA"], "env": { "TOKEN": "SECRET" } } } }"#;

#[test]
fn a_program_of_the_users_own_runtime_is_found() {
    let project = project();
    write(
        &project,
        CURSOR,
        &ONE.replace("/usr/bin/python3", "python3"),
    );
    agent(&project, "adopt --yes")
        .exits(0)
        .answers("✓ sums  sums@1.0.0");
    assert_eq!(project.read("data/ran"), "sums\n");
}

#[test]
fn nothing_is_started_or_changed_before_a_yes() {
    let project = project();
    let before = write(&project, CURSOR, ONE);
    for line in ["adopt", "adopt --dry-run", "adopt --client cursor"] {
        let run = agent(&project, line).answers("/usr/bin/python3");
        let run = run.answers("may write");
        assert!(
            !run.stdout.contains(SECRET) && !run.stderr.contains(SECRET),
            "{run:?}"
        );
    }
    agent(&project, "adopt").exits(1).notes("agent adopt --yes");
    let run = agent(&project, "adopt --dry-run").exits(0);
    run.answers("+++ ").answers("<secret>").notes("would write");
    assert_eq!(project.read(CURSOR), before);
    assert!(!project.has("data/ran"));
    let left = files(&project.path("home"));
    assert_eq!(left, [".cursor/mcp.json", ".local/state/agent/adopt.lock"]);
}

#[test]
fn a_strangers_file_needs_the_digest_of_what_was_listed() {
    let project = project();
    write(&project, ".mcp.json", ONE);
    let found = agent(&project, "adopt --yes").exits(1);
    found
        .notes("may be a stranger's")
        .notes("--client .mcp.json");
    let digest = |run: &Run| {
        let text = &run.stderr;
        let at = text.find("--approve sha256-").unwrap() + "--approve ".len();
        text[at..at + 71].to_owned()
    };
    let listed = agent(&project, "adopt --client .mcp.json --dry-run").exits(0);
    let approved = digest(&listed);
    // Yes covers the user's own files alone.
    agent(&project, "adopt --client .mcp.json --yes").exits(1);
    assert!(!project.has("data/ran"));
    write(
        &project,
        ".mcp.json",
        &ONE.replace("DATA", "DATA\", \"--more"),
    );
    let line = format!("adopt --client .mcp.json --approve {approved}");
    agent(&project, &line)
        .exits(2)
        .notes("look at the list again");
    assert!(!project.has("data/ran"));
    let approved = digest(&agent(&project, "adopt --client .mcp.json --dry-run"));
    let line = format!("adopt --client .mcp.json --approve {approved}");
    agent(&project, &line).exits(0).answers("✓ sums");
    // A project's gateway lies beside its file; what is the operator's lies with the user.
    assert!(project.has("agents.lock"));
    // Nobody rated the data of a server that was just adopted.
    let index: Value = serde_json::from_str(&project.read("mcp.index.json")).expect("JSON");
    assert_eq!(index["servers"][0]["x-unrated"], json!(["data"]));
    assert!(project.has("home/.config/agent/servers.local.yaml"));
    assert!(!project.read(".mcp.json").contains(SECRET));

    // A link could lead to any file.
    let other = self::project();
    let target = write(&other, "home/.profile", ONE);
    symlink(other.path("home/.profile"), other.path(".mcp.json")).unwrap();
    let approved = digest(&agent(&other, "adopt --client .mcp.json --dry-run"));
    let line = format!("adopt --client .mcp.json --approve {approved}");
    agent(&other, &line).exits(2).notes("symbolic link");
    assert_eq!(other.read("home/.profile"), target);
}

#[test]
fn a_projects_own_files_are_kept() {
    let project = project();
    write(&project, ".mcp.json", ONE);
    // For people and their agents: it requires nothing.
    let prose = "# How to build\n";
    project.write("AGENTS.md", prose);
    let adopt = || {
        let listed = agent(&project, "adopt --client .mcp.json --dry-run");
        let at = listed.stderr.find("sha256-").unwrap();
        let digest = &listed.stderr[at..at + 71];
        agent(
            &project,
            &format!("adopt --client .mcp.json --approve {digest}"),
        )
    };
    adopt().exits(0).answers("✓ sums");
    assert_eq!(project.read("AGENTS.md"), prose);
    assert!(project.read("agents.md").contains("- category: sums"));
    agent(&project, "adopt --undo").exits(0);
    assert!(!project.has("agents.md") && !project.has("agents.lock"));
    // A manifest decides what its agent may use.
    let index = |id: &str| {
        let entry = r#"{ "id": "ID", "version": "1.0.0", "endpoint": "https://acme.example/mcp",
            "categories": ["ID"], "scopes": [], "data": { "residency": [], "maxSensitivity": "public" },
            "trust": { "signed": false, "publisher": "acme" }, "capabilities": { "tools": {} } }"#;
        format!("{{ \"servers\": [{}] }}", entry.replace("ID", id))
    };
    let manifest = "---\nname: a\nversion: 1.0.0\nrequires:\n  mcp:\n    - category: acme\n      permissions: []\n---\n";
    project.write("agents.md", manifest);
    project.write("mcp.index.json", index("acme"));
    let before = project.read(".mcp.json");
    adopt()
        .exits(1)
        .answers("`agents.md` of its gateway does not require it");
    assert_eq!(project.read("agents.md"), manifest);
    assert_eq!(project.read(".mcp.json"), before);
    fs::remove_file(project.path("agents.md")).unwrap();
    // An index that gives the id to another server is a stranger's, too.
    project.write("mcp.index.json", index("sums"));
    adopt().exits(1).answers("has another server `sums`");
    assert_eq!(project.read("mcp.index.json"), index("sums"));
    assert_eq!(project.read(".mcp.json"), before);
    let left = files(&project.path("home"));
    assert_eq!(left, [".local/state/agent/adopt.lock"]);
}

#[test]
fn servers_beyond_a_limit_are_left() {
    let project = project();
    let servers = (0..120).map(|it| format!("\"s{it}\": {{ \"command\": \"/no/such\" }}"));
    let servers: Vec<_> = servers.collect();
    write(
        &project,
        CURSOR,
        &format!("{{ \"mcpServers\": {{ {} }} }}", servers.join(", ")),
    );
    let run = agent(&project, "adopt").exits(1);
    let reason = "the configuration has more than 100 servers";
    assert_eq!(run.stdout.matches(reason).count(), 20);
}

#[test]
fn a_known_id_of_another_origin_inherits_nothing() {
    let project = project();
    let (own, evil) = (
        Server::start(|request| mcp(request, "Searches.")),
        Server::start(|request| mcp(request, "Searches, too.")),
    );
    let configuration = |origin: &str, headers: &str| {
        format!("{{ \"mcpServers\": {{ \"github\": {{ \"url\": \"{origin}/mcp\"{headers} }} }} }}")
    };
    let headers = ", \"headers\": { \"Authorization\": \"Bearer SECRET\" }";
    write(&project, CURSOR, &configuration(&own.origin(), headers));
    agent(&project, "adopt --yes")
        .exits(0)
        .answers("✓ github  github@1.0.0");
    let sent = |server: &Server| server.requests().iter().any(|it| it.head.contains(SECRET));
    assert!(sent(&own));
    write(&project, "evil.json", &configuration(&evil.origin(), ""));
    let listed = agent(&project, "adopt --client evil.json --dry-run");
    let at = listed.stderr.find("sha256-").unwrap();
    let digest = &listed.stderr[at..at + 71];
    let run = agent(
        &project,
        &format!("adopt --client evil.json --approve {digest}"),
    );
    run.exits(0).answers("✓ github  github-");
    assert!(!evil.requests().is_empty() && !sent(&evil));
    let operator = project.read("home/.config/agent/servers.local.yaml");
    assert!(
        operator.contains(&format!("origin: \"{}\"", own.origin())),
        "{operator}"
    );
    // The same server with a token of the stranger replaces none of ours.
    let other = configuration(
        &own.origin(),
        &headers.replace("SECRET", "token-of-the-stranger"),
    );
    write(&project, "third/other.json", &other);
    let listed = agent(&project, "adopt --client third/other.json --dry-run");
    let at = listed.stderr.find("sha256-").unwrap();
    let line = format!(
        "adopt --client third/other.json --approve {}",
        &listed.stderr[at..at + 71]
    );
    agent(&project, &line).exits(0).answers("✓ github  github-");
    let kept = project.read("home/.local/share/agent/secrets/github.Authorization");
    assert_eq!(kept, SECRET);
}

#[test]
fn an_undo_changes_our_entries_alone() {
    let project = project();
    write(&project, CURSOR, ONE);
    agent(&project, "adopt --yes").exits(0);
    let after = project.read(CURSOR);
    // The gateway's own entry was changed.
    project.write(
        CURSOR,
        after.replace("\"serve\"", "\"serve\", \"--observe\""),
    );
    let run = agent(&project, "adopt --undo").exits(1);
    run.notes("was changed or removed")
        .notes("its former content is");
    assert!(project.read(CURSOR).contains("--observe"));
    // Something else was.
    let other = after.replace(
        "{ \"mcpServers\": {",
        "{ \"mine\": 1, \"mcpServers\": { \"b\": { \"url\": \"https://b.example\" },",
    );
    project.write(CURSOR, &other);
    agent(&project, "adopt --undo").exits(0);
    let now = project.read(CURSOR);
    assert!(
        now.starts_with("{ \"mine\": 1, \"mcpServers\": { \"b\":"),
        "{now}"
    );
    assert!(now.contains(SECRET) && !now.contains("\"agent\""), "{now}");
    agent(&project, "adopt --undo")
        .exits(1)
        .notes("no adoption to undo");
}

#[test]
fn a_running_client_that_writes_its_file_again_is_named() {
    let project = project();
    let before = write(&project, CURSOR, ONE);
    let path = project.path(CURSOR);
    let client = thread::spawn({
        let (path, before) = (path.clone(), before.clone());
        move || {
            let end = Instant::now() + Duration::from_secs(60);
            while fs::read_to_string(&path).unwrap() == before && Instant::now() < end {
                sleep(Duration::from_millis(5));
            }
            fs::write(&path, &before).unwrap();
        }
    });
    let run = agent(&project, "adopt --yes").exits(1);
    run.notes("`cursor` has written")
        .notes("end it, and run this again");
    client.join().unwrap();
    // So it is: nothing else has to be cleaned up.
    agent(&project, "adopt --yes").exits(0);
    assert!(project.read(CURSOR).contains("\"agent\""));
    agent(&project, "adopt --undo").exits(0);
    assert_eq!(project.read(CURSOR), before);
}

#[test]
fn a_program_of_a_cache_is_copied_to_where_it_stays() {
    let project = project();
    write(&project, CURSOR, ONE);
    let cache = project.path("home/.npm/_npx/0f");
    fs::create_dir_all(&cache).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_agent"), cache.join("agent")).unwrap();
    let run = |line: &str| {
        let program = cache.join("agent");
        let mut command = project.command_of(program.to_str().unwrap(), line.split_whitespace());
        command.env("HOME", project.path("home"));
        for folder in ["CONFIG", "DATA", "STATE"] {
            command.env_remove(format!("XDG_{folder}_HOME"));
        }
        Run::of(command)
    };
    run("adopt --dry-run")
        .exits(0)
        .answers("/.local/share/agent/bin/");
    assert!(!project.has("home/.local/share/agent"));
    run("adopt --yes").exits(0);
    let version = env!("CARGO_PKG_VERSION");
    let kept = project.path(format!("home/.local/share/agent/bin/{version}/agent"));
    assert!(project.read(CURSOR).contains(kept.to_str().unwrap()));
    let mode = fs::metadata(&kept).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert!(
        Command::new(&kept)
            .arg("--version")
            .output()
            .unwrap()
            .status
            .success()
    );
}

#[test]
fn backups_are_forgotten_on_request() {
    let project = project();
    write(&project, CURSOR, ONE);
    agent(&project, "adopt --yes").exits(0);
    agent(&project, "doctor").exits(0).answers("has secrets");
    agent(&project, "disconnect cursor")
        .exits(2)
        .notes("adopt --undo");
    agent(&project, "adopt --forget")
        .exits(0)
        .notes("removed the backup");
    assert!(
        !files(&project.path("home"))
            .iter()
            .any(|it| it.contains("/adopt/"))
    );
    agent(&project, "adopt --undo").exits(1);
    // The client works on.
    agent(&project, "disconnect cursor").exits(0);
    assert!(!project.read(CURSOR).contains("agent"));
}

#[test]
fn secrets_go_to_the_keyring_if_there_is_one() {
    let project = project();
    write(&project, CURSOR, ONE);
    fs::create_dir_all(project.path("bin")).unwrap();
    let keyring = project.path("keyring");
    fs::create_dir(&keyring).unwrap();
    let script = format!(
        "#!/bin/sh\nfor name; do :; done\ncase $1 in\nstore) cat > {0}/$name ;;\nlookup) cat {0}/$name ;;\nclear) rm -f {0}/$name ;;\nesac\n",
        keyring.display()
    );
    project.write("bin/secret-tool", script);
    fs::set_permissions(
        project.path("bin/secret-tool"),
        Permissions::from_mode(0o755),
    )
    .unwrap();
    let run = |line: &str| {
        let mut command = command(&project, line);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", project.path("bin").display()));
        Run::of(command)
    };
    run("adopt --yes")
        .exits(0)
        .answers("1 secret moved to the keyring");
    assert_eq!(project.read("keyring/sums.TOKEN"), SECRET);
    let operator = project.read("home/.config/agent/servers.local.yaml");
    assert!(
        operator.contains("{ keyring: \"sums.TOKEN\" }"),
        "{operator}"
    );
    run("adopt --undo").exits(0);
    assert!(!project.has("keyring/sums.TOKEN"));
}

#[test]
fn a_run_that_is_killed_can_be_repeated() {
    // What an adoption comes to, and how long it takes.
    let usual = project();
    write(&usual, CURSOR, ONE);
    let begin = Instant::now();
    agent(&usual, "adopt --yes").exits(0);
    let whole = begin.elapsed();
    let state = |project: &Project| {
        let home = project.path("home");
        let own = home.display().to_string();
        let texts = files(&home)
            .into_iter()
            .filter(|it| !it.starts_with(".local/state"));
        let texts = texts.map(|it| {
            let text = fs::read_to_string(home.join(&it))
                .unwrap()
                .replace(&own, "HOME");
            (
                it,
                text.replace(&project.path("").display().to_string(), "WORK"),
            )
        });
        texts.collect::<Vec<_>>()
    };
    let expected = state(&usual);
    for step in 0..12 {
        let project = project();
        let before = write(&project, CURSOR, ONE);
        let mut child = command(&project, "adopt --yes")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(whole * step / 12);
        let _ = child.kill();
        child.wait().unwrap();
        // The file is as it was, or whole.
        let now = project.read(CURSOR);
        assert!(now == before || now.contains("\"serve\""), "{now}");
        let again = agent(&project, "adopt --yes");
        assert_eq!(
            state(&project),
            expected,
            "killed at {step} of 12: {again:?}"
        );
        agent(&project, "adopt --undo").exits(0);
        assert_eq!(project.read(CURSOR), before);
        let left = files(&project.path("home"));
        assert_eq!(
            left,
            [".cursor/mcp.json", ".local/state/agent/adopt.lock"],
            "{step}"
        );
    }
}

#[test]
fn files_of_an_ended_run_do_not_stay() {
    let project = project();
    let before = write(&project, CURSOR, ONE);
    agent(&project, "adopt --yes").exits(0);
    // Ended while it removed them.
    let staged = "home/.local/state/agent/adopt/.staged";
    for line in ["adopt --yes", "adopt --undo"] {
        fs::create_dir(project.path(staged)).unwrap();
        project.write(&format!("{staged}/agents.md"), "---\n---\n");
        agent(&project, line).exits(0);
        assert!(!project.has(staged), "{line}");
    }
    assert_eq!(project.read(CURSOR), before);
    // Ended before it had a whole record, or after it had removed one.
    let partial = "home/.local/state/agent/adopt/7";
    fs::create_dir(project.path(partial)).unwrap();
    project.write(&format!("{partial}/before"), &before);
    agent(&project, "adopt --undo").exits(1);
    assert!(!project.has(partial));
}

#[test]
fn the_lock_of_a_killed_run_is_waited_for() {
    let project = project();
    write(&project, CURSOR, ONE);
    fs::create_dir_all(project.path("home/.local/state/agent")).unwrap();
    let path = project.path("home/.local/state/agent/adopt.lock");
    let lock = fs::File::create(path).unwrap();
    lock.lock().unwrap();
    agent(&project, "adopt --dry-run")
        .exits(2)
        .notes("another `agent adopt` runs");
    thread::scope(|scope| {
        let run = scope.spawn(|| agent(&project, "adopt --dry-run"));
        sleep(Duration::from_millis(200));
        drop(lock);
        run.join().unwrap().exits(0);
    });
}

#[test]
fn hostile_configurations_start_nothing() {
    for (entry, says) in [
        (
            r#"{ "command": "sh", "args": ["-c", "touch DATA/ran"] }"#,
            "`sh` runs a text",
        ),
        (
            r#"{ "command": "/bin/bash", "args": ["x\ny"] }"#,
            "`bash` runs a text",
        ),
        (
            r#"{ "command": "/usr/bin/python3", "args": ["SRV", "DATA"], "env": { "LD_PRELOAD": "DATA/x.so" } }"#,
            "`LD_PRELOAD` loads other code",
        ),
        (
            r#"{ "command": "/usr/bin/python3", "args": ["SRV", "DATA"], "env": { "PythonPath": "DATA" } }"#,
            "`PythonPath` loads other code",
        ),
        (
            r#"{ "command": "/usr/bin/python3", "args": ["SRV", "/"] }"#,
            "may write `/`",
        ),
        (
            r#"{ "command": "/usr/bin/python3", "args": ["SRV", "HOME"] }"#,
            "with its own rules",
        ),
        (
            r#"{ "command": "/usr/bin/python3", "args": ["SRV", "${input:key}"] }"#,
            "--input key=FILE",
        ),
        (
            r#"{ "command": "/usr/bin/python3", "args": ["SRV", "${workspaceFolder}"] }"#,
            "the client has open",
        ),
        (
            r#"{ "command": "/usr/bin/python3", "args": ["SRV", "${AGENT_NO_SUCH}"] }"#,
            "`AGENT_NO_SUCH` is not set",
        ),
        (
            r#"{ "command": "/usr/bin/python3", "args": ["SRV"], "envFile": ".env" }"#,
            "comes from a file",
        ),
        (
            r#"{ "url": "https://me:SECRET@a.example/mcp" }"#,
            "user info",
        ),
        (r#"{ "url": "file:///etc/passwd" }"#, "not one of HTTP"),
        (r#"{ "args": [] }"#, "neither a command nor a URL"),
    ] {
        let project = project();
        let home = project.path("home").display().to_string();
        let text = format!("{{ \"mcpServers\": {{ \"a\\nb\": {entry} }} }}").replace("HOME", &home);
        let before = write(&project, CURSOR, &text);
        let run = agent(&project, "adopt --yes").exits(1).answers(says);
        run.notes("no server can be adopted");
        assert!(!project.has("data/ran"), "{entry}");
        assert_eq!(project.read(CURSOR), before);
    }
    let project = project();
    write(
        &project,
        CURSOR,
        &format!(
            "{{ \"mcpServers\": {{ \"a\": {{ \"command\": \"{}\" }} }} }}",
            "x".repeat(17 << 20)
        ),
    );
    agent(&project, "adopt --yes")
        .exits(1)
        .notes("INPUT_TOO_LARGE");
    write(&project, CURSOR, "{ \"mcpServers\": ");
    agent(&project, "adopt --yes").exits(1).notes("JSON_SYNTAX");
}

#[test]
fn a_gateway_is_connected_and_disconnected() {
    let project = project();
    agent(&project, "connect codex")
        .exits(2)
        .notes("agent resolve");
    for name in ["agents.lock", "mcp.index.json"] {
        project.write(name, "{}");
    }
    let run = agent(&project, "connect").exits(2);
    run.notes("no configuration of an MCP client was found");
    agent(&project, "connect nosuch")
        .exits(2)
        .notes("is not known");
    let before = "# mine\nmodel = \"m\"\n";
    write(&project, "home/.codex/config.toml", before);
    let run = agent(&project, "connect --dry-run").exits(0);
    run.answers("+[mcp_servers.agent]").notes("would write");
    assert_eq!(project.read("home/.codex/config.toml"), before);
    agent(&project, "connect").exits(0).notes("wrote");
    let after = project.read("home/.codex/config.toml");
    let lock = project.path("agents.lock");
    assert!(after.starts_with(before), "{after}");
    assert!(
        after.contains(lock.to_str().unwrap()) && after.contains("\"--for\", \"openai\""),
        "{after}"
    );
    agent(&project, "connect codex")
        .exits(0)
        .notes("is up to date");
    agent(&project, "clients").exits(0).answers("[governed]");
    agent(&project, "disconnect").exits(0);
    let now = project.read("home/.codex/config.toml");
    assert_eq!(now.trim_end(), before.trim_end());
    agent(&project, "disconnect codex")
        .exits(1)
        .notes("does not start the gateway");
}

#[test]
fn the_doctor_says_what_to_do() {
    let project = project();
    write(&project, CURSOR, ONE);
    agent(&project, "doctor").exits(0).answers("✓ sandbox");
    agent(&project, "adopt --yes").exits(0);
    fs::remove_file(project.path("home/.local/share/agent/secrets/sums.TOKEN")).unwrap();
    let index = "home/.config/agent/gateways/cursor/mcp.index.json";
    project.write(
        index,
        project
            .read(index)
            .replace("Adds numbers.", "Adds more numbers."),
    );
    let run = agent(&project, "doctor").exits(1);
    let run = run
        .answers("`sums.TOKEN`: the file")
        .answers("help: keep the value again");
    run.answers("its lock does not match its index")
        .answers("run `agent resolve` in");
    let found = agent(&project, "doctor --format json").exits(1).json();
    let problems = found["findings"].as_array().unwrap().iter();
    let problems = problems.filter(|it| it["problem"] == true).count();
    assert_eq!(problems, 2, "{found}");
}
