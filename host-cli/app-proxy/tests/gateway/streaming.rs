//! Bodies that pass while they are made.

use crate::bed::{App, Bed, OK, TASK, joined};
use std::io::{Read as _, Write as _};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

fn get(bed: &Bed, path: &str, headers: &str) -> String {
    let address = bed.address();
    format!("GET /apps/{TASK}{path} HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n")
}

#[test]
fn an_event_arrives_before_the_next_one_is_made() {
    let bed = Bed::new();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    bed.app(move |mut app| {
        app.head();
        app.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        for number in 0..3 {
            // The next event is made only after the client has the last one.
            if wait.lock().unwrap().recv().is_err() {
                return;
            }
            app.send(format!("9\r\ndata: {number}\n\n\r\n").as_bytes());
        }
        app.send(b"0\r\n\r\n");
    });
    let mut client = bed.client();
    client.send(get(&bed, "/events", ""));
    let head = client.head();
    assert!(head.contains("Transfer-Encoding: chunked\r\n"), "{head}");
    for number in 0..3 {
        go.send(()).unwrap();
        let event = format!("9\r\ndata: {number}\n\n\r\n");
        assert_eq!(client.exactly(event.len()), event.as_bytes());
    }
    assert_eq!(client.exactly(5), b"0\r\n\r\n");
}

#[test]
fn a_body_without_framing_ends_with_its_connection() {
    let bed = Bed::new();
    bed.app(|mut app| {
        app.head();
        app.send(b"HTTP/1.0 200 OK\r\n\r\nto the end");
    });
    let mut client = bed.client();
    client.send(get(&bed, "/", ""));
    let head = client.head();
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n")
            && head.contains("\r\nTransfer-Encoding: chunked\r\n")
    );
    assert_eq!(client.exactly(20), b"A\r\nto the end\r\n0\r\n\r\n");
    // The client's connection goes on.
    client.send(get(&bed, "/", ""));
    assert!(client.head().starts_with("HTTP/1.1 200 OK\r\n"));
}

