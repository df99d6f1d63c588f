//! Servers of raw bytes.

use agent_way_out::{
    Cancel, Connection, Error, Exchange, Limits, Method, Request, Response, Roots, Scheme, Target,
    WayOut,
};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinHandle};

/// A server that is stopped when the test ends.
pub(crate) struct Server {
    /// The server's address.
    pub(crate) address: SocketAddr,
    task: AbortHandle,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Returns the server as a target without TLS.
    pub(crate) fn target(&self) -> Target {
        Target::new(Scheme::Http, "localhost", self.address).unwrap()
    }
}

/// Accepts one connection and serves it.
pub(crate) async fn once<F>(serve: impl FnOnce(TcpStream) -> F + Send + 'static) -> Server
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task: JoinHandle<()> = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(stream).await;
    });
    Server {
        address,
        task: task.abort_handle(),
    }
}

/// Reads a request with a body of `Content-Length` bytes.
pub(crate) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.parse().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read_buf(&mut read).await {
            Ok(0) | Err(_) => return text,
            Ok(_) => {}
        }
    }
}

/// Answers one request with bytes and closes the connection.
pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Server {
    let answer = answer.into();
    once(|mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(&answer).await;
        let _ = stream.shutdown().await;
    })
    .await
}

/// Answers one request with bytes, and then keeps the connection open in silence.
pub(crate) async fn answering_then_silent(answer: &'static [u8]) -> Server {
    once(move |mut stream: TcpStream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(answer).await;
        std::future::pending().await
    })
    .await
}

/// Limits that no test of this suite reaches by accident.
pub(crate) fn ample() -> Limits {
    Limits {
        connect: Duration::from_secs(60),
        head: Duration::from_secs(60),
        total: Duration::from_secs(60),
        head_bytes: 4 << 10,
        body_bytes: 64 << 10,
    }
}

/// Sends a request without TLS.
pub(crate) async fn send(
    server: &Server,
    request: Request,
    limits: &Limits,
    cancel: &Cancel,
) -> Result<Response, Error> {
    WayOut::new(Roots::default())
        .send(&server.target(), request, limits, cancel)
        .await
}

/// Sends a `GET` without TLS.
pub(crate) async fn get(server: &Server, limits: &Limits) -> Result<Response, Error> {
    send(
        server,
        Request::new(Method::GET, "/"),
        limits,
        &Cancel::never(),
    )
    .await
}

/// Opens a connection without TLS.
pub(crate) async fn open(server: &Server) -> Connection {
    WayOut::new(Roots::default())
        .open(&server.target(), &ample(), &Cancel::never())
        .await
        .unwrap()
}

/// Starts an exchange on a connection.
pub(crate) async fn begin(connection: Connection, path: &str) -> Result<Exchange, Error> {
    let request = Request::new(Method::GET, path);
    connection
        .request(request, &ample(), &Cancel::never())
        .await
}
