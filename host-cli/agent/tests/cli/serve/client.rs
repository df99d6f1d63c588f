//! A client of `agent serve`, which speaks by lines.

use crate::project::{Project, Run};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The time in which every message of these tests arrives.
const AMPLE: Duration = Duration::from_secs(60);

/// A gateway at work, with its client.
pub(crate) struct Served<'p> {
    project: &'p Project,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Messages that were received while another one was waited for.
    waiting: VecDeque<Value>,
    next_id: u64,
}

impl<'p> Served<'p> {
    /// Starts a gateway.
    pub(crate) fn start(project: &'p Project, options: &str) -> Self {
        let line = format!("serve {options}");
        let mut command = project.command(line.split_whitespace());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines() {
                let message = serde_json::from_str(&line.unwrap()).expect("JSON on each line");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            project,
            input: child.stdin.take(),
            child,
            lines,
            waiting: VecDeque::new(),
            next_id: 0,
        }
    }

    /// Opens a session of a version.
    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let opened = self.ask(
            "initialize",
            json!({
                "protocolVersion": version, "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        opened["result"].clone()
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    /// Sends a request, and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request, and returns its response.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.wait_for(|message| message["id"] == id)
    }

    /// Calls a tool, and returns the result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        );
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// Waits for a message.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&is_it) {
            return self.waiting.remove(at).unwrap();
        }
        let end = Instant::now() + AMPLE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.lines.recv_timeout(left).expect("a message in time");
            if is_it(&message) {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    /// Closes the input, and returns the ended run.
    pub(crate) fn end(mut self) -> Run {
        drop(self.input.take());
        let output = self.child.wait_with_output().unwrap();
        Run::new(output, &self.project.path(""))
    }

    /// Returns the process id of the gateway.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end of a gateway that a signal was sent to.
    pub(crate) fn wait(self) -> Run {
        let Self {
            project,
            child,
            input,
            ..
        } = self;
        let output = child.wait_with_output().unwrap();
        drop(input);
        Run::new(output, &project.path(""))
    }
}

/// Returns the code of a refusal.
pub(crate) fn refusal(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    let refusal = &result["_meta"]["io.github.agent-engine/refusal"];
    refusal["code"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"))
}
