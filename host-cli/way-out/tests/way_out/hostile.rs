//! Servers that break the protocol, or never end.

use crate::server::{
    Server, ample, answering, answering_then_silent, begin, get, once, open, read_request, send,
};
use agent_way_out::{Cancel, ErrorKind, Limits, Method, Request};
use std::time::Duration;
use tokio::io::{AsyncWriteExt as _, copy, sink};
use tokio::net::TcpStream;

/// A time after which an exchange with a slow server ends.
const SHORT: Duration = Duration::from_millis(100);

async fn kind(server: &Server, limits: &Limits) -> ErrorKind {
    let error = get(server, limits).await.expect_err("an error");
    assert!(error.message.chars().count() < 300, "{error}");
    assert!(!error.message.contains(char::is_control), "{error}");
    error.kind
}

/// Answers with a beginning, and then with the same bytes for ever.
async fn endless(start: &'static str, again: &'static str) -> Server {
    once(move |mut stream: TcpStream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(start.as_bytes()).await;
        let again = again.repeat(64);
        while stream.write_all(again.as_bytes()).await.is_ok() {}
    })
    .await
}

/// Answers with a beginning, and then with one byte each time that the other side has waited.
async fn dripping(start: &'static str, byte: u8) -> Server {
    once(move |mut stream: TcpStream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(start.as_bytes()).await;
        while stream.write_all(&[byte]).await.is_ok() {
            tokio::time::sleep(SHORT / 20).await;
        }
    })
    .await
}

