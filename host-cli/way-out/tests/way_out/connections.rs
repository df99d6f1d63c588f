//! Several requests on one connection, and bodies in chunks.

use crate::server::{answering, begin, once, open, read_request};
use agent_way_out::ErrorKind;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

#[tokio::test]
async fn a_connection_carries_one_exchange_after_the_other() {
    let server = once(|mut stream| async move {
        for number in 1..=3 {
            let request = read_request(&mut stream).await;
            assert!(request.starts_with(&format!("GET /{number} ")), "{request}");
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{number}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    })
    .await;
    let mut connection = open(&server).await;
    for number in 1..=3 {
        let mut exchange = begin(connection, &format!("/{number}")).await.unwrap();
        assert_eq!(exchange.body().await.unwrap(), number.to_string());
        match exchange.into_connection().await {
            Some(again) => connection = again,
            None => {
                assert_eq!(number, 3, "the server closes after the third");
                return;
            }
        }
    }
}

#[tokio::test]
async fn chunks_arrive_as_they_are_sent() {
    let (sender, mut receiver) = mpsc::channel::<()>(1);
    let server = once(|mut stream| async move {
        read_request(&mut stream).await;
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        stream.write_all(head).await.unwrap();
        for text in ["one", "two"] {
            let chunk = format!("3\r\n{text}\r\n");
            stream.write_all(chunk.as_bytes()).await.unwrap();
            // The next chunk only after this one was taken.
            receiver.recv().await.unwrap();
        }
        stream.write_all(b"0\r\n\r\n").await.unwrap();
        let _ = stream.read(&mut [0]).await;
    })
    .await;
    let exchange = begin(open(&server).await, "/").await;
    let mut exchange = exchange.unwrap();
    for text in ["one", "two"] {
        assert_eq!(exchange.chunk().await.unwrap().unwrap(), text);
        sender.send(()).await.unwrap();
    }
    assert_eq!(exchange.chunk().await.unwrap(), None);
    assert_eq!(exchange.chunk().await.unwrap(), None);
    assert!(exchange.into_connection().await.is_some());
}

#[tokio::test]
async fn dropping_an_exchange_closes_its_connection() {
    let (sender, mut receiver) = mpsc::channel(1);
    let server = once(|mut stream| async move {
        read_request(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\n\r\nhello")
            .await
            .unwrap();
        let end = stream.read(&mut [0; 16]).await;
        sender.send(end.is_ok_and(|read| read == 0)).await.unwrap();
    })
    .await;
    let exchange = begin(open(&server).await, "/").await;
    drop(exchange.unwrap());
    assert_eq!(receiver.recv().await, Some(true));
}

#[tokio::test]
async fn an_exchange_that_is_not_at_its_end_gives_no_connection() {
    let server = answering("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello").await;
    let exchange = begin(open(&server).await, "/").await;
    assert!(exchange.unwrap().into_connection().await.is_none());
}

#[tokio::test]
async fn nothing_is_sent_again_on_a_closed_connection() {
    let server = once(|mut stream| async move {
        read_request(&mut stream).await;
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        read_request(&mut stream).await;
    })
    .await;
    let exchange = begin(open(&server).await, "/").await;
    let connection = exchange.unwrap().into_connection().await;
    let connection = connection.expect("an open connection");
    // The server reads the second request, closes, and accepts no other connection.
    let again = begin(connection, "/").await;
    assert_eq!(again.err().map(|e| e.kind), Some(ErrorKind::Protocol));
}
