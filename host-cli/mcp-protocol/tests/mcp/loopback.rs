//! The client over the way out, against servers of raw bytes on the loopback interface.

use crate::fake::{DISCOVERED, SHORT, ample, options};
use crate::http_stub::result;
use agent_mcp_protocol::{Client, Endpoint, Error, Http, Wait};
use agent_way_out::{ErrorKind, HeaderMap, Limits, Roots, Scheme, Target, WayOut};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::sleep;

/// Returns the endpoint `/mcp` of a server, with a secret header.
pub(crate) fn endpoint(address: SocketAddr) -> Endpoint {
    let target = Target::new(Scheme::Http, "localhost", address).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("authorization", "Bearer hidden".parse().unwrap());
    let way_out = Arc::new(WayOut::new(Roots::default()));
    Endpoint::new(
        way_out,
        target,
        "/mcp?key=hidden",
        headers,
        Limits::default(),
    )
}

/// Reads a request with its body. Returns `None` at the end of the connection.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text);
            }
        }
        match stream.read_buf(&mut read).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

async fn answer_json(stream: &mut TcpStream, body: &str) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .await
        .unwrap();
}

#[tokio::test]
async fn requests_share_a_connection_and_carry_the_given_headers() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections);
    let server = tokio::spawn(async move {
        let answers = [
            DISCOVERED,
            "{\"tools\":[]}",
            "{\"content\":[1]}",
            "{\"content\":[2]}",
        ];
        let (mut id, mut answers) = (0, answers.into_iter());
        while let Ok((mut stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            while let Some(request) = read_request(&mut stream).await {
                assert!(
                    request.starts_with("POST /mcp?key=hidden HTTP/1.1\r\n"),
                    "{request}"
                );
                assert!(
                    request.contains("\r\nauthorization: Bearer hidden\r\n"),
                    "{request}"
                );
                id += 1;
                answer_json(&mut stream, &result(id, answers.next().unwrap())).await;
            }
        }
    });
    let http = Http::new(endpoint(address));
    let mut client = Client::connect(http, &options(), &ample()).await.unwrap();
    client.list_tools(&ample()).await.unwrap();
    for number in 1..=2 {
        let called = client.call_tool("t", b"{}", &ample()).await.unwrap();
        assert_eq!(called.as_str(), format!("{{\"content\":[{number}]}}"));
    }
    // On a machine so slow that 2 s passed between two requests, there are more.
    assert!(connections.load(Ordering::SeqCst) < 4);
    server.abort();
}

#[tokio::test]
async fn requests_at_the_same_time_have_connections_that_are_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections);
    let server = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                while let Some(request) = read_request(&mut stream).await {
                    let (_, rest) = request.split_once(r#""id":"#).unwrap();
                    let id = rest.split([',', '}']).next().unwrap();
                    let content = match request.contains("server/discover") {
                        true => DISCOVERED,
                        // Both requests are under way.
                        false => {
                            sleep(Duration::from_millis(20)).await;
                            "{\"content\":[]}"
                        }
                    };
                    answer_json(&mut stream, &result(id.parse().unwrap(), content)).await;
                }
            });
        }
    });
    let http = Http::new(endpoint(address));
    let mut first = Client::connect(http, &options(), &ample()).await.unwrap();
    let mut second = first.fork(1);
    for _ in 0..10 {
        let wait = ample();
        let called = tokio::join!(
            first.call_tool("t", b"{}", &wait),
            second.call_tool("t", b"{}", &wait)
        );
        called.0.unwrap();
        called.1.unwrap();
    }
    // On a machine so slow that 2 s passed between two requests, there are more.
    assert!(connections.load(Ordering::SeqCst) < 6);
    server.abort();
}

#[tokio::test]
async fn an_endless_stream_ends_in_time_and_its_connection_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, mut closed) = mpsc::channel(1);
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        answer_json(&mut stream, &result(1, DISCOVERED)).await;
        // The client may open a second connection.
        let mut stream = tokio::select! {
            _ = stream.readable() => stream,
            accepted = listener.accept() => accepted.unwrap().0,
        };
        read_request(&mut stream).await.unwrap();
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        stream.write_all(head).await.unwrap();
        while stream.write_all(b": keep alive\n\n").await.is_ok() {
            tokio::task::yield_now().await;
        }
        sender.send(()).await.unwrap();
    });
    let http = Http::new(endpoint(address));
    let mut client = Client::connect(http, &options(), &ample()).await.unwrap();
    let called = client.call_tool("t", b"{}", &Wait::time(SHORT)).await;
    assert_eq!(called.unwrap_err(), Error::Timeout);
    assert_eq!(closed.recv().await, Some(()));
    server.await.unwrap();
}

#[tokio::test]
async fn failures_of_the_way_out_keep_their_kind_and_hold_no_secret() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let refused = Client::connect(Http::new(endpoint(address)), &options(), &ample()).await;
    let Err(Error::Transport(error)) = refused.map(drop) else {
        panic!("an error of the way out");
    };
    assert_eq!(error.kind, ErrorKind::Connect);
    assert!(!format!("{error:?} {:?}", endpoint(address)).contains("hidden"));

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        stream.write_all(b"SSH-2.0-x\r\n").await.unwrap();
    });
    let refused = Client::connect(Http::new(endpoint(address)), &options(), &ample()).await;
    let Err(Error::Transport(error)) = refused.map(drop) else {
        panic!("an error of the way out");
    };
    assert_eq!(error.kind, ErrorKind::Protocol);
    server.await.unwrap();
}
