//! Limits, each at its edge, and clients and apps that are slow.

use crate::bed::{Bed, Client, OK, TASK, ok};
use agent_app_proxy::limits::{HEAD_BYTES, HEADERS, TARGET_BYTES};
use std::io::Write as _;
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A time that a test can wait for.
const SHORT: Duration = Duration::from_millis(200);

fn ask(bed: &Bed, request: impl AsRef<[u8]>) -> u16 {
    let mut client = bed.client();
    client.send(request);
    client.response().status
}

#[test]
fn heads_have_limits_at_the_edge() {
    let bed = Bed::new();
    bed.app(ok);
    let address = bed.address();
    let head = |size: usize| {
        let start = format!("GET /apps/{TASK}/ HTTP/1.1\r\nHost: {address}\r\nX: ");
        let filler = "x".repeat(size - start.len() - 4);
        format!("{start}{filler}\r\n\r\n")
    };
    assert_eq!(ask(&bed, head(HEAD_BYTES)), 200);
    assert_eq!(ask(&bed, head(HEAD_BYTES + 1)), 431);
    // Refused before its end is there.
    assert_eq!(ask(&bed, &head(HEAD_BYTES * 2)[..HEAD_BYTES + 1]), 431);
    let many = |number: usize| {
        let headers = "X: y\r\n".repeat(number - 1);
        format!("GET /apps/{TASK}/ HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n")
    };
    assert_eq!(ask(&bed, many(HEADERS)), 200);
    assert_eq!(ask(&bed, many(HEADERS + 1)), 431);
    let target = |size: usize| {
        let path = format!("/apps/{TASK}/");
        let filler = "x".repeat(size - path.len());
        format!("GET {path}{filler} HTTP/1.1\r\nHost: {address}\r\n\r\n")
    };
    assert_eq!(ask(&bed, target(TARGET_BYTES)), 200);
    assert_eq!(ask(&bed, target(TARGET_BYTES + 1)), 414);
}

#[test]
fn bodies_have_a_limit_at_the_edge() {
    let bed = Bed::with(|limits| limits.body_bytes = 1000);
    bed.app(|mut app| {
        while let Some(head) = app.head() {
            match head.contains("chunked") {
                true => while app.exactly(1) != b"\n" || app.exactly(3) != b"0\r\n" {},
                false => drop(app.exactly(1000)),
            }
            app.send(OK);
        }
    });
    let head = |framing: &str| {
        format!(
            "POST /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n{framing}\r\n\r\n",
            bed.address()
        )
    };
    let plain = |size: usize| head(&format!("Content-Length: {size}")) + &"x".repeat(size);
    assert_eq!(ask(&bed, plain(1000)), 200);
    assert_eq!(ask(&bed, plain(1001)), 413);
    let chunked = |more: &str| {
        let half = format!("1f4\r\n{}\r\n", "x".repeat(500));
        head("Transfer-Encoding: chunked") + &half + &half + more + "0\r\n\r\n"
    };
    assert_eq!(ask(&bed, chunked("")), 200);
    assert_eq!(ask(&bed, chunked("1\r\nx\r\n")), 413);
}

#[test]
fn a_head_that_drips_in_is_given_up() {
    let bed = Bed::with(|limits| limits.head_time = SHORT);
    let mut client = bed.client();
    let began = Instant::now();
    client.send("GET / HTTP/1.1\r\n");
    let mut writer = client.stream.try_clone().unwrap();
    // Each byte is early; the whole head is late.
    let dripping = thread::spawn(move || {
        while writer.write_all(b"x").is_ok() && began.elapsed() < SHORT * 20 {
            thread::sleep(SHORT / 10);
        }
    });
    let response = client.response();
    assert_eq!(response.status, 408);
    assert!(
        began.elapsed() >= SHORT && began.elapsed() < SHORT * 10,
        "{:?}",
        began.elapsed()
    );
    drop(client);
    dripping.join().unwrap();
}

#[test]
fn an_idle_connection_is_closed_without_a_word() {
    let bed = Bed::with(|limits| limits.idle_time = SHORT);
    bed.app(ok);
    let mut client = bed.client();
    client.send(format!(
        "GET /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n\r\n",
        bed.address()
    ));
    assert_eq!(client.response().status, 200);
    assert_eq!(client.rest(), b"");
}

#[test]
fn a_body_that_does_not_come_is_given_up() {
    let bed = Bed::with(|limits| limits.body_time = SHORT);
    bed.app(|mut app| {
        app.head();
        app.head();
    });
    let request = format!(
        "POST /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\nContent-Length: 10\r\n\r\nabc",
        bed.address()
    );
    assert_eq!(ask(&bed, request), 408);
}

#[test]
fn a_body_that_is_there_is_not_waited_for() {
    for body in [
        "Content-Length: 3\r\n\r\nabc",
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ] {
        // An app for each body: the first one's connection may be closing when the second POST would reuse it.
        let bed = Bed::with(|limits| limits.body_time = SHORT);
        bed.app(|mut app| {
            app.head();
            thread::sleep(SHORT * 4);
            app.send(OK);
        });
        let request = format!(
            "POST /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n{body}",
            bed.address()
        );
        assert_eq!(ask(&bed, request), 200, "{body:?}");
    }
}

#[test]
fn an_app_that_does_not_respond_is_given_up() {
    let bed = Bed::with(|limits| limits.response_time = SHORT);
    bed.app(|mut app| {
        app.head();
        // Until the gateway closes the connection.
        assert_eq!(app.head(), None);
    });
    let response = bed.get("/apps/ab12cd/");
    assert_eq!(response.status, 504);
    assert!(response.text().contains("the app did not respond in time"));
}

