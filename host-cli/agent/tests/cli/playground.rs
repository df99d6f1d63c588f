//! `agent playground`: the page that was installed with the program, on loopback.

use crate::project::{INDEX, MANIFEST, Project};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A page of two files.
const PAGE: &str = "<!doctype html><title>page</title>";

/// A running program, and the address that it printed.
struct Served {
    child: Child,
    host: String,
    token: String,
}

fn project() -> Project {
    let project = Project::new();
    fs::create_dir_all(project.path("page/engine")).unwrap();
    project.write("page/index.html", PAGE);
    project.write("page/engine/a.wasm", b"\0asm");
    project
}

impl Served {
    fn start(project: &Project, idle: &str) -> Self {
        Self::of(project.command(["playground", "--page", "page", "--idle", idle]))
    }

    /// Runs a command that prints an address behind its answer.
    fn of(mut command: Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let output = child.stdout.as_mut().unwrap();
        let mut lines = BufReader::new(output).lines().map(Result::unwrap);
        let address = lines.find_map(|line| Some(line.strip_prefix("http://")?.to_owned()));
        let address = address.expect("an address");
        let (host, token) = address.split_once("/#local.").expect("a token");
        Self {
            host: host.to_owned(),
            token: token.to_owned(),
            child,
        }
    }

    /// Returns what the page gets.
    fn documents(&self) -> Value {
        let bearer = format!("Bearer {}", self.token);
        let (_, documents) = self.ask("GET /documents.json", &[("Authorization", &bearer)]);
        serde_json::from_str(&documents).unwrap()
    }

