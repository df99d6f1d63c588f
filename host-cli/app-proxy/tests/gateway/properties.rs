//! Messages made of parts that parsers read in different ways, through the whole gateway: the other side gets one
//! framing, whatever it is.

use crate::bed::{App, Bed, Client, OK, PATIENCE, TASK};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;

/// Parts of requests.
const REQUESTS: [&str; 37] = [
    "GET P HTTP/1.1\r\n",
    "POST P?b HTTP/1.1\r\n",
    "Host: h\r\n",
    "Host: evil\r\n",
    "\r\n",
    "\r\n\r\n",
    "\n",
    "\r",
    " ",
    "\t",
    "\0",
    ":",
    "Content-Length: 3\r\n",
    "content-length:03\r\n",
    "Content-Length: ",
    "Content_Length: 4\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding : chunked\r\n",
    "transfer-encoding:\tchunked\r\n",
    "Transfer-Encoding: x, ",
    "Connection: close, content-length, host, x-forwarded-for\r\n",
    "Connection: Upgrade, TE\r\n",
    "Upgrade: websocket\r\n",
    "TE: trailers\r\n",
    "Expect: 100-continue\r\n",
    "X-Forwarded-For: evil\r\n",
    "x_forwarded_for: evil\r\n",
    "Forwarded: for=evil\r\n",
    "Via: 1.0 other\r\n",
    "Cookie: a=b\r\n",
    "a: \u{e4}\r\n",
    "/..",
    "%2e",
    "http://h/",
    "GET P HTTP/1.0\r\n",
    "3",
    "0\r\n\r\n",
];

/// Parts of responses.
const RESPONSES: [&str; 24] = [
    "Content-Length: 3\r\n",
    "content-length:\t03\r\n",
    "Content-Length: 3, 3\r\n",
    "Content-Length : 3\r\n",
    "Transfer-Encoding: chunked\r\n",
    "transfer-encoding:CHUNKED\r\n",
    "Transfer-Encoding: identity\r\n",
    "Connection: close, content-length, transfer-encoding, date\r\n",
    "Connection: Upgrade\r\n",
    "Upgrade: websocket\r\n",
    "Keep-Alive: a\r\n",
    "Proxy-Connection: a\r\n",
    "Date: a\r\n",
    "Set-Cookie: a\r\n",
    "Clear-Site-Data: a\r\n",
    "a: b\n",
    "a: b\rc: d\r\n",
    " folded\r\n",
    ": no name\r\n",
    "no colon\r\n",
    "a: \u{e4}\0\r\n",
    "\r\n",
    "\r\nHTTP/1.1 200 OK\r\n",
    "x",
];

const STATUSES: [&str; 8] = ["100", "101", "103", "200", "204", "304", "599", "600"];

/// The headers of a message, which nothing of the gateway has read.
struct Read<'t> {
    first: &'t str,
    headers: Vec<(String, &'t str)>,
    body: &'t str,
}

impl<'t> Read<'t> {
    fn of(message: &'t str) -> Self {
        let (head, body) = message.split_once("\r\n\r\n").expect("a head has an end");
        assert!(!head.contains('\0'), "{head:?}");
        let mut lines = head.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let headers = lines.map(|line| {
            let is_folded = line.starts_with([' ', '\t']);
            assert!(!line.contains(['\r', '\n']) && !is_folded, "{line:?}");
            let (name, value) = line.split_once(':').expect("a header has a colon");
            assert!(!name.is_empty() && !name.contains([' ', '\t']), "{line:?}");
            (name.to_ascii_lowercase(), value.trim())
        });
        Self {
            first,
            headers: headers.collect(),
            body,
        }
    }

    fn all(&self, name: &str) -> Vec<&'t str> {
        let named = self.headers.iter().filter(|(own, _)| own == name);
        named.map(|(_, value)| *value).collect()
    }

    /// Checks that the framing is one, and fits the body.
    fn check_framing(&self) {
        let (lengths, codings) = (self.all("content-length"), self.all("transfer-encoding"));
        assert!(lengths.len() + codings.len() <= 1, "{:?}", self.headers);
        if let [length] = lengths[..] {
            assert!(matches!(length, "0" | "3"), "{length:?}");
        }
        if let [coding] = codings[..] {
            assert_eq!(coding, "chunked");
        }
    }
}

fn check_request(message: &str) {
    let read = Read::of(message);
    let first: Vec<_> = read.first.split(' ').collect();
    assert!(
        matches!(first[..], ["GET" | "POST", _, "HTTP/1.1"]),
        "{first:?}"
    );
    read.check_framing();
    assert_eq!(read.all("host").len(), 1, "{message:?}");
    assert_eq!(read.all("x-forwarded-for"), ["127.0.0.1"]);
    for (name, value) in &read.headers {
        let name = name.replace('_', "-");
        let is_stated = name == "host" || name == "forwarded" || name.starts_with("x-forwarded-");
        assert!(!is_stated || !value.contains("evil"), "{message:?}");
    }
    let length = read
        .all("content-length")
        .first()
        .map_or(0, |it| it.parse().unwrap());
    if read.all("transfer-encoding").is_empty() {
        // A further request would be one that the client did not send.
        assert!(read.body.len() <= length, "{message:?}");
    }
}

