//! Responses of an app that breaks a rule of HTTP. An app is not trusted.

use crate::bed::{Bed, OK, TASK};
use agent_app_proxy::limits::{HEAD_BYTES, HEADERS, INTERIM_RESPONSES};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::Duration;

/// A name and a response of which the client must get nothing: 502.
const REFUSED: &[(&str, &[u8])] = &[
    ("nothing", b""),
    ("length and coding", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("two lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
    ("two equal lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab"),
    ("a list of lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 2,2\r\n\r\nab"),
    ("a signed length", b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nab"),
    ("an empty length", b"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nab"),
    ("a coding other than chunked", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    ("two codings", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("a coding in HTTP/1.0", b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("bad chunks at once", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
    ("a bare CR", b"HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n"),
    ("a NUL", b"HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n"),
    ("a folded header", b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"),
    ("a space before the colon", b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nab"),
    ("a header without a colon", b"HTTP/1.1 200 OK\r\nA\r\n\r\n"),
    ("no version", b"200 OK\r\n\r\n"),
    ("HTTP/2.0", b"HTTP/2.0 200 OK\r\n\r\n"),
    ("a status of two digits", b"HTTP/1.1 20 OK\r\n\r\n"),
    ("a status below 100", b"HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n"),
    ("a status above 599", b"HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n"),
    ("a control character in the reason", b"HTTP/1.1 200 O\x07K\r\nContent-Length: 0\r\n\r\n"),
    ("another protocol", b"SSH-2.0-OpenSSH_9.2\r\n"),
    ("a head that breaks off", b"HTTP/1.1 200 OK\r\nContent-Le"),
    ("only an interim response", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
];

#[test]
fn a_response_that_breaks_a_rule_is_not_passed_on() {
    let mut failures = Vec::new();
    for (name, bytes) in REFUSED {
        let bed = Bed::new();
        bed.app(move |mut app| {
            app.head();
            app.send(bytes);
        });
        let mut client = bed.client();
        let address = bed.address();
        client.send(format!(
            "GET /apps/{TASK}/ HTTP/1.1\r\nHost: {address}\r\n\r\n"
        ));
        let mut response = client.response();
        while response.status == 103 {
            response = client.response();
        }
        if response.status != 502 || !response.text().contains("the app") {
            failures.push(format!("{name}: {} {}", response.status, response.text()));
        }
        // The client's connection is in step: nothing of the app's bytes follows.
        client.send(format!(
            "GET /style.css HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
        ));
        let response = client.response();
        if response.status != 200 || !client.rest().is_empty() {
            failures.push(format!("{name}: the connection is not in step"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A client reads what the gateway has read: an app can't send a line end that they understand differently.
#[test]
fn line_ends_of_an_app_are_written_anew() {
    for bytes in [
        &b"HTTP/1.1 200 OK\nA: b\nContent-Length: 2\n\nab"[..],
        b"HTTP/1.1 200 OK\r\nA: b\nContent-Length: 2\r\n\r\nab",
    ] {
        let bed = Bed::new();
        bed.app(move |mut app| {
            app.head();
            app.send(bytes);
        });
        let response = bed.get("/apps/ab12cd/");
        assert_eq!(response.text(), "ab");
        assert!(response.has("A: b") && response.has("Content-Length: 2"));
        let lines = response.head.matches('\n').count();
        assert_eq!(response.head.matches("\r\n").count(), lines);
    }
}

#[test]
fn chunks_that_break_a_rule_break_off() {
    let bed = Bed::new();
    bed.app(|mut app| {
        app.head();
        app.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nxyz\r\n");
    });
    let mut client = bed.client();
    client.send(format!(
        "GET /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n\r\n",
        bed.address()
    ));
    client.head();
    let body = client.rest();
    assert!(!body.ends_with(b"0\r\n\r\n") && body.len() <= 8, "{body:?}");
}

#[test]
fn bytes_behind_a_response_are_no_further_response() {
    let bed = Bed::new();
    bed.app(|mut app| {
        app.head();
        app.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
        assert_eq!(app.head(), None, "the connection is not used again");
    });
    let mut client = bed.client();
    for _ in 0..3 {
        client.send(format!(
            "GET /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n\r\n",
            bed.address()
        ));
        assert_eq!(client.response().text(), "ok");
    }
}

#[test]
fn bytes_that_come_while_a_connection_is_idle_are_no_response() {
    let bed = Bed::new();
    let ((go, wait), (tell, told)) = (channel::<()>(), channel());
    let ends = Mutex::new((wait, tell));
    bed.app(move |mut app| {
        app.head();
        app.send(OK);
        let ends = ends.lock().unwrap();
        if ends.0.recv().is_ok() {
            app.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
            ends.1.send(()).unwrap();
            // The connection stays open.
            app.head();
        }
    });
    for _ in 0..2 {
        assert_eq!(bed.get("/apps/ab12cd/").text(), "ok");
        go.send(()).unwrap();
        told.recv().unwrap();
        // The gateway sees the bytes in its next turn.
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn headers_of_a_response_that_end_here() {
    let bed = Bed::new();
    bed.app(|mut app| {
        app.head();
        app.send(
            b"HTTP/1.1 200 Fine\r\nConnection: keep-alive, X-Hop\r\nX-Hop: a\r\nKeep-Alive: timeout=5\r\n\
              Proxy-Connection: b\r\nUpgrade: h2c\r\nProxy-Authenticate: c\r\nService-Worker-Allowed: /\r\n\
              Clear-Site-Data: \"*\"\r\nSet-Cookie: d=e\r\nSet-Cookie: f=g\r\nContent-Length: 0\r\n\r\n",
        );
    });
    let response = bed.get("/apps/ab12cd/");
    let date = response
        .head
        .lines()
        .find(|line| line.starts_with("Date: "))
        .unwrap();
    assert_eq!(
        response.head,
        format!(
            "HTTP/1.1 200 Fine\r\nSet-Cookie: d=e\r\nSet-Cookie: f=g\r\nContent-Length: 0\r\n{date}\r\n\r\n"
        )
    );
}

/// Answers with a head that has a header of so many bytes.
fn head_of(size: usize) -> Vec<u8> {
    let (start, end) = ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ", "\r\n\r\n");
    let filler = "x".repeat(size - start.len() - end.len());
    format!("{start}{filler}{end}").into_bytes()
}

#[test]
fn a_head_has_limits_at_the_edge() {
    let many = |number: usize| {
        let headers = "X: y\r\n".repeat(number - 1);
        format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{headers}\r\n").into_bytes()
    };
    let interim = |number: u32| {
        let interim = "HTTP/1.1 102 Processing\r\n\r\n".repeat(number as usize);
        [
            interim.as_bytes(),
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        ]
        .concat()
    };
    for (bytes, status) in [
        (head_of(HEAD_BYTES), 200),
        (head_of(HEAD_BYTES + 1), 502),
        (many(HEADERS), 200),
        (many(HEADERS + 1), 502),
        (interim(INTERIM_RESPONSES), 200),
        (interim(INTERIM_RESPONSES + 1), 502),
    ] {
        let bed = Bed::new();
        let length = bytes.len();
        bed.app(move |mut app| {
            app.head();
            app.send(&bytes);
        });
        let mut client = bed.client();
        client.send(format!(
            "GET /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n\r\n",
            bed.address()
        ));
        let mut response = client.response();
        while response.status == 102 {
            response = client.response();
        }
        assert_eq!(response.status, status, "{length} bytes");
    }
}
