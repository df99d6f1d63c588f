//! A folder with a lock, a running decision point, and a client of it.

use agent_host::contract::capability::Notation;
use agent_host::{Engine, call};
use agent_syntax::Node;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{boolean, items, member, string};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-pdp");

/// The tools are the actions of AuthZEN's certification fixture, one that is rate limited, and one that a human approves.
const TOOLS: [(&str, &str); 5] = [
    ("read", ""),
    ("write", ""),
    ("delete", ""),
    ("count", "rate_limited"),
    ("sign", "human_in_the_loop"),
];

/// The rules of the fixture, by arguments instead of resources.
const POLICY: &str = r#"package switchboard

allowed_tools contains tool.id if {
    some tool in input.candidate_tools
    input.phase != "call"
}

allowed_tools contains tool.id if {
    some tool in input.candidate_tools
    may(tool.tool)
}

deny_reasons[tool.id] := "the role does not allow it" if {
    some tool in input.candidate_tools
    input.phase == "call"
    not may(tool.tool)
}

archived if input.arguments.status == "archived"

may(tool) if tool in {"read", "count", "sign"}

may("write") if {
    input.subject.id == "alice"
    not archived
}

may("write") if input.subject.properties.role == "admin"

may("delete") if {
    input.subject.id == "alice"
    input.arguments.soft == true
}
"#;

/// A folder with the documents of an agent.
pub(crate) struct Folder {
    pub(crate) root: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = Self {
            root: tempfile::tempdir().unwrap(),
        };
        let tools = TOOLS.map(|(tool, constraint)| {
            let constraints = match constraint {
                "" => String::new(),
                constraint => format!("\"{constraint}\""),
            };
            format!(
                r#""{tool}":{{"description":"{tool}","inputSchema":{{"type":"object","properties":{{"record":{{"type":"string"}},"status":{{"type":"string"}},"soft":{{"type":"boolean"}}}}}},"x-summit-capabilities":[{{"verb":"read","resource":"x-{tool}","constraints":[{constraints}]}}]}}"#
            )
        });
        let index = format!(
            r#"{{"servers":[{{"id":"records","version":"1","endpoint":"https://records.example/mcp","categories":["all"],"scopes":[],"trust":{{"signed":true,"publisher":"P"}},"data":{{"residency":"eu-only","maxSensitivity":"internal"}},"policy":{{"rateLimitPerMin":3}},"capabilities":{{"tools":{{{}}}}}}}]}}"#,
            tools.join(",")
        );
        let required = TOOLS.map(|(tool, constraint)| {
            format!("    - {{ verb: read, resource: x-{tool}, constraints: [{constraint}] }}\n")
        });
        let manifest = format!(
            "---\nname: clerk\nversion: 1.0.0\nrequires:\n  capabilities:\n{}---\n",
            required.concat()
        );
        let mut engine = Engine::embedded().unwrap().instantiate().unwrap();
        let engine = &mut engine;
        let manifest = call!(engine, inputs.manifest.parse(manifest.as_bytes()));
        let manifest = manifest.unwrap().unwrap();
        let loaded = call!(engine, inputs.index.load(index.as_bytes()));
        let loaded = loaded.unwrap().unwrap();
        let policy = call!(engine, policy.policy.parse(POLICY.as_bytes()));
        let policy = policy.unwrap().unwrap();
        let context = call!(engine, policy.context.parse(b"{}", Notation::Json));
        let context = context.unwrap().unwrap();
        let free = call!(
            engine,
            capability.evaluation_context.constructor(None, None, None)
        );
        let governed = call!(
            engine,
            policy.policy.govern(policy, free.unwrap(), Some(context))
        );
        let resolved = call!(
            engine,
            capability.resolve(manifest, loaded, governed.unwrap())
        );
        let resolved = resolved.unwrap().unwrap();
        let lock = call!(engine, lockfile.lock.of_resolution(resolved)).unwrap();
        let lock = lock.expect("every requirement has a tool");
        let definitions = call!(engine, lockfile.lock.definitions(lock, loaded)).unwrap();
        let text = call!(engine, lockfile.lock.render(lock)).unwrap();
        folder.write("agents.lock", &text);
        folder.write(
            "agents.definitions.json",
            &definitions.expect("definitions"),
        );
        folder.write("mcp.index.json", &index);
        folder.write("policy.rego", POLICY);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// A decision point in this folder, with its socket there.
    pub(crate) fn command(&self) -> Command {
        self.command_at("pdp.sock")
    }

