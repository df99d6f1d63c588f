//! Where requests lead.

use crate::bed::{App, Bed, OK, Recorder, TASK, ok};
use agent_app_proxy::TaskState;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn a_request_reaches_the_app_without_its_prefix() {
    let bed = Bed::new();
    let recorder = Recorder::start(&bed, OK);
    let response = bed.get("/apps/ab12cd/a/b?c=d");
    assert_eq!((response.status, response.text()), (200, "ok"));
    assert!(response.head.contains("\r\nDate: "), "{}", response.head);
    let address = bed.address();
    let got = recorder.got(bed);
    assert_eq!(
        got,
        [format!(
            "GET /a/b?c=d HTTP/1.1\r\nHost: {address}\r\nX-Forwarded-For: 127.0.0.1\r\n\
             X-Forwarded-Host: {address}\r\nX-Forwarded-Proto: http\r\n\
             X-Forwarded-Prefix: /apps/ab12cd\r\nVia: 1.1 agent\r\n\r\n"
        )]
    );
}

#[test]
fn tasks_that_can_t_answer_have_their_own_status() {
    let bed = Bed::new();
    bed.tasks.set("waits", TaskState::Waiting);
    bed.tasks.set("ended", TaskState::Ended);
    bed.tasks
        .set("gone", TaskState::Running(bed.socket("gone").into()));
    // A socket file that nobody listens at any more.
    drop(bed.listen("stale"));
    for (path, status, message) in [
        ("/apps/unknown/", 404, "no task has the id `unknown`"),
        ("/apps/unknown", 404, "no task has the id `unknown`"),
        ("/apps/unknown/_health", 404, "no task has the id `unknown`"),
        (
            "/apps/waits/",
            502,
            "the app of task `waits` has not started",
        ),
        ("/apps/ended/x", 410, "task `ended` has ended"),
        ("/apps/ended", 410, "task `ended` has ended"),
        ("/apps/gone/", 502, "the app of this task is not reachable"),
        ("/apps/stale/", 502, "the app of this task is not reachable"),
        (
            "/apps/stale/_health",
            502,
            "the app of this task is not reachable",
        ),
        ("/apps/", 404, "nothing has this path"),
        ("/other", 404, "nothing has this path"),
    ] {
        let response = bed.get(path);
        assert_eq!(response.status, status, "{path}");
        assert!(
            response.text().contains(message),
            "{path}: {}",
            response.text()
        );
    }
}

#[test]
fn a_task_that_ends_is_gone_at_once() {
    let bed = Bed::new();
    bed.app(ok);
    let mut client = bed.client();
    let request = format!(
        "GET /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n\r\n",
        bed.address()
    );
    client.send(&request);
    assert_eq!(client.response().status, 200);
    bed.tasks.set(TASK, TaskState::Ended);
    client.send(&request);
    assert_eq!(client.response().status, 410);
}

#[test]
fn an_app_without_the_slash_is_a_redirect() {
    let bed = Bed::new();
    bed.app(ok);
    let response = bed.get("/apps/ab12cd?x=1");
    assert_eq!(response.status, 308);
    assert!(
        response.has("Location: /apps/ab12cd/?x=1"),
        "{}",
        response.head
    );
}

#[test]
fn health_is_whether_the_app_can_be_reached() {
    let bed = Bed::new();
    bed.app(ok);
    let response = bed.get("/apps/ab12cd/_health");
    assert_eq!((response.status, response.text()), (200, "ok\n"));
    // A supervisor accepts for an app that does not listen, and closes: at once, but for what the machine does.
    let bed = Bed::with(|limits| limits.health_time = Duration::from_secs(30));
    bed.tasks
        .set("deaf", TaskState::Running(bed.socket("deaf").into()));
    let listener = bed.listen("deaf");
    std::thread::spawn(move || listener.incoming().for_each(drop));
    assert_eq!(bed.get("/apps/deaf/_health").status, 502);
    bed.app(ok);
    let mut client = bed.client();
    client.send(format!(
        "POST /apps/ab12cd/_health HTTP/1.1\r\nHost: {}\r\n\r\n",
        bed.address()
    ));
    let response = client.response();
    assert_eq!(response.status, 405);
    assert!(response.has("Allow: GET, HEAD"));
}

#[test]
fn errors_are_pages_for_browsers_and_json_for_programs() {
    let bed = Bed::new();
    let ask = |accept: &str| {
        let mut client = bed.client();
        client.send(format!(
            "GET /apps/nobody/ HTTP/1.1\r\nHost: {}\r\nAccept: {accept}\r\n\r\n",
            bed.address()
        ));
        client.response()
    };
    let page = ask("text/html,*/*;q=0.8");
    assert!(page.has("Content-Type: text/html; charset=utf-8"));
    assert!(
        page.text()
            .contains("<h1>Not Found</h1><p>no task has the id `nobody`</p>")
    );
    let json = ask("*/*");
    assert!(json.has("Content-Type: application/json"));
    assert_eq!(
        json.text(),
        "{\"status\":404,\"message\":\"no task has the id `nobody`\",\"help\":\"list the tasks with `mcp list`\"}\n"
    );
}