    /// Returns the answer to a request, its head and its body. The host is that of the address unless a header
    /// names another.
    fn ask(&self, line: &str, headers: &[(&str, &str)]) -> (String, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let mut request = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request += &format!("Host: {}\r\n", self.host);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        stream.write_all((request + "\r\n").as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        (head.to_ascii_lowercase(), body.to_owned())
    }

    fn status(&self, line: &str, headers: &[(&str, &str)]) -> String {
        let (head, _) = self.ask(line, headers);
        head.split(' ').nth(1).unwrap_or_default().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_page_and_the_documents_are_served_to_the_page_alone() {
    let project = project();
    let served = Served::start(&project, "600");
    assert!(served.host.starts_with("127.0.0.1:"), "{}", served.host);
    // In hexadecimal digits: at least 128 bits.
    assert!(served.token.len() >= 32, "{}", served.token);

    let (head, body) = served.ask("GET /", &[]);
    assert_eq!(body, PAGE);
    for header in [
        "content-type: text/html; charset=utf-8",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        "content-security-policy: frame-ancestors 'none'",
        "x-frame-options: deny",
        "referrer-policy: no-referrer",
        "cross-origin-opener-policy: same-origin",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(head.contains(header), "{header}: {head}");
    }
    assert!(!head.contains("access-control"), "{head}");
    let (head, _) = served.ask("GET /engine/a.wasm", &[]);
    assert!(head.contains("content-type: application/wasm"), "{head}");

    let bearer = format!("Bearer {}", served.token);
    let authorization = ("Authorization", &*bearer);
    assert_eq!(
        served.documents(),
        json!({ "engine": env!("CARGO_PKG_VERSION"), "index": INDEX, "manifest": MANIFEST })
    );

    let documents = "GET /documents.json";
    let short = &bearer[..bearer.len() - 1];
    for (status, line, headers) in [
        ("401", documents, &[][..]),
        ("401", documents, &[("Authorization", short)]),
        ("403", documents, &[authorization, ("Host", "evil.example")]),
        (
            "403",
            documents,
            &[authorization, ("Origin", "https://evil.example")],
        ),
        (
            "403",
            documents,
            &[authorization, ("Sec-Fetch-Site", "cross-site")],
        ),
        ("403", "GET /", &[("Host", "evil.example")]),
        ("405", "POST /documents.json", &[authorization]),
        ("405", "OPTIONS /documents.json", &[]),
        ("404", "GET /agents.md", &[]),
        ("404", "GET /../agents.md", &[]),
        ("404", "GET /engine/../index.html", &[]),
        ("404", "GET /engine", &[]),
    ] {
        assert_eq!(served.status(line, headers), status, "{line} {headers:?}");
    }
}

#[test]
fn a_command_with_open_answers_and_then_shows_its_files() {
    let project = project();
    let run = |line: &[&str]| {
        let mut command = project.command(line);
        command.env("AGENT_PLAYGROUND", "page");
        Served::of(command)
    };
    let served = run(&["resolve", "--open"]);
    assert_eq!(served.ask("GET /", &[]).1, PAGE);
    let engine = env!("CARGO_PKG_VERSION");
    let lock = project.read("agents.lock");
    assert_eq!(
        served.documents(),
        json!({ "engine": engine, "index": INDEX, "lock": lock, "manifest": MANIFEST })
    );
    // An answer of no is shown too.
    let strict = MANIFEST.replace("read:", "delete:");
    project.write("agents.md", &strict);
    let served = run(&["resolve", "--locked", "--open"]);
    assert_eq!(served.documents()["manifest"], json!(strict));
    project.write("call.json", "{}");
    let served = run(&["plan", "check", "--call", "call.json", "--open"]);
    let documents = served.documents();
    assert_eq!(
        (&documents["area"], &documents["call"]),
        (&json!("call"), &json!("{}"))
    );
    for name in ["plan.json", "pool.json", "profile.json"] {
        project.write(name, format!("{{\"a\": \"{name}\"}}"));
    }
    let served = run(&[
        "plan",
        "check",
        "plan.json",
        "--tool-pool",
        "pool.json",
        "--profile",
        "profile.json",
        "--open",
    ]);
    let documents = served.documents();
    assert_eq!(documents["area"], json!("plans"));
    for (field, name) in [
        ("plan", "plan.json"),
        ("toolPool", "pool.json"),
        ("profile", "profile.json"),
    ] {
        assert_eq!(documents[field], json!(project.read(name)), "{field}");
    }
    project.write("agent.audit.jsonl", "{}\n");
    let served = run(&["replay", "agent.audit.jsonl", "--open"]);
    let documents = served.documents();
    assert_eq!(
        (&documents["area"], &documents["evidence"]),
        (&json!("audit"), &json!("{}\n"))
    );
    assert_eq!(documents["lock"], json!(lock));
    project
        .agent_reading("plan check --call - --open", "{}")
        .exits(2)
        .notes("`--open` does not show standard input");
}

#[test]
fn a_page_beside_the_program_is_found() {
    let project = project();
    let installed = project.path("installed");
    for folder in ["bin", "share/agent-playground"] {
        fs::create_dir_all(installed.join(folder)).unwrap();
    }
    project.write("installed/share/agent-playground/index.html", PAGE);
    let (built, program) = (env!("CARGO_BIN_EXE_agent"), installed.join("bin/agent"));
    fs::hard_link(built, &program)
        .or_else(|_| fs::copy(built, &program).map(drop))
        .unwrap();
    let program = program.to_string_lossy();
    let served = Served::of(project.command_of(&program, ["playground"]));
    assert_eq!(served.ask("GET /", &[]).1, PAGE);
}

#[test]
fn it_ends_without_an_open_page() {
    let project = project();
    let mut served = Served::start(&project, "1");
    assert_eq!(served.status("GET /", &[]), "200");
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
    assert!(TcpStream::connect(&served.host).is_err());
}

#[test]
fn without_a_page_it_says_where_one_is() {
    let project = Project::new();
    project
        .agent("playground --page .")
        .exits(2)
        .answers_nothing()
        .notes("has no `index.html`");
    for line in ["playground", "resolve --open"] {
        project
            .agent(line)
            .exits(2)
            .notes("this program was installed without the page")
            .notes("`AGENT_PLAYGROUND`");
    }
}
