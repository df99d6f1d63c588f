//! The real Envoy in front of a server, which `cargo xtask test` installs.

use super::recorded;
use super::support::{Folder, Reply, Running, reply};
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request as Asked;
use envoy_types::pb::envoy::service::ext_proc::v3::{HttpBody, HttpHeaders};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::fs;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

/// The configuration of the how-to that asks about requests. Its places are filled in here.
const REQUESTS: &str = include_str!("../../../../docs/how-to/envoy.yaml");

/// The one that asks about answers too.
const RESULTS: &str = include_str!("../../../../docs/how-to/envoy-results.yaml");

/// A list with a tool that is locked, and one that is not.
const LIST: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"read","description":"read","inputSchema":{"type":"object","properties":{"record":{"type":"string"},"status":{"type":"string"},"soft":{"type":"boolean"}}}},{"name":"drop","inputSchema":{"type":"object"}}]}}"#;

const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;

/// A server of MCP that answers every request, and remembers each. A list is answered as its cursor says.
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
                        let (answer, goes_on) = answer(&request);
                        seen.lock().unwrap().push(request);
                        for part in answer {
                            stream.get_mut().write_all(part.as_bytes()).unwrap();
                            sleep(Duration::from_millis(20));
                        }
                        if !goes_on {
                            break;
                        }
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

