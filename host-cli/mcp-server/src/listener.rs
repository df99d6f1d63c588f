//! A listener on loopback, and the connections of any listener.

use super::events::Body;
use agent_host::{Failure, output};
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Incoming};
use hyper::rt::Executor;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::convert::Infallible;
use std::error::Error;
use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::spawn_local;
use tokio::time::{Instant, Sleep, sleep, timeout};

/// Maximum number of open connections. Further ones wait in the queue of the system.
const CONNECTIONS: usize = 1024;

/// Maximum size of the head of a request, in bytes.
const HEAD_BYTES: usize = 32 << 10;

/// Maximum number of headers of a request.
const HEADERS: usize = 64;

/// Time until the head of a request has to be there, also of the next one of an idle connection.
const HEAD_TIME: Duration = Duration::from_secs(15);

/// Time in which a client has to read something of an answer.
const WRITE_TIME: Duration = Duration::from_secs(30);

/// Maximum number of open requests of a connection of HTTP/2.
const STREAMS: u32 = 64;

/// Time of silence after which a peer of HTTP/2 is asked whether it is there. It has as long to answer.
const SILENCE: Duration = Duration::from_secs(30);

/// Time until the next try after a connection could not be accepted, as there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// A listener on an address of loopback.
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens at an address. Port 0 is a free one.
    ///
    /// # Errors
    ///
    /// When the address is none of loopback, or can't be listened at.
    pub async fn bind(address: SocketAddr) -> Result<Self, Failure> {
        if !address.ip().is_loopback() {
            let help = "use 127.0.0.1 or [::1]";
            let message = format_args!("`{address}` can be reached from other machines");
            return Err(Failure::new(message).help(help));
        }
        let failed = |error: io::Error| {
            let message = format_args!("the gateway can't listen at {address}: {error}");
            Failure::new(message).help("name another port, or 0 for a free one")
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Returns the address with its port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers the requests of all connections, for ever.
    pub async fn serve<F>(&self, answer: impl Fn(Request<Incoming>) -> F + 'static)
    where
        F: Future<Output = Response<Body>> + 'static,
    {
        let accept = async || {
            let (stream, _) = self.listener.accept().await?;
            // An answer is one write; it need not wait for more.
            let _ = stream.set_nodelay(true);
            Ok(stream)
        };
        serve_plainly(accept, Protocol::Http1, answer).await;
    }
}

/// The version of HTTP that a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    Http2,
    /// One of both: its first bytes say which. Peers are trusted to send them.
    Either,
}

/// Spawns the requests of a connection of HTTP/2 on this thread.
#[derive(Debug, Clone, Copy)]
struct Local;

impl<F: Future<Output = ()> + 'static> Executor<F> for Local {
    fn execute(&self, request: F) {
        spawn_local(request);
    }
}

/// Answers the requests of all connections that are accepted, for ever. `open` prepares each, such as by a handshake, and says
/// who the peer is and what it speaks. It has 15 s.
pub async fn serve_connections<A, S, P, O, F, B>(
    accept: impl AsyncFn() -> io::Result<A>,
    open: impl Fn(A) -> O,
    answer: impl Fn(P, Request<Incoming>) -> F + 'static,
) where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
    P: Clone + 'static,
    O: Future<Output = io::Result<(S, P, Protocol)>> + 'static,
    F: Future<Output = Response<B>> + 'static,
    B: HttpBody<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let answer = Rc::new(answer);
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(HEADERS)
        .max_header_size(HEAD_BYTES)
        .max_buf_size(2 * HEAD_BYTES);
    let mut both = auto::Builder::new(Local);
    both.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(HEADERS)
        .max_buf_size(2 * HEAD_BYTES);
    both.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(HEAD_BYTES as u32)
        .keep_alive_interval(SILENCE)
        .keep_alive_timeout(SILENCE);
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else {
            return;
        };
        let accepted = match accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                output::note(format_args!("a connection was not accepted: {error}"));
                sleep(PAUSE).await;
                continue;
            }
        };
        let opened = open(accepted);
        let (answer, http, both) = (Rc::clone(&answer), http.clone(), both.clone());
        spawn_local(async move {
            // A connection that breaks concerns its client alone.
            if let Ok(Ok((stream, peer, protocol))) = timeout(HEAD_TIME, opened).await {
                let service = service_fn(move |request| {
                    let answered = answer(peer.clone(), request);
                    async move { Ok::<_, Infallible>(answered.await) }
                });
                let stream = TokioIo::new(Patient::new(stream));
                match protocol {
                    Protocol::Http1 => {
                        let _ = http.serve_connection(stream, service).await;
                    }
                    Protocol::Http2 => {
                        let _ = both.http2_only().serve_connection(stream, service).await;
                    }
                    Protocol::Either => {
                        let _ = both.serve_connection(stream, service).await;
                    }
                }
            }
            drop(permit);
        });
    }
}

/// Answers the requests of connections that need no preparation.
pub(crate) async fn serve_plainly<S, F, B>(
    accept: impl AsyncFn() -> io::Result<S>,
    protocol: Protocol,
    answer: impl Fn(Request<Incoming>) -> F + 'static,
) where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
    F: Future<Output = Response<B>> + 'static,
    B: HttpBody<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let open = move |stream| ready(Ok((stream, (), protocol)));
    serve_connections(accept, open, move |(), request| answer(request)).await;
}

/// A stream whose peer has to read what is written within a time.
struct Patient<S> {
    stream: S,
    /// The end of the present wait.
    end: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl<S: Unpin> Patient<S> {
    fn new(stream: S) -> Self {
        Self {
            stream,
            end: Box::pin(sleep(WRITE_TIME)),
            is_waiting: false,
        }
    }

    fn wait<T>(
        &mut self,
        context: &mut Context<'_>,
        work: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let done = work(Pin::new(&mut self.stream), context);
        if done.is_ready() {
            self.is_waiting = false;
            return done;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.end.as_mut().reset(Instant::now() + WRITE_TIME);
        }
        match self.end.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.wait(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wait(context, |stream, context| stream.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wait(context, |stream, context| stream.poll_shutdown(context))
    }
}
