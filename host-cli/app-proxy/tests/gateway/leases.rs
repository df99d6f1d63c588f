//! Leased ports: one task each, without a prefix.

use crate::bed::{Bed, Client, OK, Recorder, TASK, ok};
use agent_app_proxy::TaskState;
use agent_app_proxy::limits::Limits;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn get(address: SocketAddr, host: &str, path: &str) -> crate::bed::Response {
    let mut client = Client::new(address);
    client.send(format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-Prefix: /evil\r\n\r\n"
    ));
    client.response()
}

/// Waits until nothing listens at an address.
fn is_closed(address: SocketAddr) -> bool {
    let end = Instant::now() + crate::bed::PATIENCE;
    while Instant::now() < end {
        if TcpStream::connect(address).is_err() {
            return true;
        }
        sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn a_leased_port_serves_one_task_at_its_root() {
    let bed = Bed::new();
    let recorder = Recorder::start(&bed, OK);
    let address = bed.gateway.lease(TASK).unwrap();
    assert_eq!(
        bed.gateway.lease(TASK).unwrap(),
        address,
        "a task has one lease"
    );
    let own = address.to_string();
    assert_eq!(get(address, &own, "/apps/other/").status, 200);
    // The names of the gateway are not those of this port.
    let gateway = bed.address().to_string();
    assert_eq!(get(address, &gateway, "/").status, 421);
    assert_eq!(get(address, "evil.example", "/").status, 421);
    let got = recorder.got(bed);
    assert_eq!(
        got,
        [format!(
            "GET /apps/other/ HTTP/1.1\r\nHost: {own}\r\nX-Forwarded-For: 127.0.0.1\r\n\
             X-Forwarded-Host: {own}\r\nX-Forwarded-Proto: http\r\nVia: 1.1 agent\r\n\r\n"
        )]
    );
}

#[test]
fn a_lease_ends_with_its_task() {
    let bed = Bed::new();
    bed.app(ok);
    let released = bed.gateway.lease(TASK).unwrap();
    assert_eq!(get(released, &released.to_string(), "/").status, 200);
    bed.gateway.release(TASK);
    assert!(is_closed(released));
    // The gateway looks for itself, too.
    let swept = bed.gateway.lease(TASK).unwrap();
    assert_ne!(
        swept.port(),
        released.port(),
        "a port rests before it is used again"
    );
    bed.tasks.set(TASK, TaskState::Ended);
    let mut client = Client::new(swept);
    client.send(format!(
        "GET / HTTP/1.1\r\nHost: {swept}\r\nAccept: text/html\r\n\r\n"
    ));
    let response = client.response();
    assert_eq!(response.status, 410);
    // Every path of this port is the app's: no link to the list of tasks.
    assert!(response.text().contains("<h1>Gone</h1>") && !response.text().contains("href"));
    assert!(is_closed(swept));
}

#[test]
fn ports_of_other_programs_are_passed_over() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let bed = Bed::at(0, port..=port, Limits::default());
    let error = bed.gateway.lease(TASK).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("no port from {port} to {port} is free")
    );
    drop(taken);
    assert_eq!(bed.gateway.lease(TASK).unwrap().port(), port);
}

#[test]
fn an_app_that_is_leased_alone_has_no_path_at_the_gateway() {
    let bed = Bed::new();
    bed.app(ok);
    let socket = bed.socket(TASK).into();
    bed.tasks.set(TASK, TaskState::Leased(socket));
    let address = bed.gateway.lease(TASK).unwrap();
    assert_eq!(get(address, &address.to_string(), "/").status, 200);
    for path in ["/", "", "/_health"] {
        let refused = bed.get(&format!("/apps/{TASK}{path}"));
        assert_eq!(refused.status, 404, "{path}");
    }
}