#[test]
fn a_client_of_http_1_0_gets_no_chunks() {
    let bed = Bed::new();
    bed.app(|mut app| {
        app.head();
        app.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
        app.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n");
    });
    let mut client = bed.client();
    client.send(format!(
        "GET /apps/{TASK}/ HTTP/1.0\r\nHost: {}\r\n\r\n",
        bed.address()
    ));
    let text = String::from_utf8(client.rest()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.0 200 OK"), "{head}");
    assert!(!head.contains("Transfer-Encoding"), "{head}");
    assert_eq!(body, "abcde");
}

#[test]
fn a_request_body_reaches_the_app_while_it_is_sent() {
    let bed = Bed::new();
    bed.app(|mut app| {
        let head = app.head().unwrap();
        assert!(
            head.contains("\r\nTransfer-Encoding: chunked\r\n"),
            "{head}"
        );
        app.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
        // Each part comes back before the client sends the next one.
        for _ in 0..2 {
            let chunk = app.exactly(10);
            app.send(&chunk[3..8]);
        }
        assert_eq!(app.exactly(5), b"0\r\n\r\n");
    });
    let mut client = bed.client();
    client.send(format!(
        "POST /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        bed.address()
    ));
    let head = client.head();
    // The response began before the request was whole: where the next one begins is not sure.
    assert!(head.contains("\r\nConnection: close\r\n"), "{head}");
    for part in ["5\r\nhello\r\n", "5\r\nworld\r\n"] {
        client.send(part);
        assert_eq!(client.exactly(5), part.as_bytes()[3..8]);
    }
}

#[test]
fn large_bodies_pass_in_both_directions() {
    const BYTES: usize = 5_000_000;
    let bed = Bed::new();
    bed.app(|mut app| {
        while let Some(head) = app.head() {
            assert!(
                head.contains(&format!("Content-Length: {BYTES}\r\n")),
                "{head}"
            );
            let body = app.exactly(BYTES);
            app.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n").as_bytes());
            app.send(&body);
        }
    });
    let body: Vec<u8> = (0..BYTES).map(|it| (it % 251) as u8).collect();
    let mut client = bed.client();
    for _ in 0..2 {
        let head = format!(
            "PUT /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\nContent-Length: {BYTES}\r\n\r\n",
            bed.address()
        );
        client.send([head.as_bytes(), &body].concat());
        let response = client.response();
        assert_eq!(response.status, 200);
        assert!(response.body == body, "the body is the same");
    }
}

#[test]
fn many_chunks_pass_while_the_client_is_slow() {
    const CHUNKS: usize = 3_000;
    let bed = Bed::new();
    bed.app(|mut app| {
        app.head();
        app.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for number in 0..CHUNKS {
            let data = vec![b'0' + (number % 10) as u8; 1000];
            app.send(&[b"3e8\r\n", &data[..], b"\r\n"].concat());
        }
        app.send(b"0\r\n\r\n");
    });
    let mut client = bed.client();
    client.send(get(&bed, "/", "Connection: close\r\n"));
    client.head();
    thread::sleep(Duration::from_millis(100));
    let body = joined(&client.rest());
    assert_eq!(body.len(), CHUNKS * 1000);
    for (number, data) in body.chunks(1000).enumerate() {
        assert!(
            data.iter().all(|byte| *byte == b'0' + (number % 10) as u8),
            "{number}"
        );
    }
}

#[test]
fn an_interim_response_arrives_before_the_body_is_sent() {
    let bed = Bed::new();
    bed.app(|mut app| {
        let head = app.head().unwrap();
        assert!(head.contains("Expect: 100-continue\r\n"), "{head}");
        app.send(b"HTTP/1.1 100 Continue\r\n\r\n");
        assert_eq!(app.exactly(4), b"body");
        app.send(OK);
    });
    let mut client = bed.client();
    client.send(format!(
        "POST /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
        bed.address()
    ));
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("body");
    let response = client.response();
    assert_eq!((response.status, response.text()), (200, "ok"));
    assert!(!response.has("Connection: close"));
}

#[test]
fn an_app_that_knows_no_expectation_gets_the_body() {
    let bed = Bed::new();
    bed.app(|mut app| {
        app.head();
        assert_eq!(app.exactly(4), b"body");
        app.send(OK);
    });
    let mut client = bed.client();
    client.send(format!(
        "POST /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
        bed.address()
    ));
    assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("body");
    assert_eq!(client.response().text(), "ok");
}

#[test]
fn other_interim_responses_end_at_the_gateway() {
    let bed = Bed::new();
    bed.app(|mut app| {
        app.head();
        app.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
        app.send(OK);
    });
    assert_eq!(bed.get("/apps/ab12cd/").text(), "ok");
}

#[test]
fn a_refused_body_is_not_sent() {
    let bed = Bed::new();
    bed.app(|mut app| {
        app.head();
        app.send(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    });
    let mut client = bed.client();
    client.send(format!(
        "POST /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
        bed.address()
    ));
    let response = client.response();
    assert_eq!(response.status, 403);
    assert!(response.has("Connection: close"));
}

#[test]
fn heads_without_bodies_leave_the_connection_in_step() {
    let bed = Bed::new();
    bed.app(|mut app| {
        while let Some(head) = app.head() {
            app.send(match head.split(' ').nth(1).unwrap() {
                "/head" => b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n",
                "/204" => b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
                "/304" => {
                    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: \"a\"\r\n\r\n"
                }
                _ => OK,
            });
        }
    });
    let mut client = bed.client();
    client.send(get(&bed, "/head", "").replace("GET", "HEAD"));
    assert!(client.head().contains("\r\nContent-Length: 500\r\n"));
    client.send(get(&bed, "/204", ""));
    assert!(!client.head().contains("Content-Length"));
    client.send(get(&bed, "/304", ""));
    assert!(client.head().contains("ETag: \"a\"\r\n"));
    client.send(get(&bed, "/", ""));
    assert_eq!(client.response().text(), "ok");
}

#[test]
fn trailers_that_are_announced_go_to_clients_that_read_them() {
    let bed = Bed::new();
    bed.app(|mut app| {
        while app.head().is_some() {
            app.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Server-Timing, Cookie\r\n\r\n\
                       1\r\na\r\n0\r\nServer-Timing: b\r\nCookie: c\r\nContent-Length: 9\r\nETag: d\r\n\r\n");
        }
    });
    let mut client = bed.client();
    client.send(get(&bed, "/", "TE: trailers\r\n"));
    client.head();
    assert_eq!(
        client.exactly(6 + 3 + 18 + 2),
        b"1\r\na\r\n0\r\nServer-Timing: b\r\n\r\n"
    );
    client.send(get(&bed, "/", ""));
    client.head();
    assert_eq!(client.exactly(6 + 3 + 2), b"1\r\na\r\n0\r\n\r\n");
}

#[test]
fn an_app_learns_that_its_client_has_gone() {
    let bed = Bed::new();
    let (tell, told) = mpsc::channel();
    bed.app(move |mut app: App| {
        app.head();
        app.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        // Returns when the gateway closes the connection.
        let end = app.stream.read(&mut [0]);
        tell.send(end.unwrap()).unwrap();
    });
    let mut client = bed.client();
    client.send(get(&bed, "/", ""));
    client.head();
    drop(client);
    assert_eq!(told.recv_timeout(crate::bed::PATIENCE), Ok(0));
}

#[test]
fn a_response_that_breaks_off_does_not_look_whole() {
    let bed = Bed::new();
    bed.app(|mut app| {
        let head = app.head().unwrap();
        app.send(match head.contains("/length") {
            true => b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
            false => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        });
    });
    for (path, body) in [("/length", &b"abc"[..]), ("/chunks", b"3\r\nabc\r\n")] {
        let mut client = bed.client();
        client.send(get(&bed, path, ""));
        client.head();
        assert_eq!(client.rest(), body, "{path}");
    }
}

#[test]
fn a_body_that_the_app_does_not_read_does_not_hide_its_response() {
    let bed = Bed::new();
    let answered = Arc::new(Mutex::new(()));
    bed.app(move |mut app| {
        let _guard = answered.lock();
        app.head();
        app.send(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
    });
    let mut client = bed.client();
    let head = format!(
        "POST /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\nContent-Length: 3000000\r\n\r\n",
        bed.address()
    );
    client.send(head);
    // The gateway closes after its response: what it no longer reads may fail.
    let mut writer = client.stream.try_clone().unwrap();
    let writing = thread::spawn(move || writer.write_all(&[b'x'; 3_000_000]).is_ok());
    let response = client.response();
    assert_eq!((response.status, response.text()), (413, "big"));
    drop(client);
    drop(writing);
}