fn check_response(message: &str) {
    let read = Read::of(message);
    assert!(read.first.starts_with("HTTP/1.1 "), "{message:?}");
    read.check_framing();
    for name in ["keep-alive", "proxy-connection", "clear-site-data"] {
        assert!(read.all(name).is_empty(), "{message:?}");
    }
    assert!(
        read.all("connection").iter().all(|it| *it == "close"),
        "{message:?}"
    );
    let is_interim = read.first.starts_with("HTTP/1.1 1");
    assert!(!is_interim, "{message:?}");
}

/// The bytes of each connection to an app, as far as they came.
type Got = Arc<Mutex<Vec<Vec<u8>>>>;

/// An app that answers the first request of each connection with bytes, and closes it.
fn app(bed: &Bed, answer: Arc<Mutex<Vec<u8>>>) -> Got {
    let got = Got::default();
    let listener = bed.listen(TASK);
    let all = Arc::clone(&got);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream: UnixStream = stream.unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut app = App { stream };
            let mut bytes = Vec::new();
            let mut part = [0; 4096];
            while let Ok(number @ 1..) = app.stream.read(&mut part) {
                bytes.extend_from_slice(&part[..number]);
                let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
                let Some((head, body)) = text.split_once("\r\n\r\n") else {
                    continue;
                };
                let is_whole = match head.contains("transfer-encoding") {
                    true => body.ends_with("0\r\n\r\n"),
                    false => !head.contains("content-length: 3") || body.len() >= 3,
                };
                if is_whole {
                    break;
                }
                if head.contains("expect:") {
                    app.send(b"HTTP/1.1 100 Continue\r\n\r\n");
                }
            }
            if !bytes.is_empty() {
                all.lock().unwrap().push(bytes);
            }
            app.send(&answer.lock().unwrap());
        }
    });
    got
}

/// Runs a test as often as `PROPTEST_CASES` says, or 256 times. Returns the number.
fn run<S: Strategy>(strategy: &S, test: impl Fn(S::Value)) -> u32 {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let cases = config.cases;
    let ran = TestRunner::new(config).run(strategy, |value| {
        test(value);
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    cases
}

#[test]
fn an_app_gets_one_framing_and_one_host() {
    let bed = Bed::with(|limits| limits.body_time = PATIENCE / 50);
    let got = app(&bed, Arc::new(Mutex::new(OK.to_vec())));
    let host = format!("Host: {}\r\n", bed.address());
    let parts = prop::collection::vec(prop::sample::select(&REQUESTS[..]), 0..5);
    let seen = Mutex::new(0);
    let cases = run(&(0..2_usize, parts), |(first, parts)| {
        // What follows the head is a body, its end, or a malformed request.
        let request = format!("{}{host}{}\r\n0\r\n\r\n", REQUESTS[first], parts.concat());
        let request = request.replace(" P", " /apps/ab12cd/p");
        let mut client = bed.client();
        let _ = client.stream.write_all(request.as_bytes());
        // One byte of the response is enough: the app has the request then.
        let _ = client.stream.read(&mut [0]);
        drop(client);
        for bytes in got.lock().unwrap().drain(..) {
            *seen.lock().unwrap() += 1;
            check_request(&String::from_utf8_lossy(&bytes));
        }
    });
    assert!(
        *seen.lock().unwrap() > cases / 10,
        "{seen:?} requests came through"
    );
}

#[test]
fn a_client_gets_one_framing() {
    let bed = Bed::new();
    let answer = Arc::new(Mutex::new(Vec::new()));
    app(&bed, Arc::clone(&answer));
    let parts = prop::collection::vec(prop::sample::select(&RESPONSES[..]), 0..6);
    let status = prop::sample::select(&STATUSES[..]);
    let seen = Mutex::new(0);
    let case = (0..2_u8, status, parts, any::<bool>());
    // About a quarter come through.
    let cases = run(&case, |(version, status, parts, is_head)| {
        let response = format!("HTTP/1.{version} {status} OK\r\n{}\r\nabc", parts.concat());
        *answer.lock().unwrap() = response.into_bytes();
        let mut client: Client = bed.client();
        let method = if is_head { "HEAD" } else { "GET" };
        client.send(format!(
            "{method} /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            bed.address()
        ));
        let bytes = client.rest();
        let text = String::from_utf8_lossy(&bytes);
        if !text.starts_with("HTTP/1.1 502 ") {
            *seen.lock().unwrap() += 1;
            check_response(&text);
        }
    });
    assert!(
        *seen.lock().unwrap() > cases / 12,
        "{seen:?} responses came through"
    );
}
