//! The real Envoy in front of a server, which `cargo xtask test` installs.

use super::support::{Folder, Reply, Running, reply};
use std::fs;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

/// The configuration of the how-to, whose places are filled in here.
const CONFIGURATION: &str = include_str!("../../../../docs/how-to/envoy.yaml");

/// A server of MCP that answers every request, and remembers each.
struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let seen = Arc::clone(&seen);
                thread::spawn(move || {
                    let mut stream = BufReader::new(stream.unwrap());
                    while let Some(request) = read_request(&mut stream) {
                        seen.lock().unwrap().push(request);
                        let body = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
                        let length = body.len();
                        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
                        let answer = format!("{head}content-length: {length}\r\n\r\n{body}");
                        stream.get_mut().write_all(answer.as_bytes()).unwrap();
                    }
                });
            }
        });
        Self { port, requests }
    }

    fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

/// Reads a request: its head in small letters, and its body.
fn read_request(stream: &mut impl BufRead) -> Option<String> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.to_ascii_lowercase();
        if let Some(given) = line.strip_prefix("content-length:") {
            length = given.trim().parse().ok()?;
        }
        head.push_str(&line);
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8(body).ok()?)
}

/// A running Envoy, which is killed at last.
struct Envoy {
    child: Child,
    port: u16,
}

impl Drop for Envoy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Envoy {
    fn start(folder: &Folder, server: &Server) -> Self {
        let program = std::env::var("AGENT_TEST_ENVOY").expect("`cargo xtask test` names it");
        // The listener ends with this line, so that Envoy gets its port.
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|it| it.local_addr())
            .unwrap()
            .port();
        let mut configuration = CONFIGURATION.to_owned();
        for (given, here) in [
            ("port_value: 10000", format!("port_value: {port}")),
            ("address: records.internal", "address: 127.0.0.1".to_owned()),
            ("port_value: 8080", format!("port_value: {}", server.port)),
            (
                "/run/agent/pdp.sock",
                folder.path("pdp.sock").display().to_string(),
            ),
        ] {
            assert_eq!(configuration.matches(given).count(), 1, "{given}");
            configuration = configuration.replace(given, &here);
        }
        folder.write("envoy.yaml", &configuration);
        let child = Command::new(program)
            .args([
                "--disable-hot-restart",
                "--concurrency",
                "1",
                "--log-level",
                "warning",
            ])
            .arg("--config-path")
            .arg(folder.path("envoy.yaml"))
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.path("envoy.log")).unwrap())
            .spawn()
            .unwrap();
        let mut envoy = Self { child, port };
        let mut looks = 0;
        // It accepts connections before it answers.
        while envoy
            .send("GET /none HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
            .is_err()
        {
            looks += 1;
            let log = || fs::read_to_string(folder.path("envoy.log")).unwrap();
            assert!(envoy.child.try_wait().unwrap().is_none(), "{}", log());
            assert!(looks < 600, "Envoy does not answer: {}", log());
            sleep(Duration::from_millis(100));
        }
        envoy
    }

    fn post(&self, headers: &str, body: &str) -> Reply {
        let length = body.len();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: records.example\r\ncontent-type: application/json\r\n{headers}\
             content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        self.send(&request).unwrap()
    }

    /// Sends a request, and reads the answer. The error is that of the connection.
    fn send(&self, request: &str) -> io::Result<Reply> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if answer.is_empty() => Err(error),
            // A request that was refused early is not read to its end.
            _ => Ok(reply(answer)),
        }
    }
}

fn call(tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

fn world() -> (Folder, Running, Server, Envoy) {
    let folder = Folder::new();
    let point = folder.start();
    let server = Server::start();
    let envoy = Envoy::start(&folder, &server);
    (folder, point, server, envoy)
}

#[test]
fn a_locked_tool_passes_and_another_never_reaches_its_server() {
    let (_folder, _point, server, envoy) = world();
    let passed = envoy.post(
        "agent-subject: mallory\r\n",
        &call("read", r#"{"record":"1"}"#),
    );
    assert_eq!(passed.status, 200);
    assert!(passed.body.contains(r#""content":[]"#), "{}", passed.body);
    let requests = server.requests();
    let [request] = &requests[..] else {
        panic!("{requests:?}");
    };
    assert!(request.contains(r#""name":"read""#), "{request}");
    assert!(!request.contains("mallory"), "{request}");
    let refused = envoy.post("", &call("drop", "{}"));
    assert_eq!(refused.status, 200);
    assert!(refused.body.contains("TOOL_NOT_LOCKED"), "{}", refused.body);
    assert!(
        refused.body.contains(r#""isError":true"#),
        "{}",
        refused.body
    );
    let denied = envoy.post("", &call("delete", "{}"));
    assert!(denied.body.contains("POLICY_DENIED"), "{}", denied.body);
    // What is not MCP, and what headers say otherwise.
    assert_eq!(envoy.post("", "hello").status, 400);
    let other = envoy.post("mcp-name: read\r\n", &call("drop", "{}"));
    assert_eq!(other.status, 400);
    // Arguments that are larger than Envoy keeps.
    let large = format!(r#"{{"record":"{}"}}"#, "x".repeat(5 << 20));
    assert_eq!(envoy.post("", &call("read", &large)).status, 413);
    assert!(server.requests().is_empty());
}

#[test]
fn nothing_passes_without_the_decision_point() {
    let (_folder, point, server, envoy) = world();
    let read = call("read", "{}");
    assert_eq!(envoy.post("", &read).status, 200);
    assert_eq!(server.requests().len(), 1);
    drop(point);
    assert_eq!(envoy.post("", &read).status, 403);
    assert!(server.requests().is_empty());
}
