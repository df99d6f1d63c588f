//! Clients that ask about calls again and again.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::{JoinSet, LocalSet};

/// Whom clients ask, and how.
#[derive(Clone)]
pub(crate) enum Target {
    /// `/v1/decide` of a socket. `CLIENT` in the question is another one for each client.
    Http(PathBuf, String),
    /// `ext_authz` of a socket, with its message.
    Grpc(PathBuf, Bytes),
    /// A proxy that asks, with the request of a client of MCP.
    Proxy(u16, String),
}

/// What was measured.
pub(crate) struct Times {
    /// From the first question to the last answer.
    pub(crate) wall: Duration,
    /// Of each question, ordered.
    pub(crate) each: Vec<Duration>,
}

impl Times {
    /// Returns decisions in a second.
    pub(crate) fn rate(&self) -> f64 {
        self.each.len() as f64 / self.wall.as_secs_f64()
    }

    pub(crate) fn at(&self, percent: usize) -> Duration {
        let place = self.each.len() * percent / 100;
        self.each.get(place).copied().unwrap_or_default()
    }
}

/// Lets clients ask at once, each over a connection of its own, for a time. Every answer must be a yes.
pub(crate) async fn ask(
    target: &Target,
    clients: usize,
    time: Duration,
) -> Result<Times, Box<dyn Error>> {
    let set = LocalSet::new();
    let target = target.clone();
    set.run_until(async move {
        let mut asking = JoinSet::new();
        let began = Instant::now();
        let end = began + time;
        for number in 0..clients {
            asking.spawn_local(one_after_the_other(target.clone(), number, end));
        }
        let mut each = Vec::new();
        while let Some(times) = asking.join_next().await {
            each.extend(times?.map_err(|why| format!("{why}"))?);
        }
        each.sort_unstable();
        Ok(Times {
            wall: began.elapsed(),
            each,
        })
    })
    .await
}

type Failure = Box<dyn Error + Send + Sync>;

async fn one_after_the_other(
    target: Target,
    number: usize,
    end: Instant,
) -> Result<Vec<Duration>, Failure> {
    let mut times = Vec::new();
    match target {
        Target::Http(socket, question) => {
            let body = Bytes::from(question.replace("CLIENT", &format!("client {number}")));
            let stream = TokioIo::new(UnixStream::connect(socket).await?);
            let (mut sender, connection) = http1::handshake(stream).await?;
            tokio::task::spawn_local(connection);
            while Instant::now() < end {
                let request = post("/v1/decide", "application/json", body.clone())?;
                let began = Instant::now();
                let (status, answer) = whole(sender.send_request(request).await?).await?;
                times.push(began.elapsed());
                let is_yes = answer.windows(14).any(|it| it == b"\"allowed\":true");
                if status != StatusCode::OK || !is_yes {
                    return Err(String::from_utf8_lossy(&answer).into());
                }
            }
        }
        Target::Grpc(socket, message) => {
            let stream = TokioIo::new(UnixStream::connect(socket).await?);
            let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
            tokio::task::spawn_local(connection);
            let path = "http://pdp/envoy.service.auth.v3.Authorization/Check";
            while Instant::now() < end {
                let mut request = post(path, "application/grpc", message.clone())?;
                request.headers_mut().insert("te", "trailers".parse()?);
                let began = Instant::now();
                let (status, answer) = whole(sender.send_request(request).await?).await?;
                times.push(began.elapsed());
                // A no has the headers of its answer.
                let is_no = answer.windows(13).any(|it| it == b"cache-control");
                if status != StatusCode::OK || answer.is_empty() || is_no {
                    return Err(String::from_utf8_lossy(&answer).into());
                }
            }
        }
        Target::Proxy(port, question) => {
            let body = Bytes::from(question);
            let stream = TcpStream::connect(("127.0.0.1", port)).await?;
            stream.set_nodelay(true)?;
            let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
            tokio::task::spawn_local(connection);
            while Instant::now() < end {
                let request = post("/mcp", "application/json", body.clone())?;
                let began = Instant::now();
                let (status, answer) = whole(sender.send_request(request).await?).await?;
                times.push(began.elapsed());
                if status != StatusCode::OK || &answer[..] != b"passed" {
                    return Err(String::from_utf8_lossy(&answer).into());
                }
            }
        }
    }
    Ok(times)
}

fn post(path: &str, kind: &str, body: Bytes) -> Result<Request<Full<Bytes>>, Failure> {
    let request = Request::post(path)
        .header("host", "pdp")
        .header("content-type", kind);
    Ok(request.body(Full::new(body))?)
}

async fn whole(response: Response<Incoming>) -> Result<(StatusCode, Bytes), Failure> {
    let status = response.status();
    Ok((status, response.into_body().collect().await?.to_bytes()))
}

/// Returns the message of `ext_authz` about a request to the first server.
pub(crate) fn check_request(body: &str) -> Bytes {
    let field = |number: u8, bytes: &[u8]| {
        let mut text = vec![number << 3 | 2];
        let mut length = bytes.len();
        while length >= 0x80 {
            text.push(length as u8 | 0x80);
            length >>= 7;
        }
        text.push(length as u8);
        text.extend_from_slice(bytes);
        text
    };
    let pair = |number: u8, name: &str, value: &str| {
        field(
            number,
            &[field(1, name.as_bytes()), field(2, value.as_bytes())].concat(),
        )
    };
    let http = [
        field(2, b"POST"),
        pair(3, "content-type", "application/json"),
        field(4, b"/mcp"),
        field(5, b"pdp"),
        field(12, body.as_bytes()),
    ];
    let attributes = [
        field(4, &field(2, &http.concat())),
        pair(10, "agent-server", "s0"),
        pair(10, "agent-subject", "alice"),
        pair(10, "agent-subject-type", "user"),
    ];
    let message = field(1, &attributes.concat());
    let mut frame = vec![0];
    frame.extend_from_slice(&(message.len() as u32).to_be_bytes());
    frame.extend_from_slice(&message);
    Bytes::from(frame)
}
