//! A collector of spans on loopback, for all programs that send some.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A collector on loopback.
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    pub(crate) bodies: Arc<Mutex<Vec<String>>>,
}

impl Collector {
    /// Starts a collector that answers with a status; with none, never.
    pub(crate) fn start(status: Option<u16>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bodies);
        thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                match status {
                    Some(status) => answer(stream, status, &kept),
                    None => open.push(stream),
                }
            }
        });
        Self { address, bodies }
    }

    /// Returns the spans of all requests, which are checked, and are all of one program.
    pub(crate) fn spans(&self, program: &str) -> Vec<Value> {
        let bodies = self.bodies.lock().unwrap();
        let mut spans = Vec::new();
        for body in &*bodies {
            let request: Value = serde_json::from_str(body).unwrap();
            let resource = &request["resourceSpans"][0];
            let name = &resource["resource"]["attributes"][0];
            assert_eq!(name["value"]["stringValue"], program, "{name}");
            let of_request = resource["scopeSpans"][0]["spans"].as_array().unwrap();
            assert!(!of_request.is_empty());
            spans.extend(of_request.clone());
        }
        spans.iter().for_each(check);
        spans
    }
}

/// Checks the ids and the times of a span.
fn check(span: &Value) {
    for (id, digits) in [("traceId", 32), ("spanId", 16), ("parentSpanId", 16)] {
        let Some(text) = span.get(id).map(|it| it.as_str().unwrap()) else {
            assert_eq!(id, "parentSpanId", "{span}");
            continue;
        };
        let is_hex = text.bytes().all(|it| it.is_ascii_hexdigit());
        assert!(is_hex && text.len() == digits, "{id}: {text}");
    }
    let times = ["startTimeUnixNano", "endTimeUnixNano"];
    let [began, ended] = times.map(|name| span[name].as_str().unwrap().parse::<u64>().unwrap());
    assert!(
        began <= ended && began > 1_700_000_000_000_000_000,
        "{span}"
    );
}

/// Reads a request, keeps its body and answers it.
fn answer(mut stream: TcpStream, status: u16, kept: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "POST /v1/traces HTTP/1.1\r\n");
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else {
            break;
        };
        match &*name.to_ascii_lowercase() {
            "content-length" => length = value.parse().unwrap(),
            "content-type" => assert_eq!(value, "application/json"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    kept.lock().unwrap().push(String::from_utf8(body).unwrap());
    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\n{{}}");
    stream.write_all(head.as_bytes()).unwrap();
}

/// Returns the attributes of a span by their names.
pub(crate) fn attributes(span: &Value) -> BTreeMap<&str, &Value> {
    let attributes = span["attributes"].as_array().unwrap().iter();
    let named = attributes.map(|it| {
        let value = it["value"].as_object().unwrap().values().next().unwrap();
        (it["key"].as_str().unwrap(), value)
    });
    named.collect()
}