#[test]
fn connections_are_kept_on_both_sides() {
    let bed = Bed::new();
    let opened = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&opened);
    bed.app(move |app| {
        counter.fetch_add(1, Ordering::SeqCst);
        ok(app);
    });
    let mut client = bed.client();
    for _ in 0..5 {
        client.send(format!(
            "GET /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n\r\n",
            bed.address()
        ));
        assert_eq!(client.response().status, 200);
    }
    // Another client gets the same connection to the app.
    assert_eq!(bed.get("/apps/ab12cd/").status, 200);
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}

#[test]
fn requests_that_arrive_together_are_answered_in_order() {
    let bed = Bed::new();
    bed.app(|mut app| {
        while let Some(head) = app.head() {
            let path = head.split(' ').nth(1).unwrap();
            app.send(format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{path}").as_bytes());
        }
    });
    let mut client = bed.client();
    let request = |path| {
        format!(
            "GET /apps/{TASK}/{path} HTTP/1.1\r\nHost: {}\r\n\r\n",
            bed.address()
        )
    };
    client.send(["a", "b", "c"].map(request).concat());
    for path in ["/a", "/b", "/c"] {
        assert_eq!(client.response().text(), path);
    }
}

/// An app that answers one request on each connection, and closes it while it is idle, without a word.
fn forgetful(bed: &Bed, first: &'static [u8]) -> Arc<AtomicUsize> {
    let opened = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&opened);
    bed.app(move |mut app: App| {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        app.head();
        app.send(OK);
        if number == 0 {
            // Closed in the moment in which the second request arrives.
            app.head();
            app.send(first);
        }
    });
    opened
}

#[test]
fn a_request_goes_out_again_when_the_app_had_closed_its_connection() {
    let bed = Bed::new();
    let opened = forgetful(&bed, b"");
    assert_eq!(bed.get("/apps/ab12cd/").status, 200);
    assert_eq!(bed.get("/apps/ab12cd/").status, 200);
    assert_eq!(opened.load(Ordering::SeqCst), 2);
}

#[test]
fn a_request_that_was_answered_in_part_does_not_go_out_again() {
    let bed = Bed::new();
    let opened = forgetful(&bed, b"HTTP/1.1 2");
    assert_eq!(bed.get("/apps/ab12cd/").status, 200);
    assert_eq!(bed.get("/apps/ab12cd/").status, 502);
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}

#[test]
fn a_post_does_not_go_out_again() {
    let bed = Bed::new();
    let opened = forgetful(&bed, b"");
    assert_eq!(bed.get("/apps/ab12cd/").status, 200);
    let mut client = bed.client();
    client.send(format!(
        "POST /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\n\r\n",
        bed.address()
    ));
    assert_eq!(client.response().status, 502);
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}

#[test]
fn a_taken_port_is_replaced_by_a_free_one() {
    let first = Bed::new();
    let port = first.address().port();
    let second = Bed::at(
        port,
        64_900..=64_999,
        agent_app_proxy::limits::Limits::default(),
    );
    assert_ne!(second.address().port(), port);
    assert!(second.address().ip().is_loopback());
    assert_eq!(second.get("/").status, 200);
    let url = second.gateway.url("a").unwrap();
    assert_eq!(url, format!("http://{}/apps/a/", second.address()));
}

#[test]
fn dropping_a_gateway_closes_everything() {
    let bed = Bed::new();
    bed.app(ok);
    let mut client = bed.client();
    client.send(format!(
        "GET /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n\r\n",
        bed.address()
    ));
    assert_eq!(client.response().status, 200);
    let address = bed.address();
    let _folder = bed.end();
    assert_eq!(client.rest(), b"");
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn a_body_on_a_connection_that_the_app_had_closed_is_answered() {
    for (framing, body) in [
        ("Content-Length: 3", "abc"),
        ("Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "0\r\n\r\n"),
        (
            "Transfer-Encoding: chunked\r\nConnection: close",
            "0\r\n\r\n",
        ),
    ] {
        for is_early in [false, true] {
            let bed = Bed::new();
            let counter = Arc::new(AtomicUsize::new(0));
            bed.app(move |mut app: App| {
                let number = counter.fetch_add(1, Ordering::SeqCst);
                app.head();
                app.send(OK);
                if number == 0 && !is_early {
                    app.head();
                }
            });
            for _ in 0..5 {
                assert_eq!(bed.get("/apps/ab12cd/").status, 200);
                let mut client = bed.client();
                client.send(format!(
                    "POST /apps/{TASK}/ HTTP/1.1\r\nHost: {}\r\n{framing}\r\n\r\n{body}",
                    bed.address()
                ));
                let status = client.response().status;
                assert!(matches!(status, 200 | 502), "{status}");
            }
        }
    }
}
