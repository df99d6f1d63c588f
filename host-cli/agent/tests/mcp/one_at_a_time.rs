//! Apps that serve one connection at a time, reached in all ways at once \[2\].

use crate::bed::{Bed, request};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

/// What a response may take. An idle connection is kept for a minute.
const SOON: Duration = Duration::from_secs(8);

/// `HTTPServer` serves a connection until its client closes it.
const HTTP_SERVER: &str = "import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'ok')
    def log_message(self, *parts):
        pass
http.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()
";

/// `wsgiref` closes each connection after its response.
const WSGIREF: &str = "import os
from wsgiref.simple_server import make_server
def app(environ, start_response):
    start_response('200 OK', [('Content-Length', '2')])
    return [b'ok']
make_server('127.0.0.1', int(os.environ['PORT']), app).serve_forever()
";

/// A way to reach an app, which must answer.
type Way = (&'static str, fn(&Running));

/// A task whose app runs.
struct Running {
    bed: Bed,
    id: String,
    socket: String,
    direct: String,
}

impl Running {
    fn new(app: &str) -> Self {
        let bed = Bed::new(&[]);
        let id = bed.task_with(&[("app.py", app)]);
        let input = json!({ "cmd": "python app.py", "ready": { "timeout_sec": 60 } });
        let started = bed.verb("run.start", Some(&id), &input);
        assert_eq!(started["ok"], true, "{started}");
        let socket = started["data"]["socket"].as_str().unwrap().to_owned();
        let direct = format!("http://127.0.0.1:{}/", started["data"]["port"]);
        Self {
            bed,
            id,
            socket,
            direct,
        }
    }

    fn gateway(&self) {
        let url = self.bed.app_url(&self.id);
        let response = request("GET", &url, &[], "");
        assert_eq!((response.status, &*response.body), (200, "ok"));
    }

    fn health(&self) {
        let url = format!("{}_health", self.bed.app_url(&self.id));
        assert_eq!(request("GET", &url, &[], "").status, 200);
    }

    fn leased_port(&self) {
        let response = request("GET", &self.direct, &[], "");
        assert_eq!((response.status, &*response.body), (200, "ok"));
    }

    fn unix_socket(&self) {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: app\r\nConnection: close\r\n\r\n";
        stream.write_all(request).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert!(response.ends_with("\r\n\r\nok"), "{response}");
    }

    fn probe(&self) {
        let probe = json!({ "method": "GET", "path": "/", "expect_status": 200 });
        let input = json!({ "probes": [probe] });
        let asserted: Value = self.bed.verb("httpcheck.assert", Some(&self.id), &input);
        assert_eq!(asserted["data"]["pass"], true, "{asserted}");
    }
}

fn soon(what: &str, act: impl FnOnce()) {
    let began = Instant::now();
    act();
    assert!(began.elapsed() < SOON, "{what}: {:?}", began.elapsed());
}

fn answers_in_all_ways(app: &str) {
    let running = Running::new(app);
    let ways: [Way; 5] = [
        ("the gateway", Running::gateway),
        ("_health", Running::health),
        ("the leased port", Running::leased_port),
        ("the Unix socket", Running::unix_socket),
        ("a probe", Running::probe),
    ];
    for (first, before) in ways {
        for (name, way) in ways {
            before(&running);
            soon(&format!("{name} after {first}"), || way(&running));
        }
        soon(&format!("four times {first}"), || {
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| before(&running));
                }
            });
        });
    }
    soon("all at once", || {
        thread::scope(|scope| {
            for (_, way) in ways.iter().chain(&ways) {
                scope.spawn(|| way(&running));
            }
        });
    });
}

#[test]
fn an_app_of_http_server_answers_in_all_ways() {
    answers_in_all_ways(HTTP_SERVER);
}

#[test]
fn an_app_of_wsgiref_answers_in_all_ways() {
    answers_in_all_ways(WSGIREF);
}
