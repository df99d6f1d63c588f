//! A client of `agent serve --http`, which speaks HTTP by bytes.

use crate::project::{Project, Run};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The time in which every answer of these tests arrives.
const AMPLE: Duration = Duration::from_secs(60);

/// A gateway over HTTP at work.
pub(crate) struct Served<'p> {
    project: &'p Project,
    pub(crate) child: Child,
    /// The paths of the agents, each with the token of its first client.
    pub(crate) agents: Vec<(String, String)>,
    /// The files of all tokens, in order.
    pub(crate) token_files: Vec<PathBuf>,
    pub(crate) address: String,
}

/// An answer of HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| &**value)
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the messages of a stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|it| it.strip_prefix("data: "));
        data.map(|it| serde_json::from_str(it).unwrap()).collect()
    }
}

/// A connection whose answer is read line by line.
pub(crate) struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Returns the next line, without its end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Waits for the next message of a stream of events.
    pub(crate) fn message(&mut self) -> Value {
        let end = Instant::now() + AMPLE;
        loop {
            assert!(Instant::now() < end, "no message in time");
            let mut line = String::new();
            assert_ne!(
                self.0.read_line(&mut line).unwrap(),
                0,
                "the stream goes on"
            );
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    /// Reads up to the end.
    pub(crate) fn answer(mut self) -> Answer {
        let mut bytes = Vec::new();
        // A refused body may reset the connection after the answer.
        let _ = self.0.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|it| it.split(' ').nth(1));
        let headers = lines.filter_map(|it| it.split_once(": "));
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let is_chunked = headers.iter().any(|(name, _)| name == "transfer-encoding");
        Answer {
            status: status.and_then(|it| it.parse().ok()).unwrap_or(0),
            body: if is_chunked {
                joined(body)
            } else {
                body.to_owned()
            },
            headers,
        }
    }
}

/// Joins the chunks of a body.
fn joined(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.push_str(&rest[..size]);
        body = rest[size..].strip_prefix("\r\n").unwrap_or("");
    }
    whole
}

impl<'p> Served<'p> {
    /// Starts a gateway, and waits until it listens.
    pub(crate) fn start(project: &'p Project, options: &str) -> Self {
        Self::start_with(project, options, 2)
    }

    /// The same for a gateway that says so in a number of lines.
    pub(crate) fn start_with(project: &'p Project, options: &str, expected: usize) -> Self {
        let line = format!("serve --http {options}");
        let mut child = project
            .command(line.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The rest of standard output is empty.
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = Vec::new();
        while lines.len() < expected {
            let mut line = String::new();
            if output.read_line(&mut line).unwrap() == 0 {
                break;
            }
            lines.push(line.trim_end().to_owned());
        }
        child.stdout = Some(output.into_inner());
        assert!(!lines.is_empty(), "{:?}", child.wait_with_output().unwrap());
        let mut served = Self {
            project,
            child,
            agents: Vec::new(),
            token_files: Vec::new(),
            address: String::new(),
        };
        for line in &lines {
            if let Some(rest) = line.strip_prefix("http://") {
                let (address, path) = rest.split_once('/').unwrap();
                address.clone_into(&mut served.address);
                served.agents.push((format!("/{path}"), String::new()));
                continue;
            }
            let file = project.path(line.split_once(": ").unwrap().1);
            let (_, token) = served.agents.last_mut().unwrap();
            if token.is_empty() {
                fs::read_to_string(&file).unwrap().trim().clone_into(token);
            }
            served.token_files.push(file);
        }
        served
    }

    /// Sends a request, and returns what comes back on its connection.
    pub(crate) fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Stream {
        open(&self.address, (method, path), headers, body)
    }

    /// Returns the headers of every message to the first agent.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        vec![
            (
                "Authorization".to_owned(),
                format!("Bearer {}", self.agents[0].1),
            ),
            ("Content-Type".to_owned(), "application/json".to_owned()),
            (
                "Accept".to_owned(),
                "application/json, text/event-stream".to_owned(),
            ),
        ]
    }

    /// Posts a message to the first agent, with more headers.
    pub(crate) fn post_open(&self, more: &[(&str, &str)], message: &Value) -> Stream {
        let own = self.headers();
        let mut headers: Vec<(&str, &str)> = own.iter().map(|(n, v)| (&**n, &**v)).collect();
        headers.extend(more);
        self.open("POST", &self.agents[0].0, &headers, &message.to_string())
    }

    pub(crate) fn post(&self, more: &[(&str, &str)], message: &Value) -> Answer {
        self.post_open(more, message).answer()
    }

    /// Opens a session, and returns its id.
    pub(crate) fn initialize(&self, version: &str) -> String {
        let answer = self.post(&[], &initialize(version));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["result"]["protocolVersion"], version);
        answer.header("mcp-session-id").unwrap().to_owned()
    }

    /// Calls a tool in a session.
    pub(crate) fn call(&self, session: &str, tool: &str, arguments: Value) -> Value {
        let call = request(
            7,
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        );
        let answer = self.post(&[("Mcp-Session-Id", session)], &call);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].clone()
    }

    /// Sends a request without a session, with the headers that its body requires.
    pub(crate) fn alone(&self, id: u64, method: &str, params: Value) -> Stream {
        let (message, name) = stateless(id, method, params);
        let mut headers = vec![
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        if let Some(name) = &name {
            headers.push(("Mcp-Name", name));
        }
        self.post_open(&headers, &message)
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub(crate) fn signal(&self, signal: i32) {
        // SAFETY: a signal to the process that this test started and has not waited for.
        #[expect(unsafe_code, reason = "the standard library sends no signals")]
        unsafe {
            libc::kill(self.pid(), signal);
        }
    }

    /// Ends the gateway by a signal, and returns the ended run.
    pub(crate) fn end(self) -> Run {
        self.signal(libc::SIGTERM);
        let output = self.child.wait_with_output().unwrap();
        Run::new(output, &self.project.path(""))
    }
}

/// Sends a request to an address, and returns what comes back on its connection.
pub(crate) fn open(
    address: &str,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: &str,
) -> Stream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(AMPLE)).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        head.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let length = body.len();
    // A gateway that refuses the head reads no body.
    let _ = stream.write_all(format!("{head}Content-Length: {length}\r\n\r\n{body}").as_bytes());
    Stream(BufReader::new(stream))
}

pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(crate) fn initialize(version: &str) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    request(1, "initialize", params)
}

/// Returns a request that stands alone, and what its header `Mcp-Name` repeats.
pub(crate) fn stateless(id: u64, method: &str, mut params: Value) -> (Value, Option<String>) {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    let capabilities = &mut params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    if capabilities.is_null() {
        *capabilities = json!({});
    }
    let name = params.get("name").or(params.get("uri"));
    let name = name.and_then(Value::as_str).map(str::to_owned);
    (request(id, method, params), name)
}