#[tokio::test]
async fn slow_answers_end_in_time() {
    let total = Limits {
        total: SHORT,
        ..ample()
    };
    let head = Limits {
        head: SHORT,
        ..ample()
    };
    let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n";
    let body = "HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n";
    for limits in [total, head] {
        let start = "HTTP/1.1 200 OK\r\nA: ";
        assert_eq!(
            kind(&dripping(start, b'b').await, &limits).await,
            ErrorKind::Timeout
        );
        assert_eq!(
            kind(&answering_then_silent(b"").await, &limits).await,
            ErrorKind::Timeout
        );
        let hint = answering_then_silent(b"HTTP/1.1 100 Continue\r\n\r\n").await;
        assert_eq!(kind(&hint, &limits).await, ErrorKind::Timeout);
    }
    for start in [chunk, body] {
        assert_eq!(
            kind(&dripping(start, b'x').await, &total).await,
            ErrorKind::Timeout
        );
    }
    let silent = answering_then_silent(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe").await;
    assert_eq!(kind(&silent, &total).await, ErrorKind::Timeout);
}

#[tokio::test]
async fn a_peer_that_reads_nothing_ends_in_time() {
    let server = once(|stream| async move {
        let _open = stream;
        std::future::pending().await
    })
    .await;
    let mut request = Request::new(Method::POST, "/");
    request.body = vec![b'x'; 32 << 20].into();
    let limits = Limits {
        total: SHORT,
        ..ample()
    };
    let sent = send(&server, request, &limits, &Cancel::never()).await;
    assert_eq!(sent.unwrap_err().kind, ErrorKind::Timeout);
}

#[tokio::test]
async fn endless_bodies_end_at_their_limit() {
    for (start, again) in [
        ("HTTP/1.1 200 OK\r\n\r\n", "xxxxxxxx"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "1\r\nx\r\n",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "10\r\nxxxxxxxxxxxxxxxx\r\n",
        ),
    ] {
        let server = endless(start, again).await;
        assert_eq!(
            kind(&server, &ample()).await,
            ErrorKind::BodyTooLarge,
            "{again}"
        );
    }
}

#[tokio::test]
async fn a_body_may_have_its_limit_and_no_byte_more() {
    let limits = Limits {
        body_bytes: 1000,
        ..ample()
    };
    for framing in ["Content-Length: ", "X: "] {
        let answer = |length: usize| {
            let body = "x".repeat(length);
            format!("HTTP/1.1 200 OK\r\n{framing}{length}\r\n\r\n{body}")
        };
        let response = get(&answering(answer(1000)).await, &limits).await;
        assert_eq!(response.unwrap().body.len(), 1000);
        let error = kind(&answering(answer(1001)).await, &limits).await;
        assert_eq!(error, ErrorKind::BodyTooLarge);
    }
    // Refused before the first byte of it arrives.
    let announced = b"HTTP/1.1 200 OK\r\nContent-Length: 1152921504606846976\r\n\r\n";
    let server = answering_then_silent(announced).await;
    assert_eq!(kind(&server, &limits).await, ErrorKind::BodyTooLarge);
}

#[tokio::test]
async fn endless_heads_end_at_their_limit() {
    for (start, again) in [
        ("HTTP/1.1 200 OK\r\n", "A: b\r\n"),
        ("HTTP/1.1 200 OK\r\nA: ", "bbbbbbbb"),
        ("HTTP/1.1 200 OK\r\n", "a"),
        ("HTTP/1.1 200 ", "OK "),
        ("", "HTTP/1.1 100 Continue\r\n\r\n"),
        ("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
        ("", "\r\n"),
    ] {
        for limits in [
            ample(),
            Limits {
                head_bytes: 1 << 20,
                ..ample()
            },
        ] {
            let server = endless(start, again).await;
            let error = kind(&server, &limits).await;
            // The parser may refuse what starts like no head before the limit is reached.
            let expected = error == ErrorKind::HeadTooLarge
                || (error == ErrorKind::Protocol && again == "OK ");
            assert!(expected, "{start:?} {again:?} {error:?}");
        }
    }
}

#[tokio::test]
async fn a_head_may_have_its_limit_and_no_byte_more() {
    let head = |length: usize| {
        let start = "HTTP/1.1 200 OK\r\nContent-Length: 20000\r\nA: ";
        format!("{start}{}\r\n\r\n", "b".repeat(length - start.len() - 4))
    };
    for limit in [1 << 10, 40 << 10] {
        let limits = Limits {
            head_bytes: limit,
            ..ample()
        };
        // The body that follows at once does not count.
        let answer = |length| format!("{}{}", head(length), "x".repeat(20000));
        let response = get(&answering(answer(limit)).await, &limits).await;
        assert_eq!(response.unwrap().body.len(), 20000);
        let error = kind(&answering(answer(limit + 1)).await, &limits).await;
        assert_eq!(error, ErrorKind::HeadTooLarge);
    }
}

#[tokio::test]
async fn what_is_not_http_is_refused() {
    let answers: [&[u8]; 22] = [
        b"",
        b"hello\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 099 OK\r\n\r\n",
        b"HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 1000 OK\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: \x00\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: identity, br\r\nContent-Length: 2\r\n\r\nhi",
    ];
    for answer in answers {
        let error = kind(&answering(answer).await, &ample()).await;
        assert_eq!(error, ErrorKind::Protocol, "{}", answer.escape_ascii());
    }
}

#[tokio::test]
async fn malformed_chunks_are_refused() {
    for body in [
        "",
        "5\r\nhe",
        "5\r\nhello",
        "5\r\nhello\r\n",
        "5\r\nhelloX\r\n0\r\n\r\n",
        "zz\r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "\r\nhello\r\n0\r\n\r\n",
        "ffffffffffffffffff\r\nhello",
        "5\r\nhello\r\n0\r\nT: u",
    ] {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let error = kind(&answering(format!("{head}{body}")).await, &ample()).await;
        assert_eq!(error, ErrorKind::Protocol, "{body:?}");
    }
    // Extensions and trailers are limited by the parser.
    for (start, again) in [
        ("5;", "xxxxxxxx"),
        ("0\r\n", "T: u\r\n"),
        ("0\r\nT: ", "uuuuuuuu"),
    ] {
        let server = once(move |mut stream: TcpStream| async move {
            read_request(&mut stream).await;
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            let _ = stream.write_all(format!("{head}{start}").as_bytes()).await;
            while stream.write_all(again.repeat(64).as_bytes()).await.is_ok() {}
        })
        .await;
        assert_eq!(
            kind(&server, &ample()).await,
            ErrorKind::Protocol,
            "{start:?}"
        );
    }
}

#[tokio::test]
async fn bytes_after_a_response_are_not_read_as_one() {
    let two = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
    let server = answering(two).await;
    let mut exchange = begin(open(&server).await, "/").await.unwrap();
    assert_eq!(exchange.body().await.unwrap(), "hi");
    assert!(exchange.into_connection().await.is_none());
}

#[tokio::test]
async fn a_body_that_failed_is_not_read_on() {
    let server = endless("HTTP/1.1 200 OK\r\n\r\n", "xxxxxxxx").await;
    let mut exchange = begin(open(&server).await, "/").await.unwrap();
    let error = exchange.body().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::BodyTooLarge);
    assert_eq!(exchange.chunk().await, Err(error));
    assert!(exchange.into_connection().await.is_none());
}

#[tokio::test]
async fn a_connection_that_is_reset_is_an_error() {
    let server = once(|stream| async move {
        // Closed with unread bytes, which resets the connection.
        stream.set_zero_linger().unwrap();
        drop(stream);
    })
    .await;
    let error = kind(&server, &ample()).await;
    assert_eq!(error, ErrorKind::Protocol);
}

#[tokio::test]
async fn cancellation_ends_an_exchange_at_each_stage() {
    let (canceller, cancel) = Cancel::new();
    canceller.cancel();
    let server = answering_then_silent(b"").await;
    let request = Request::new(Method::GET, "/");
    let sent = send(&server, request.clone(), &ample(), &cancel).await;
    assert_eq!(sent.unwrap_err().kind, ErrorKind::Cancelled);

    for answer in [&b""[..], b"HTTP/1.1 200 OK\r\n\r\nhello"] {
        let (canceller, cancel) = Cancel::new();
        let server = once(move |mut stream: TcpStream| async move {
            read_request(&mut stream).await;
            stream.write_all(answer).await.unwrap();
            canceller.cancel();
            // Open until the other side closes the connection.
            let _ = copy(&mut stream, &mut sink()).await;
        })
        .await;
        let sent = send(&server, request.clone(), &ample(), &cancel).await;
        assert_eq!(sent.unwrap_err().kind, ErrorKind::Cancelled);
    }
}