#[test]
fn an_app_that_does_not_accept_is_given_up() {
    let bed = Bed::with(|limits| limits.connect_time = SHORT);
    let listener = bed.listen(TASK);
    // Fills the queue of the listener, which nobody empties.
    let mut waiting = Vec::new();
    let socket = bed.socket(TASK);
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        while let Ok(stream) = std::os::unix::net::UnixStream::connect(&socket) {
            if tell.send(stream).is_err() {
                return;
            }
        }
    });
    while let Ok(stream) = told.recv_timeout(SHORT) {
        waiting.push(stream);
    }
    assert_eq!(bed.get("/apps/ab12cd/").status, 504);
    assert_eq!(bed.get("/apps/ab12cd/_health").status, 504);
    drop((listener, waiting));
}

#[test]
fn a_stream_that_is_silent_too_long_is_cut() {
    let bed = Bed::with(|limits| limits.stream_time = SHORT);
    bed.app(|mut app| {
        app.head();
        app.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
        assert_eq!(app.head(), None);
    });
    let mut client = bed.client();
    client.send(format!(
        "GET /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n\r\n",
        bed.address()
    ));
    client.head();
    assert_eq!(client.rest(), b"1\r\na\r\n");
}

#[test]
fn a_client_that_does_not_read_is_cut() {
    let bed = Bed::with(|limits| limits.write_time = SHORT);
    let (tell, told) = mpsc::channel();
    let tell = Mutex::new(tell);
    bed.app(move |mut app| {
        app.head();
        app.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
        // More than the sockets hold.
        let part = vec![0; 1 << 20];
        let mut sent = 0;
        while app.stream.write_all(&part).is_ok() {
            sent += part.len();
        }
        tell.lock().unwrap().send(sent).unwrap();
    });
    let mut client = bed.client();
    client.send(format!(
        "GET /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n\r\n",
        bed.address()
    ));
    let sent = told.recv_timeout(crate::bed::PATIENCE).unwrap();
    assert!(sent < 100 << 20, "{sent} bytes wait in buffers");
}

#[test]
fn an_app_gets_only_so_many_requests_at_once() {
    const LIMIT: usize = 3;
    let bed = Bed::with(|limits| limits.task_connections = LIMIT);
    let all_there = Arc::new(Barrier::new(LIMIT + 1));
    let go = Arc::new(Barrier::new(LIMIT + 1));
    let waits = (Arc::clone(&all_there), Arc::clone(&go));
    bed.app(move |mut app| {
        if app.head().is_some_and(|head| head.contains("/wait")) {
            waits.0.wait();
            waits.1.wait();
        }
        app.send(OK);
        ok(app);
    });
    let request = format!(
        "GET /apps/{TASK}/wait HTTP/1.1\r\nHost: {}\r\n\r\n",
        bed.address()
    );
    let mut clients: Vec<Client> = (0..LIMIT).map(|_| bed.client()).collect();
    clients.iter_mut().for_each(|client| client.send(&request));
    all_there.wait();
    let response = bed.get("/apps/ab12cd/");
    assert_eq!(response.status, 503);
    assert!(
        response
            .text()
            .contains("the app works on too many requests")
    );
    go.wait();
    for client in &mut clients {
        assert_eq!(client.response().status, 200);
    }
    assert_eq!(
        bed.get("/apps/ab12cd/").status,
        200,
        "the places are free again"
    );
}

#[test]
fn connections_are_limited_in_total() {
    const LIMIT: usize = 4;
    let bed = Bed::with(|limits| limits.connections = LIMIT);
    bed.app(ok);
    let request = format!(
        "GET /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n\r\n",
        bed.address()
    );
    let mut clients: Vec<Client> = (0..LIMIT).map(|_| bed.client()).collect();
    for client in &mut clients {
        client.send(&request);
        assert_eq!(client.response().status, 200);
    }
    let mut further = bed.client();
    let text = String::from_utf8(further.rest()).unwrap();
    assert!(text.starts_with("HTTP/1.1 503 "), "{text}");
    drop(clients.pop());
    let end = Instant::now() + crate::bed::PATIENCE;
    // The gateway learns of the free place when it sees the end of the connection.
    while Instant::now() < end {
        let mut client = bed.client();
        if client.stream.write_all(request.as_bytes()).is_ok()
            && client.head().starts_with("HTTP/1.1 200")
        {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("no place is free");
}

#[test]
fn idle_clients_make_room_when_connections_are_few() {
    const LIMIT: usize = 8;
    let bed = Bed::with(|limits| {
        limits.connections = LIMIT;
        limits.pressed_idle_time = SHORT;
    });
    let request = format!("GET /style.css HTTP/1.1\r\nHost: {}\r\n\r\n", bed.address());
    let ask = |client: &mut Client| {
        client.send(&request);
        assert_eq!(client.response().status, 200);
    };
    // One after the other: the time of a connection depends on those before it.
    let mut clients: Vec<Client> = (0..LIMIT)
        .map(|_| {
            let mut client = bed.client();
            ask(&mut client);
            client
        })
        .collect();
    let began = Instant::now();
    assert_eq!(
        clients[LIMIT - 1].rest(),
        b"",
        "the last place is given for a short time"
    );
    assert!(began.elapsed() < crate::bed::PATIENCE);
    ask(&mut clients[0]);
}

#[test]
fn a_refused_client_may_finish_what_it_sends() {
    let bed = Bed::new();
    let mut client = bed.client();
    client.send("POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 3000\r\n\r\n");
    assert_eq!(client.response().status, 421);
    assert_eq!(client.rest(), b"");
    // A reset would make the second part fail, and drop a response that was not read yet.
    for _ in 0..3 {
        client.send([b'x'; 1000]);
        thread::sleep(SHORT / 10);
    }
}
