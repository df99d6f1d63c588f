//! Servers of raw bytes, which count requests.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// What a server does after it has read a request.
#[derive(Clone)]
pub(crate) enum Answer {
    /// Writes bytes and closes the connection.
    Bytes(Vec<u8>),
    /// Writes bytes and keeps the connection open in silence.
    Silence(&'static str),
    /// Writes bytes, and then others without an end.
    Endless(&'static str, &'static str),
}

/// A server that is stopped when the test ends.
pub(crate) struct Server {
    /// The server's address.
    pub(crate) address: SocketAddr,
    /// The number of connections.
    connections: Arc<Mutex<usize>>,
    /// All requests of all connections.
    requests: watch::Receiver<Vec<String>>,
    task: AbortHandle,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Starts a server that gives each request the same answer.
    pub(crate) async fn new(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(Mutex::new(0));
        let (sender, requests) = watch::channel(Vec::new());
        let count = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            let sender = Arc::new(sender);
            let mut tasks = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                *count.lock().unwrap() += 1;
                tasks.spawn(serve(stream, answer.clone(), Arc::clone(&sender)));
            }
        });
        Self {
            address,
            connections,
            requests,
            task: task.abort_handle(),
        }
    }

    /// Returns the base URL.
    pub(crate) fn base(&self) -> String {
        format!("http://localhost:{}/v1", self.address.port())
    }

    /// Returns the one request.
    pub(crate) fn request(&self) -> String {
        let requests = self.requests.borrow();
        assert_eq!(requests.len(), 1, "{requests:?}");
        assert_eq!(*self.connections.lock().unwrap(), 1);
        requests[0].clone()
    }

    /// Waits until there is a request.
    pub(crate) async fn requested(&self) {
        let mut requests = self.requests.clone();
        requests
            .wait_for(|requests| !requests.is_empty())
            .await
            .unwrap();
    }
}

async fn serve(mut stream: TcpStream, answer: Answer, requests: Arc<watch::Sender<Vec<String>>>) {
    while let Some(request) = read_request(&mut stream).await {
        requests.send_modify(|requests| requests.push(request));
        match &answer {
            Answer::Bytes(bytes) => {
                let _ = stream.write_all(bytes).await;
                let _ = stream.shutdown().await;
            }
            Answer::Silence(begin) => {
                let _ = stream.write_all(begin.as_bytes()).await;
            }
            Answer::Endless(begin, more) => {
                let _ = stream.write_all(begin.as_bytes()).await;
                while stream.write_all(more.as_bytes()).await.is_ok() {}
            }
        }
    }
}

/// Reads a request with a body of `Content-Length` bytes.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.parse::<usize>().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        match stream.read_buf(&mut read).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// Returns a response with a body of JSON.
pub(crate) fn response(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}
