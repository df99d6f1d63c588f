//! A proxy for a program without a network: the only way out that it has.

use crate::proxy_head::{self, HeadError};
use crate::quote::quote;
use crate::resolve::Resolver;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as Listener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{self, AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

/// Size of the buffer for one direction of a connection, in bytes.
const BUFFER: usize = 16 << 10;
/// Maximum number of characters of a refusal.
const REFUSAL_CHARS: usize = 400;
/// Time until the next connection is accepted after a failure to accept one.
const PAUSE: Duration = Duration::from_millis(50);

/// Decides where the connections of a program may lead. A refusal is a sentence.
pub trait Gate: Send + 'static {
    /// Decides on `host:port` as the program wrote it. Returns the host to resolve, and the port.
    ///
    /// # Errors
    ///
    /// The reason against the connection.
    fn admit(&mut self, wanted: &str) -> Result<(String, u16), String>;

    /// Decides on all addresses of the host. Returns those that may be connected to.
    ///
    /// # Errors
    ///
    /// The reason against the connection.
    fn authorize(&mut self, wanted: &str, addresses: &[IpAddr]) -> Result<Vec<IpAddr>, String>;
}

/// The limits of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxyLimits {
    /// Maximum number of connections at once. Others wait.
    pub connections: usize,
    /// Maximum number of bytes of the head of a request.
    pub head_bytes: usize,
    /// Maximum time until the head of a request has arrived.
    pub head: Duration,
    /// Maximum time to connect.
    pub connect: Duration,
    /// Maximum time in which no byte of a connection is passed on.
    pub idle: Duration,
    /// Maximum number of bytes of all connections together, in both directions.
    pub bytes: u64,
    /// Maximum number of refusals that are kept.
    pub refusals: usize,
}

impl Default for ProxyLimits {
    /// 32 connections, 16 KiB and 10 s for a head, 10 s to connect, 5 minutes without a byte, 4 GiB, 16
    /// refusals.
    fn default() -> Self {
        Self {
            connections: 32,
            head_bytes: 16 << 10,
            head: Duration::from_secs(10),
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(300),
            bytes: 4 << 30,
            refusals: 16,
        }
    }
}

/// A proxy of HTTP: tunnels by `CONNECT`, and requests with a URL. It resolves a name once, and connects
/// to an address that its gate has decided on.
pub struct Proxy(Arc<Shared>);

/// A proxy at work. Dropping it ends its connections.
pub struct Serving {
    shared: Arc<Shared>,
    task: AbortHandle,
}

struct Shared {
    gate: Mutex<Box<dyn Gate>>,
    resolver: Resolver,
    limits: ProxyLimits,
    passed: AtomicU64,
    refusals: Mutex<Vec<Refusal>>,
}

/// A connection that was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, in a sentence.
    pub message: String,
    /// Whether the gate denied it. Otherwise the connection failed.
    pub is_denied: bool,
}

/// The status of the answer when the gate denies a connection.
const FORBIDDEN: &str = "403 Forbidden";

/// The status of the answer when a connection fails.
const BAD_GATEWAY: &str = "502 Bad Gateway";

