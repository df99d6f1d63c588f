//! The proxy of a program without a network.

use crate::server::{once, read_request};
use agent_way_out::{Gate, Lookup, Proxy, ProxyLimits, Resolver, Serving};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Admits names that begin with `open`, at loopback.
struct Stub(Arc<Mutex<Vec<String>>>);

impl Gate for Stub {
    fn admit(&mut self, wanted: &str) -> Result<(String, u16), String> {
        self.0.lock().unwrap().push(wanted.to_owned());
        let (host, port) = wanted.rsplit_once(':').ok_or("no port")?;
        match host.starts_with("open") {
            true => Ok((host.to_owned(), port.parse().unwrap())),
            false => Err(format!("`{wanted}` is closed")),
        }
    }

    fn authorize(&mut self, wanted: &str, addresses: &[IpAddr]) -> Result<Vec<IpAddr>, String> {
        match addresses.iter().all(IpAddr::is_loopback) {
            true => Ok(addresses.to_vec()),
            false => Err(format!("`{wanted}` leads elsewhere")),
        }
    }
}

/// Answers loopback first, and then another address.
#[derive(Clone, Default)]
struct Changing(Arc<AtomicUsize>);

impl Lookup for Changing {
    fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let first = self.0.fetch_add(1, Ordering::Relaxed) == 0;
        let address = match first && name != "open-elsewhere" {
            true => "127.0.0.1",
            false => "192.0.2.1",
        };
        Ok(vec![address.parse().unwrap()])
    }
}

struct Running {
    address: SocketAddr,
    serving: Serving,
    asked: Arc<Mutex<Vec<String>>>,
    lookups: Changing,
}

fn running(limits: ProxyLimits) -> Running {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, lookups) = (Arc::default(), Changing::default());
    let resolver = Resolver::new(lookups.clone(), Duration::from_secs(60));
    let proxy = Proxy::new(Stub(Arc::clone(&asked)), resolver, limits);
    Running {
        address,
        serving: proxy.start(listener).unwrap(),
        asked,
        lookups,
    }
}

impl Running {
    /// Sends bytes to the proxy, and returns all that it answers with.
    async fn exchange(&self, sent: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let read = timeout(Duration::from_secs(60), stream.read_to_string(&mut answer));
        // A connection that the proxy resets has answered nothing more.
        let _ = read.await.expect("the proxy ends the connection");
        answer
    }
}

#[tokio::test]
async fn a_tunnel_leads_to_the_address_that_was_checked() {
    let server = once(|mut stream| async move {
        let mut received = [0; 4];
        stream.read_exact(&mut received).await.unwrap();
        assert_eq!(&received, b"ping");
        stream.write_all(b"pong").await.unwrap();
    })
    .await;
    let running = running(ProxyLimits::default());
    let port = server.address.port();
    let sent = format!("CONNECT open:{port} HTTP/1.1\r\n\r\nping");
    let answer = running.exchange(&sent).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert_eq!(body, "pong");
    // A second lookup would have returned another address.
    assert_eq!(running.lookups.0.load(Ordering::Relaxed), 1);
    assert!(running.serving.refusals().is_empty());
}

#[tokio::test]
async fn a_request_is_passed_on_with_the_host_of_its_url() {
    let server = once(|mut stream| async move {
        let request = read_request(&mut stream).await;
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
            request.len()
        );
        stream
            .write_all((answer + &request).as_bytes())
            .await
            .unwrap();
    })
    .await;
    let running = running(ProxyLimits::default());
    let port = server.address.port();
    let sent =
        format!("POST http://open:{port}/a HTTP/1.1\r\nHost: other\r\nContent-Length: 2\r\n\r\nhi");
    let answer = running.exchange(&sent).await;
    let (_, request) = answer.split_once("\r\n\r\n").unwrap();
    assert!(request.starts_with("POST /a HTTP/1.1\r\n"), "{request}");
    assert!(
        request.contains(&format!("\r\nHost: open:{port}\r\n")),
        "{request}"
    );
    assert!(!request.contains("other"), "{request}");
    assert!(request.ends_with("\r\n\r\nhi"), "{request}");
}

