//! Apps that serve one connection to its end before they accept the next, as simple servers do \[2\].

use crate::bed::{App, Bed, PATIENCE, TASK, ok};
use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Starts an app that answers every request of a connection, and takes some time for each. Returns the number of
/// its connections.
fn app(bed: &Bed) -> Arc<AtomicUsize> {
    let listener = bed.listen(TASK);
    let opened = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&opened);
    thread::spawn(move || {
        for stream in listener.incoming() {
            counter.fetch_add(1, Ordering::SeqCst);
            let stream = stream.unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            ok(App { stream });
        }
    });
    opened
}

fn is_soon(bed: &Bed, request: &str) -> bool {
    let began = Instant::now();
    let mut client = bed.client();
    client.send(format!(
        "{request} HTTP/1.1\r\nHost: {}\r\n\r\n",
        bed.address()
    ));
    client.response().status == 200 && began.elapsed() < PATIENCE / 2
}

#[test]
fn requests_at_the_same_time_are_all_answered() {
    let bed = Bed::new();
    app(&bed);
    thread::scope(|scope| {
        let request = || is_soon(&bed, "GET /apps/ab12cd/");
        let requests: Vec<_> = (0..4).map(|_| scope.spawn(request)).collect();
        for request in requests {
            assert!(request.join().unwrap());
        }
    });
}

#[test]
fn a_connection_that_was_not_answered_is_not_kept() {
    let bed = Bed::new();
    let opened = app(&bed);
    for _ in 0..2 {
        assert!(is_soon(&bed, "GET /apps/ab12cd/_health"));
    }
    assert!(is_soon(&bed, "GET /apps/ab12cd/"));
    assert_eq!(opened.load(Ordering::SeqCst), 3);
}

#[test]
fn an_old_connection_does_not_keep_a_new_one_out() {
    let bed = Bed::new();
    let opened = app(&bed);
    assert!(is_soon(&bed, "GET /apps/ab12cd/"));
    // The connection is too old for a request that must not be repeated.
    thread::sleep(agent_app_proxy::limits::FRESH_APP_TIME + Duration::from_millis(200));
    assert!(is_soon(&bed, "POST /apps/ab12cd/"));
    assert_eq!(opened.load(Ordering::SeqCst), 2);
}

#[test]
fn a_connection_is_kept_while_nobody_waits() {
    let bed = Bed::new();
    let opened = app(&bed);
    for _ in 0..3 {
        assert!(is_soon(&bed, "GET /apps/ab12cd/"));
    }
    assert_eq!(opened.load(Ordering::SeqCst), 1);
}

/// The same for an app that serves many connections: what becomes idle is closed while a request waits.
#[test]
fn a_connection_that_becomes_idle_while_a_request_waits_is_closed() {
    let bed = Bed::new();
    bed.app(|mut app| {
        while let Some(head) = app.head() {
            if head.contains("/wait") {
                // Until the gateway closes this connection.
                app.head();
                return;
            }
            app.send(crate::bed::OK);
            if head.contains("/last") {
                let began = Instant::now();
                assert_eq!(app.head(), None);
                assert!(began.elapsed() < PATIENCE / 2);
            }
        }
    });
    let mut waiting = bed.client();
    waiting.send(format!(
        "GET /apps/{TASK}/wait HTTP/1.1\r\nHost: {}\r\n\r\n",
        bed.address()
    ));
    thread::sleep(agent_app_proxy::limits::HAND_OVER_TIME * 5);
    assert!(is_soon(&bed, "GET /apps/ab12cd/last"));
    assert!(is_soon(&bed, "GET /apps/ab12cd/"));
}

/// Waits until the gateway follows the reports of a supervisor: the result sends them.
fn followed(supervisor: &UnixListener) -> UnixStream {
    supervisor.set_nonblocking(true).unwrap();
    let end = Instant::now() + PATIENCE;
    loop {
        match supervisor.accept() {
            Ok((reports, _)) => return reports,
            Err(error) => assert!(Instant::now() < end, "{error}"),
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_idle_connection_is_closed_for_a_client_of_the_socket() {
    let bed = Bed::new();
    let opened = app(&bed);
    let supervisor = bed.socket(TASK).with_extension("wait");
    let supervisor = UnixListener::bind(supervisor).unwrap();
    assert!(is_soon(&bed, "GET /apps/ab12cd/"));
    let mut reports = followed(&supervisor);
    reports.write_all(b"0").unwrap();
    // The connection is kept until another client waits.
    let mut other = UnixStream::connect(bed.socket(TASK)).unwrap();
    other.set_read_timeout(Some(PATIENCE / 2)).unwrap();
    other.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert!(is_soon(&bed, "GET /apps/ab12cd/"));
    assert_eq!(opened.load(Ordering::SeqCst), 1);
    reports.write_all(b"1").unwrap();
    let mut response = [0; crate::bed::OK.len()];
    other.read_exact(&mut response).unwrap();
    assert_eq!(response, crate::bed::OK);
    drop(other);
    // While a client waits, a connection that becomes idle is closed, too.
    assert!(is_soon(&bed, "GET /apps/ab12cd/"));
    assert!(is_soon(&bed, "GET /apps/ab12cd/"));
    assert_eq!(opened.load(Ordering::SeqCst), 4);
    // Reports end with their supervisor.
    drop(reports);
    thread::sleep(Duration::from_millis(200));
    assert!(is_soon(&bed, "GET /apps/ab12cd/"));
    assert!(is_soon(&bed, "GET /apps/ab12cd/"));
    assert_eq!(opened.load(Ordering::SeqCst), 5);
}
