//! A server of both generations, over HTTP or over its standard streams, with well-behaved and other tools.

use crate::http::{self, Received, Reply};
use crate::message::{Generation, SESSIONS, STATELESS};
use serde_json::{Value, json};
use std::io::{self, BufRead as _, Write as _};
use std::net::TcpListener;
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, sleep};
use std::time::Duration;

/// A server. The names of its tools begin with its name.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// The generation that it speaks.
    pub generation: Generation,
    /// The number of tools that return their text: `echo_0`, `echo_1` and so on.
    pub echoes: usize,
    /// Whether it also has tools that are slow, fail, end the server or answer otherwise than they should.
    pub is_odd: bool,
    /// Time before it reads its first message over its standard streams.
    pub start: Duration,
}

/// What a server does with a message.
enum Deed {
    Answer(Value),
    /// A text instead of a message.
    Say(String),
    Nothing,
}

impl Server {
    /// Returns the arguments of the program `agent-load-server` that runs it over a transport.
    #[must_use]
    pub fn arguments(&self, transport: &str) -> [String; 5] {
        let odd = if self.is_odd { "+" } else { "" };
        let echoes = format!("{}{odd}", self.echoes);
        let start = self.start.as_millis().to_string();
        let generation = self.generation.name();
        [transport, &self.name, generation, &echoes, &start].map(str::to_owned)
    }

    /// Returns its tools, as an index and `tools/list` have them.
    #[must_use]
    pub fn tools(&self) -> Vec<Value> {
        let text = json!({ "text": { "type": "string" } });
        let echoed = json!({
            "type": "object", "properties": text, "required": ["text"], "additionalProperties": false
        });
        let tool = |name: String, properties: &Value| {
            json!({
                "name": format!("{}_{name}", self.name),
                "description": format!("The tool {name} of {}.", self.name),
                "inputSchema": {
                    "type": "object", "properties": properties,
                    "required": properties.as_object().map(|it| it.keys().collect::<Vec<_>>()),
                    "additionalProperties": false,
                },
            })
        };
        let mut tools: Vec<_> = (0..self.echoes)
            .map(|number| tool(format!("echo_{number}"), &text))
            .collect();
        if self.is_odd {
            tools.push(tool("another_form".to_owned(), &json!({})));
        }
        for tool in &mut tools {
            tool["outputSchema"] = echoed.clone();
        }
        if self.is_odd {
            let ms = json!({ "ms": { "type": "integer", "minimum": 0, "maximum": 10_000 } });
            tools.push(tool("slow".to_owned(), &ms));
            let names = ["garbage", "fail", "exit"];
            tools.extend(names.map(|name| tool(name.to_owned(), &json!({}))));
        }
        tools
    }

    /// Serves clients over HTTP, for ever.
    pub fn serve_http(self, listener: &TcpListener) {
        let sessions = AtomicU64::new(0);
        let server = self;
        http::serve(listener, move |request| server.reply(request, &sessions));
    }

    fn reply(&self, request: &Received, sessions: &AtomicU64) -> Option<Reply> {
        let reply = |status, body: String| {
            let kind = ("Content-Type", "application/json".to_owned());
            Some(Reply {
                status,
                headers: vec![kind],
                body: body.into_bytes(),
            })
        };
        if !request.first.starts_with("POST ") {
            return reply("405 Method Not Allowed", String::new());
        }
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            return reply("400 Bad Request", String::new());
        };
        match self.deed(&message) {
            Deed::Answer(answer) => {
                let mut reply = reply("200 OK", answer.to_string())?;
                if message["method"] == "initialize" {
                    let session = sessions.fetch_add(1, Ordering::Relaxed);
                    let id = format!("{}-{session}", std::process::id());
                    reply.headers.push(("Mcp-Session-Id", id));
                }
                Some(reply)
            }
            Deed::Say(text) => reply("200 OK", text),
            Deed::Nothing => reply("202 Accepted", String::new()),
        }
    }

    /// Serves one client over the standard streams, up to their end.
    ///
    /// # Errors
    ///
    /// When standard input can't be read.
    pub fn serve_stdio(self) -> io::Result<()> {
        sleep(self.start);
        let out = Arc::new(Mutex::new(io::stdout()));
        for line in io::stdin().lock().lines() {
            let Ok(message) = serde_json::from_str::<Value>(&line?) else {
                continue;
            };
            let (server, out) = (self.clone(), Arc::clone(&out));
            let answer = move || {
                let text = match server.deed(&message) {
                    Deed::Answer(answer) => answer.to_string(),
                    Deed::Say(text) => text,
                    Deed::Nothing => return,
                };
                let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
                // Without a reader, the input ends too.
                let _ = writeln!(out, "{text}").and_then(|()| out.flush());
            };
            thread::spawn(answer);
        }
        Ok(())
    }

    fn deed(&self, message: &Value) -> Deed {
        let (id, params) = (&message["id"], &message["params"]);
        if id.is_null() {
            return Deed::Nothing;
        }
        let result = match message["method"].as_str().unwrap_or_default() {
            "server/discover" if self.generation == Generation::Stateless => json!({
                "supportedVersions": [STATELESS], "capabilities": { "tools": {} },
                "ttlMs": 0, "cacheScope": "private",
            }),
            "initialize" if self.generation == Generation::Sessions => json!({
                "protocolVersion": SESSIONS, "capabilities": { "tools": {} },
                "serverInfo": { "name": self.name, "version": "1" },
            }),
            "tools/list" => json!({ "tools": self.tools(), "ttlMs": 0, "cacheScope": "private" }),
            "tools/call" => {
                let tool = params["name"].as_str().unwrap_or_default();
                let tool = tool.strip_prefix(&self.name).unwrap_or_default();
                match self.called(tool, &params["arguments"]) {
                    Called::Result(result) => result,
                    // A line that is no message at all would be skipped, and the call never answered.
                    Called::Garbage => {
                        let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
                        return Deed::Say(start + "this is no JSON}");
                    }
                    Called::Error => {
                        let error = json!({ "code": 7, "message": "as it was asked for" });
                        return Deed::Answer(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                    }
                }
            }
            _ => {
                let error = json!({ "code": -32601, "message": "unknown method" });
                return Deed::Answer(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
        };
        let mut answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        if self.generation == Generation::Stateless {
            answer["result"]["resultType"] = json!("complete");
        }
        Deed::Answer(answer)
    }

    fn called(&self, tool: &str, arguments: &Value) -> Called {
        let text = |text: &str| json!([{ "type": "text", "text": text }]);
        match tool {
            "_slow" => {
                let time = arguments["ms"].as_u64().unwrap_or(0);
                sleep(Duration::from_millis(time));
                Called::Result(json!({ "content": text("woke up") }))
            }
            "_another_form" => Called::Result(json!({
                "content": text("no text"), "structuredContent": { "text": 7 },
            })),
            "_garbage" => Called::Garbage,
            "_fail" => Called::Error,
            "_exit" => exit(3),
            _ => {
                let given = arguments["text"].as_str().unwrap_or_default();
                Called::Result(json!({
                    "content": text(given), "structuredContent": { "text": given },
                }))
            }
        }
    }
}

/// The effect of a call.
enum Called {
    Result(Value),
    Garbage,
    Error,
}