#[tokio::test]
async fn what_the_gate_refuses_is_not_connected_to() {
    let running = running(ProxyLimits::default());
    for (sent, status, why) in [
        (
            "CONNECT closed:1 HTTP/1.1\r\n\r\n",
            403,
            "`closed:1` is closed",
        ),
        (
            "CONNECT closed:1 HTTP/1.1\r\n\r\n",
            403,
            "`closed:1` is closed",
        ),
        (
            "GET http://closed/ HTTP/1.1\r\n\r\n",
            403,
            "`closed:80` is closed",
        ),
        (
            "CONNECT open-elsewhere:1 HTTP/1.1\r\n\r\n",
            403,
            "leads elsewhere",
        ),
        ("GET / HTTP/1.1\r\n\r\n", 400, "URL"),
    ] {
        let answer = running.exchange(sent).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{answer}"
        );
        assert!(answer.contains(why), "{answer}");
    }
    let refusals = running.serving.refusals();
    assert_eq!(refusals.len(), 3, "{refusals:?}");
    assert_eq!(running.asked.lock().unwrap().len(), 4);
    assert_eq!(running.lookups.0.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn limits_end_connections() {
    let usual = ProxyLimits::default();
    let late = running(ProxyLimits {
        head: Duration::from_millis(20),
        ..usual
    });
    let answer = late.exchange("CONNECT open:1").await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");

    let small = running(ProxyLimits {
        head_bytes: 64,
        ..usual
    });
    let answer = small
        .exchange(&format!("CONNECT {}:1", "x".repeat(200)))
        .await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");

    // The server neither answers nor closes.
    let (keep, mut kept) = tokio::sync::mpsc::channel(2);
    let server = once(|stream| async move { keep.send(stream).await.unwrap() }).await;
    let head = format!("CONNECT open:{} HTTP/1.1\r\n\r\n", server.address.port());
    let idle = running(ProxyLimits {
        idle: Duration::from_millis(20),
        ..usual
    });
    let answer = idle.exchange(&head).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    drop(kept.recv().await);

    let (keep, mut kept) = tokio::sync::mpsc::channel(2);
    let server = once(|stream| async move { keep.send(stream).await.unwrap() }).await;
    let head = format!("CONNECT open:{} HTTP/1.1\r\n\r\n", server.address.port());
    let few = running(ProxyLimits { bytes: 3, ..usual });
    let mut stream = TcpStream::connect(few.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut at_server = kept.recv().await.unwrap();
    stream.write_all(b"more").await.unwrap();
    let mut received = Vec::new();
    let ended = timeout(
        Duration::from_secs(60),
        at_server.read_to_end(&mut received),
    );
    assert!(ended.await.is_ok());
    assert_eq!(received, b"");
}

#[tokio::test]
async fn connections_wait_for_room_and_end_with_the_proxy() {
    let running = running(ProxyLimits {
        connections: 1,
        ..ProxyLimits::default()
    });
    {
        let first = TcpStream::connect(running.address).await.unwrap();
        let second = running.exchange("GET / HTTP/1.1\r\n\r\n");
        let mut second = std::pin::pin!(second);
        assert!(
            timeout(Duration::from_millis(100), &mut second)
                .await
                .is_err()
        );
        drop(first);
        assert!(second.await.starts_with("HTTP/1.1 400 "));
    }

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let head = format!("CONNECT open:{port} HTTP/1.1\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut at_server, _) = listener.accept().await.unwrap();
    let address = running.address;
    drop(running);
    let mut rest = Vec::new();
    let ended = timeout(Duration::from_secs(60), at_server.read_to_end(&mut rest));
    assert!(ended.await.is_ok());
    assert!(TcpStream::connect(address).await.is_err());
}