/// Returns the parts of an answer, and whether the connection goes on behind it.
fn answer(request: &str) -> (Vec<String>, bool) {
    let head =
        |kind: &str, rest: &str| format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n{rest}\r\n");
    let whole = |body: &str| {
        let length = format!("content-length: {}\r\n", body.len());
        vec![head("application/json", &length), body.to_owned()]
    };
    let list = format!("data: {LIST}\n\n");
    let (first, second) = list.split_at(list.len() / 2);
    let chunk = |part: &str| format!("{:x}\r\n{part}\r\n", part.len());
    let chunked = || head("text/event-stream", "transfer-encoding: chunked\r\n");
    let progress = chunk(&format!("data: {PROGRESS}\n\n"));
    let cursor = |it: &str| request.contains(&format!(r#""cursor":"{it}""#));
    if !request.contains("tools/list") {
        return (
            whole(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#),
            true,
        );
    }
    match request {
        _ if cursor("events") => {
            let end = chunk("");
            let parts = [chunked(), progress, chunk(first), chunk(second), end];
            (parts.into(), true)
        }
        // The end of the connection is that of the answer, or comes before it.
        _ if cursor("closed") => {
            let head = head("text/event-stream", "connection: close\r\n");
            (vec![head, list[..list.len() - 1].to_owned()], false)
        }
        _ if cursor("broken") => (vec![chunked(), progress, chunk(first)], false),
        _ if cursor("half") => {
            let parts = [
                head("application/json", "connection: close\r\n"),
                LIST[..LIST.len() - 1].to_owned(),
            ];
            (parts.into(), false)
        }
        _ => (whole(LIST), true),
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
    fn start(folder: &Folder, server: &Server, configuration: &str) -> Self {
        let program = std::env::var("AGENT_TEST_ENVOY").expect("`cargo xtask test` names it");
        // The listener ends with this line, so that Envoy gets its port.
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|it| it.local_addr())
            .unwrap()
            .port();
        let mut configuration = configuration.to_owned();
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

/// Returns what Envoy sends to a decision point for a request, on its connection.
fn recorded_of(configuration: &str, request: &str) -> Vec<u8> {
    let folder = Folder::new();
    let point = folder.start();
    // The relay has the path that the configuration names.
    let behind = folder.path("behind.sock");
    fs::rename(&point.socket, &behind).unwrap();
    let listener = UnixListener::bind(&point.socket).unwrap();
    let sent = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sent);
    thread::spawn(move || {
        for envoy in listener.incoming() {
            let (envoy, point) = (envoy.unwrap(), UnixStream::connect(&behind).unwrap());
            let (mut from, mut to) = (point.try_clone().unwrap(), envoy.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut from, &mut to));
            let (mut envoy, mut point, seen) = (envoy, point, Arc::clone(&seen));
            thread::spawn(move || {
                let mut part = [0; 4096];
                while let Ok(read @ 1..) = envoy.read(&mut part) {
                    seen.lock().unwrap().extend_from_slice(&part[..read]);
                    if point.write_all(&part[..read]).is_err() {
                        break;
                    }
                }
            });
        }
    });
    let server = Server::start();
    let envoy = Envoy::start(&folder, &server, configuration);
    assert_eq!(envoy.post("", request).status, 200);
    std::mem::take(&mut sent.lock().unwrap())
}

/// Compares a recording with what Envoy sends, or writes it.
#[track_caller]
fn assert_recorded<T: PartialEq + Debug>(name: &str, sent: &[u8], shape: impl Fn(&[u8]) -> T) {
    let path = recorded::path(name);
    if std::env::var_os("AGENT_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, sent).unwrap();
    }
    assert_eq!(shape(sent), shape(&fs::read(path).unwrap()), "{name}");
}

#[test]
fn envoy_sends_what_is_recorded() {
    let check = recorded_of(REQUESTS, &call("read", r#"{"record":"1"}"#));
    assert_recorded("check.h2", &check, |sent| {
        // Envoy asks about what has no route, too.
        let question = recorded::checks(sent).pop().expect("a question");
        let attributes = question.attributes.unwrap();
        let http = attributes.request.unwrap().http.unwrap();
        let names: BTreeSet<_> = http.headers.into_keys().collect();
        let route: BTreeMap<_, _> = attributes.context_extensions.into_iter().collect();
        (http.method, names, http.raw_body, route)
    });
    let process = recorded_of(RESULTS, &list(""));
    assert_recorded("process.h2", &process, |sent| {
        let messages = recorded::exchanges(sent).into_iter();
        let shapes = messages.map(|it| {
            let config = it
                .protocol_config
                .map(|it| (it.request_body_mode, it.response_body_mode));
            (config, shape(it.request.unwrap()))
        });
        shapes.collect::<Vec<_>>()
    });
}

/// Returns what is the same of a message whenever Envoy sends it: which it is, the names of headers, the body.
fn shape(asked: Asked) -> (&'static str, BTreeSet<String>, Vec<u8>, bool) {
    let names = |head: HttpHeaders| {
        let lines = head.headers.unwrap().headers.into_iter();
        (
            lines.map(|it| it.key).collect(),
            Vec::new(),
            head.end_of_stream,
        )
    };
    let body = |body: HttpBody| (BTreeSet::new(), body.body, body.end_of_stream);
    let (kind, (names, body, is_last)) = match asked {
        Asked::RequestHeaders(it) => ("request headers", names(it)),
        Asked::ResponseHeaders(it) => ("response headers", names(it)),
        Asked::RequestBody(it) => ("request body", body(it)),
        Asked::ResponseBody(it) => ("response body", body(it)),
        other => panic!("{other:?}"),
    };
    (kind, names, body, is_last)
}

fn list(cursor: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{"cursor":"{cursor}"}}}}"#)
}

fn world(configuration: &str) -> (Folder, Running, Server, Envoy) {
    let folder = Folder::new();
    let point = folder.start();
    let server = Server::start();
    let envoy = Envoy::start(&folder, &server, configuration);
    (folder, point, server, envoy)
}

#[test]
fn a_locked_tool_passes_and_another_never_reaches_its_server() {
    for configuration in [REQUESTS, RESULTS] {
        requests_are_decided(configuration);
    }
}

fn requests_are_decided(configuration: &str) {
    let (_folder, _point, server, envoy) = world(configuration);
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
fn a_list_passes_as_it_is_locked_however_it_comes() {
    let (_folder, _point, _server, envoy) = world(RESULTS);
    for (cursor, is_stream) in [("", false), ("events", true)] {
        let reply = envoy.post("accept-encoding: gzip\r\n", &list(cursor));
        assert_eq!(reply.status, 200, "{cursor}");
        assert!(reply.body.contains(r#""name":"read""#), "{}", reply.body);
        assert!(!reply.body.contains("drop"), "{}", reply.body);
        assert_eq!(reply.body.contains(PROGRESS), is_stream, "{}", reply.body);
    }
    // Without the filter of answers, it passes as it came.
    let (_folder, _point, _server, envoy) = world(REQUESTS);
    assert!(envoy.post("", &list("")).body.contains("drop"));
}

#[test]
fn an_answer_that_breaks_off_passes_nothing_undecided() {
    let (_folder, _point, server, envoy) = world(RESULTS);
    for cursor in ["closed", "broken", "half"] {
        let reply = envoy.post("", &list(cursor));
        assert_eq!(server.requests().len(), 1, "{cursor}");
        for name in ["read", "drop"] {
            assert!(!reply.body.contains(name), "{cursor}: {}", reply.body);
        }
        assert_eq!(
            reply.body.contains(PROGRESS),
            cursor == "broken",
            "{}",
            reply.body
        );
    }
}

#[test]
fn nothing_passes_without_the_decision_point() {
    for (configuration, status) in [(REQUESTS, 403), (RESULTS, 500)] {
        let (_folder, point, server, envoy) = world(configuration);
        let read = call("read", "{}");
        assert_eq!(envoy.post("", &read).status, 200);
        assert_eq!(server.requests().len(), 1);
        drop(point);
        assert_eq!(envoy.post("", &read).status, status);
        assert!(server.requests().is_empty());
    }
}