/// A connection that is not made: the status of the answer, and the reason.
type Refused = (&'static str, String);

impl Proxy {
    /// Returns a proxy of a gate. Names are resolved by `resolver`.
    pub fn new(gate: impl Gate, resolver: Resolver, limits: ProxyLimits) -> Self {
        Self(Arc::new(Shared {
            gate: Mutex::new(Box::new(gate)),
            resolver,
            limits,
            passed: AtomicU64::new(0),
            refusals: Mutex::default(),
        }))
    }

    /// Decides on a destination, `host:port`, and resolves it. Returns the addresses that the gate allows.
    ///
    /// # Errors
    ///
    /// When the gate denies it, or it has no address.
    pub async fn addresses(&self, wanted: &str) -> Result<Vec<SocketAddr>, Refusal> {
        let found = self.0.addresses(wanted).await;
        found.map_err(|refused| Shared::refusal(&refused))
    }

    /// Serves the connections of a socket that does not block. Needs a tokio runtime with I/O.
    ///
    /// # Errors
    ///
    /// When the socket can't be used.
    pub fn start(self, listener: Listener) -> io::Result<Serving> {
        let listener = TcpListener::from_std(listener)?;
        let shared = Arc::clone(&self.0);
        let task = task::spawn(self.serve(listener)).abort_handle();
        Ok(Serving { shared, task })
    }

    async fn serve(self, listener: TcpListener) {
        let mut connections = JoinSet::new();
        loop {
            let has_room = connections.len() < self.0.limits.connections;
            tokio::select! {
                Some(_) = connections.join_next() => {}
                accepted = listener.accept(), if has_room => match accepted {
                    Ok((stream, _)) => {
                        let shared = Arc::clone(&self.0);
                        connections.spawn(async move { shared.connection(stream).await });
                    }
                    // No descriptor is left, or the peer is gone.
                    Err(_) => sleep(PAUSE).await,
                },
            }
        }
    }
}

impl Serving {
    /// Returns why connections were refused or failed: the first reasons, each once.
    #[must_use]
    pub fn refusals(&self) -> Vec<Refusal> {
        lock(&self.shared.refusals).clone()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    async fn connection(&self, mut client: TcpStream) {
        let limits = &self.limits;
        let head = within(
            limits.head,
            proxy_head::read(&mut client, limits.head_bytes),
        )
        .await;
        let (wanted, rest) = match head {
            Ok(Ok(head)) => head,
            Ok(Err(HeadError::Closed)) => return,
            Ok(Err(HeadError::TooLarge)) => {
                let message = format!("the head has more than {} bytes", limits.head_bytes);
                return refuse(client, "431 Request Header Fields Too Large", &message).await;
            }
            Ok(Err(HeadError::Invalid(why))) => {
                return refuse(client, "400 Bad Request", why).await;
            }
            Err(Late) => return refuse(client, "408 Request Timeout", "the head is late").await,
        };
        let mut server = match self.connect(&wanted.authority).await {
            Ok(server) => server,
            Err(refused) => {
                let refusal = Self::refusal(&refused);
                self.keep(&refusal);
                return refuse(client, refused.0, &refusal.message).await;
            }
        };
        let begun = match &wanted.head {
            Some(head) => self.send(head.as_bytes(), &mut server).await,
            None => {
                client
                    .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    .await
            }
        };
        if begun.is_ok() && self.send(&rest, &mut server).await.is_ok() {
            self.relay(client, server, wanted.head.is_some()).await;
        }
    }

    fn refusal((status, message): &Refused) -> Refusal {
        Refusal {
            message: quote(message, REFUSAL_CHARS),
            is_denied: *status == FORBIDDEN,
        }
    }

    fn keep(&self, refusal: &Refusal) {
        let mut refusals = lock(&self.refusals);
        if refusals.len() < self.limits.refusals && !refusals.contains(refusal) {
            refusals.push(refusal.clone());
        }
    }

    /// Returns the addresses of a destination that the gate allows.
    async fn addresses(&self, wanted: &str) -> Result<Vec<SocketAddr>, Refused> {
        let forbidden = |message| (FORBIDDEN, message);
        let (host, port) = lock(&self.gate).admit(wanted).map_err(forbidden)?;
        let addresses = self.resolver.resolve(&host).await;
        let addresses = addresses.map_err(|error| {
            let shown = quote(wanted, REFUSAL_CHARS);
            (BAD_GATEWAY, format!("`{shown}`: {error}"))
        })?;
        let authorized = lock(&self.gate).authorize(wanted, &addresses);
        let authorized = authorized.map_err(forbidden)?.into_iter();
        Ok(authorized.map(|it| SocketAddr::new(it, port)).collect())
    }

    /// Connects to an address of a destination that the gate allows.
    async fn connect(&self, wanted: &str) -> Result<TcpStream, Refused> {
        let mut last = "it has no address".to_owned();
        for at in self.addresses(wanted).await? {
            let address = at.ip();
            match within(self.limits.connect, TcpStream::connect(at)).await {
                Ok(Ok(stream)) => {
                    // Small messages are passed on at once.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => last = format!("no connection to {address}: {error}"),
                Err(Late) => last = format!("no connection to {address} in time"),
            }
        }
        let shown = quote(wanted, REFUSAL_CHARS);
        Err((BAD_GATEWAY, format!("`{shown}`: {last}")))
    }

    /// Passes bytes on in both directions, until both have ended, no byte moves, or there were too
    /// many. The response to a request has its own head.
    async fn relay(&self, client: TcpStream, server: TcpStream, is_request: bool) {
        let _ = client.set_nodelay(true);
        let moved = AtomicU64::new(0);
        let (from_client, mut to_client) = client.into_split();
        let (mut from_server, to_server) = server.into_split();
        let answer = async {
            let mut rest = Vec::new();
            let mut is_head = is_request;
            while is_head {
                let limit = self.limits.head_bytes;
                let head = proxy_head::read_response(&mut from_server, rest, limit);
                let head = head.await.map_err(|_| io::Error::other("no head"))?;
                moved.fetch_add(1, Ordering::Relaxed);
                self.send(&head.head, &mut to_client).await?;
                (rest, is_head) = (head.rest, !head.is_final);
            }
            self.send(&rest, &mut to_client).await?;
            self.pass(from_server, to_client, &moved).await
        };
        let both = async { tokio::try_join!(self.pass(from_client, to_server, &moved), answer) };
        tokio::select! {
            _ = both => {}
            () = idle(&moved, self.limits.idle) => {}
        }
    }

    async fn pass(
        &self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
        moved: &AtomicU64,
    ) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER];
        loop {
            let count = from.read(&mut buffer).await?;
            if count == 0 {
                return to.shutdown().await;
            }
            moved.fetch_add(1, Ordering::Relaxed);
            self.send(&buffer[..count], &mut to).await?;
        }
    }

    /// Passes bytes on, if they are within the limit of all connections together.
    async fn send(&self, bytes: &[u8], to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let count = bytes.len() as u64;
        let passed = self.passed.fetch_add(count, Ordering::Relaxed);
        if passed.saturating_add(count) > self.limits.bytes {
            return Err(io::Error::other("too many bytes"));
        }
        to.write_all(bytes).await
    }
}

/// Resolves after a time in which nothing moves.
async fn idle(moved: &AtomicU64, time: Duration) {
    let mut seen = moved.load(Ordering::Relaxed);
    loop {
        sleep(time).await;
        let now = moved.load(Ordering::Relaxed);
        if now == seen {
            return;
        }
        seen = now;
    }
}

/// Answers with the status of a missing connection.
async fn refuse(mut client: TcpStream, status: &str, message: &str) {
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{message}\n",
        message.len() + 1
    );
    // A program that is gone needs no answer.
    let _ = within(PAUSE, async {
        client.write_all(answer.as_bytes()).await?;
        client.shutdown().await
    })
    .await;
}

/// The time of a piece of work is over.
struct Late;

async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Result<T, Late> {
    timeout(time, work).await.map_err(|_| Late)
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
