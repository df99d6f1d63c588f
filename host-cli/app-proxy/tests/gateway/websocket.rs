//! WebSockets: after 101 the gateway moves bytes.

use crate::bed::{Bed, TASK};
use std::io::{Read as _, Write as _};
use std::net::Shutdown;

const SWITCHED: &[u8] =
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                          Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

fn handshake(bed: &Bed) -> String {
    format!(
        "GET /apps/{TASK}/ws HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        bed.address()
    )
}

#[test]
fn a_websocket_echoes_until_one_side_ends() {
    let bed = Bed::new();
    bed.app(|mut app| {
        let head = app.head().unwrap();
        assert!(head.starts_with("GET /ws HTTP/1.1\r\n"), "{head}");
        assert!(
            head.contains("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"),
            "{head}"
        );
        assert!(
            head.contains("\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
            "{head}"
        );
        // The first frame comes together with the head.
        app.send(&[SWITCHED, b"\x81\x02hi"].concat());
        let mut bytes = [0; 70_000];
        loop {
            match app.stream.read(&mut bytes) {
                Ok(0) | Err(_) => break,
                Ok(number) => app.send(&bytes[..number]),
            }
        }
        app.send(b"\x88\x00");
    });
    let mut client = bed.client();
    client.send(handshake(&bed));
    let head = client.head();
    assert!(
        head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"),
        "{head}"
    );
    assert!(
        head.contains("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"),
        "{head}"
    );
    assert!(
        head.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
        "{head}"
    );
    assert_eq!(client.exactly(4), b"\x81\x02hi");
    for size in [1, 1000, 200_000] {
        let frame = vec![size as u8; size];
        let mut writer = client.stream.try_clone().unwrap();
        let sent = frame.clone();
        let writing = std::thread::spawn(move || writer.write_all(&sent).unwrap());
        assert!(client.exactly(size) == frame, "{size}");
        writing.join().unwrap();
    }
    // The end of one direction ends it at the other side, which may still send.
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.rest(), b"\x88\x00");
}

#[test]
fn an_app_may_refuse_a_websocket() {
    let bed = Bed::new();
    bed.app(|mut app| {
        app.head();
        app.send(
            b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\nno",
        );
    });
    let mut client = bed.client();
    client.send(handshake(&bed));
    let response = client.response();
    assert_eq!((response.status, response.text()), (426, "no"));
}

#[test]
fn a_switch_that_nobody_asked_for_is_refused() {
    let bed = Bed::new();
    bed.app(|mut app| {
        app.head();
        app.send(SWITCHED);
    });
    let response = bed.get("/apps/ab12cd/");
    assert_eq!(response.status, 502);
}
