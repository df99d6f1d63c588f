//! An HTTP server on loopback that records its requests.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A response: the status line, the media type and the body.
pub(crate) type Response = (&'static str, &'static str, String);

/// A request as it was received.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A server that runs until the test ends.
pub(crate) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &kept, &*answer));
            }
        });
        Self { port, requests }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the methods of the requests that are messages of MCP.
    pub(crate) fn methods(&self) -> Vec<String> {
        let requests = self.requests();
        let messages = requests
            .iter()
            .filter_map(|it| serde_json::from_str(&it.body).ok());
        let methods = messages.filter_map(|it: Value| Some(it["method"].as_str()?.to_owned()));
        methods.collect()
    }
}

fn serve(
    stream: TcpStream,
    kept: &Mutex<Vec<Request>>,
    answer: &(impl Fn(&Request) -> Response + ?Sized),
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match reader.read_line(&mut head) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse().unwrap())
        });
        let mut body = vec![0; length.unwrap_or(0)];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let request = Request {
            head,
            body: String::from_utf8(body).unwrap(),
        };
        kept.lock().unwrap().push(request.clone());
        let (status, media_type, body) = answer(&request);
        let response = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {media_type}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        if stream.write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

/// Answers as an MCP server of 2025-11-25 whose tool `search` has a description.
pub(crate) fn mcp(request: &Request, description: &str) -> Response {
    let Ok(message) = serde_json::from_str::<Value>(&request.body) else {
        return ("405 Method Not Allowed", "text/plain", String::new());
    };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "acme", "version": "1.0.0" }
        }),
        "tools/list" => json!({ "tools": [{
            "name": "search",
            "description": description,
            "inputSchema": {
                "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"]
            }
        }] }),
        "tools/call" => json!({
            "content": [{ "type": "text", "text": "found" }],
            "structuredContent": { "found": message["params"]["arguments"]["query"] }
        }),
        method if method.starts_with("notifications/") => {
            return ("202 Accepted", "text/plain", String::new());
        }
        _ => return ("400 Bad Request", "text/plain", String::new()),
    };
    let response = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
    ("200 OK", "application/json", response.to_string())
}