    /// A decision point in this folder, with a socket of a name there.
    pub(crate) fn command_at(&self, socket: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .current_dir(self.root.path())
            .args([
                "--socket",
                socket,
                "--policy",
                "policy.rego",
                "--threads",
                "2",
            ])
            .stderr(Stdio::piped());
        command
    }

    /// Starts a decision point, and waits until it decides.
    pub(crate) fn start(&self) -> Running {
        let child = self.command().spawn().unwrap();
        Running::of(child, self.path("pdp.sock"))
    }

    /// Runs a decision point that does not start. Returns its exit code and what it says.
    pub(crate) fn failing(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.command().args(arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), text)
    }
}

/// Starts a decision point in a folder of its own.
pub(crate) fn running() -> Running {
    let folder = Folder::new();
    let mut running = folder.start();
    running._folder = Some(folder);
    running
}

/// A running decision point, which is killed at last.
pub(crate) struct Running {
    pub(crate) child: Child,
    /// The lines that it says.
    said: Mutex<Receiver<String>>,
    pub(crate) socket: PathBuf,
    /// The first line that it says.
    pub(crate) first: String,
    /// Removed with it.
    _folder: Option<Folder>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// The lines of the head, in small letters.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    /// Returns whether the head has a line.
    pub(crate) fn has(&self, line: &str) -> bool {
        self.head.lines().any(|it| it == line)
    }

    pub(crate) fn json(&self) -> Node<'_> {
        parse_strict(&self.body).unwrap_or_else(|| panic!("no JSON: {}", self.body))
    }

    /// Returns `decision` of an evaluation.
    pub(crate) fn decision(&self) -> bool {
        assert_eq!(self.status, 200, "{}", self.body);
        decision(&self.json())
    }

    /// Returns `decision` of each evaluation.
    pub(crate) fn decisions(&self) -> Vec<bool> {
        assert_eq!(self.status, 200, "{}", self.body);
        let json = self.json();
        assert!(member(&json, "decision").is_none());
        let all = member(&json, "evaluations").and_then(items).unwrap();
        all.iter().map(decision).collect()
    }

    /// Returns the codes of the reasons.
    pub(crate) fn codes(&self) -> Vec<String> {
        let json = self.json();
        let reasons = member(&json, "reasons").and_then(items).unwrap();
        let code = |it: &Node<'_>| member(it, "code").and_then(string).unwrap().to_owned();
        reasons.iter().map(code).collect()
    }
}

fn decision(json: &Node<'_>) -> bool {
    member(json, "decision").and_then(boolean).unwrap()
}

impl Running {
    /// Waits until a started program decides.
    pub(crate) fn of(mut child: Child, socket: PathBuf) -> Self {
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, said) = mpsc::channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                // The rest is read too, so that the program never waits.
                let _ = sender.send(line);
            }
        });
        let first = said.recv().expect("a line");
        Self {
            child,
            said: Mutex::new(said),
            socket,
            first,
            _folder: None,
        }
    }

    /// Reads what it says until a line contains a text. Returns the line.
    pub(crate) fn wait_for(&self, text: &str) -> String {
        let said = self.said.lock().unwrap();
        loop {
            let line = said.recv_timeout(Duration::from_secs(60));
            let line = line.unwrap_or_else(|_| panic!("it does not say `{text}`"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Sends the bytes of a request, and reads the answer.
    pub(crate) fn send(&self, request: &[u8]) -> Reply {
        send(&self.socket, request)
    }

    /// Posts JSON.
    pub(crate) fn post(&self, path: &str, body: &str) -> Reply {
        self.post_with(path, "content-type: application/json\r\n", body)
    }

    pub(crate) fn post_with(&self, path: &str, headers: &str, body: &str) -> Reply {
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: pdp.example\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        self.send(request.as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: pdp.example\r\nconnection: close\r\n\r\n");
        self.send(request.as_bytes())
    }

    /// Asks `/v1/decide`.
    pub(crate) fn decide(&self, body: &str) -> Reply {
        self.post("/v1/decide", body)
    }
}

pub(crate) fn send(socket: &Path, request: &[u8]) -> Reply {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    // An answer may come before all of the request is read.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    reply(answer)
}

/// Reads the bytes of an answer.
pub(crate) fn reply(answer: Vec<u8>) -> Reply {
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let (line, head) = head.split_once("\r\n").expect("headers");
    Reply {
        status: line.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_lowercase(),
        body: body.to_owned(),
    }
}
