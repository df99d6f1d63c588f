//! What is sent, and what is returned as it is.

use crate::server::{ample, answering, get, once, read_request, send};
use agent_way_out::header::{ACCEPT, HeaderName, LOCATION};
use agent_way_out::{Cancel, ErrorKind, Method, Request, Roots, Scheme, Target, WayOut};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

#[tokio::test]
async fn a_request_holds_what_the_caller_gave_and_no_more() {
    let (sender, receiver) = oneshot::channel();
    let server = once(|mut stream| async move {
        sender.send(read_request(&mut stream).await).unwrap();
        let answer = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX-A: b\r\n\r\nhi";
        stream.write_all(answer).await.unwrap();
    })
    .await;
    let mut request = Request::new(Method::POST, "/a/b?c=d%20e");
    request
        .headers
        .insert(ACCEPT, "text/plain".parse().unwrap());
    request.body = "hello".into();
    let response = send(&server, request, &ample(), &Cancel::never())
        .await
        .unwrap();
    assert_eq!(response.status, 201);
    assert_eq!(response.headers["x-a"], "b");
    assert_eq!(response.body, "hi");

    let port = server.address.port();
    let sent = receiver.await.unwrap();
    let (head, body) = sent.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<_> = head.lines().map(str::to_owned).collect();
    lines[1..].sort();
    let expected = [
        "POST /a/b?c=d%20e HTTP/1.1",
        "accept-encoding: identity",
        "accept: text/plain",
        "content-length: 5",
        &format!("host: localhost:{port}"),
    ];
    assert_eq!(lines, expected);
    assert_eq!(body, "hello");
}

#[tokio::test]
async fn redirections_are_returned_and_not_followed() {
    // A second connection would not be accepted.
    let server = answering(
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let response = get(&server, &ample()).await.unwrap();
    assert_eq!(response.status, 302);
    assert_eq!(response.headers[LOCATION], "http://127.0.0.1:1/");
    assert_eq!(response.body, "");
}

#[tokio::test]
async fn bodies_of_each_framing_arrive_whole() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nT: u\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\n\r\nhello",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello",
    ] {
        let response = get(&answering(answer).await, &ample()).await;
        assert_eq!(response.unwrap().body, "hello", "{answer}");
    }
}

#[tokio::test]
async fn requests_that_would_change_the_framing_are_refused() {
    let refused = async |request: Request| {
        let server = answering("HTTP/1.1 200 OK\r\n\r\n").await;
        let sent = send(&server, request, &ample(), &Cancel::never()).await;
        sent.map_err(|e| e.kind)
    };
    let invalid = Err(ErrorKind::InvalidRequest);
    for path in [
        "",
        "a",
        "http://other.example/",
        "/a b",
        "/a#b",
        "/ü",
        "/a\r\nb",
        "*",
    ] {
        assert_eq!(
            refused(Request::new(Method::GET, path)).await,
            invalid,
            "{path}"
        );
    }
    for name in [
        "host",
        "transfer-encoding",
        "content-length",
        "connection",
        "upgrade",
        "te",
        "accept-encoding",
        "proxy-authorization",
    ] {
        let mut request = Request::new(Method::GET, "/");
        request
            .headers
            .insert(HeaderName::from_static(name), "x".parse().unwrap());
        assert_eq!(refused(request).await, invalid, "{name}");
    }
    assert_eq!(refused(Request::new(Method::CONNECT, "/")).await, invalid);
    assert!(refused(Request::new(Method::GET, "/a")).await.is_ok());
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_no_connection() {
    let address = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let target = Target::new(Scheme::Http, "localhost", address).unwrap();
    let request = Request::new(Method::GET, "/");
    let way_out = WayOut::new(Roots::default());
    let sent = way_out
        .send(&target, request, &ample(), &Cancel::never())
        .await;
    assert_eq!(sent.unwrap_err().kind, ErrorKind::Connect);
}

#[test]
fn a_request_is_shown_without_its_secrets() {
    let mut request = Request::new(Method::GET, "/?key=hidden");
    request
        .headers
        .insert("authorization", "hidden".parse().unwrap());
    request.body = "hidden".into();
    assert!(!format!("{request:?}").contains("hidden"));
}
