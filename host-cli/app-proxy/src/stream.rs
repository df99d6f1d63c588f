//! The stream of a client, of which `hyper` reads checked heads only.
//!
//! `hyper` accepts line ends without CR, equal lengths that appear twice, and a length beside a coding. Its service
//! does not see them any more, so a head is read here first, as a whole. A head that is refused does not reach `hyper`:
//! it reads an empty request in its place, and the service answers that one with the refusal.

use crate::deadline::Deadline;
use crate::limits::{HEAD_BYTES, LINGER_BYTES, LINGER_TIME};
use crate::pool::locked;
use crate::refusal::Refusal;
use crate::request::{self, Body};
use crate::site::Site;
use crate::tunnel::Tunnel;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Number of bytes that are read at once until a head is whole.
const READ_BYTES: usize = 8 << 10;

/// The request that `hyper` reads instead of a refused one.
const REFUSED: &[u8] = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";

/// What the stream of a client and the requests on it share.
#[derive(Default)]
pub(crate) struct Link {
    refusal: Mutex<Option<Refusal>>,
    tunnel: Mutex<Option<Tunnel>>,
    is_tunnel: AtomicBool,
    /// Whether the end of the chunks was found, behind which nothing is waited for.
    has_chunks: AtomicBool,
    has_moved: AtomicBool,
    requests: AtomicUsize,
}

impl Link {
    /// Takes the refusal of the request that `hyper` read last.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        locked(&self.refusal).take()
    }

    /// Lets a WebSocket follow the response.
    pub(crate) fn set_tunnel(&self, tunnel: Tunnel) {
        *locked(&self.tunnel) = Some(tunnel);
        self.is_tunnel.store(true, Ordering::Relaxed);
    }

    /// Marks a body in chunks as complete.
    pub(crate) fn set_chunks(&self) {
        self.has_chunks.store(true, Ordering::Relaxed);
    }

    pub(crate) fn tunnel(&self) -> Option<Tunnel> {
        locked(&self.tunnel).take()
    }

    /// Returns whether bytes have moved since the last call.
    pub(crate) fn has_moved(&self) -> bool {
        self.has_moved.swap(false, Ordering::Relaxed)
    }

    /// Marks the client as waiting for a response until the result is dropped.
    pub(crate) fn request(self: &Arc<Self>) -> Request {
        self.requests.fetch_add(1, Ordering::Relaxed);
        Request(Arc::clone(self))
    }
}

/// A request whose response is not complete.
pub(crate) struct Request(Arc<Link>);

impl Drop for Request {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What follows in the stream behind the bytes of a head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Head,
    /// So many bytes of a body.
    Body(u64),
    /// Chunks. Only `hyper` finds their end: the service closes the connection with the response.
    Chunks,
    Tunnel,
    /// Nothing that is read: the connection ends with the refusal.
    Refused,
    /// What a closed connection still sends: so many bytes may follow.
    Lingering(usize),
}

/// The stream of a client.
pub(crate) struct CheckedStream {
    stream: TcpStream,
    site: Arc<Site>,
    link: Arc<Link>,
    input: Vec<u8>,
    /// Bytes of a checked head at the front of the input.
    head: usize,
    /// Bytes of the next head in which its end was not found.
    seen: usize,
    phase: Phase,
    /// The time of the last step of what is waited for.
    since: Instant,
    deadline: Deadline,
    /// While the client does not read.
    write_deadline: Option<Deadline>,
}

impl CheckedStream {
    pub(crate) fn new(stream: TcpStream, site: Arc<Site>, link: Arc<Link>) -> Self {
        let now = Instant::now();
        Self {
            deadline: Deadline::at(now + site.shared.idle_time()),
            stream,
            site,
            link,
            input: Vec::new(),
            head: 0,
            seen: 0,
            phase: Phase::Head,
            since: now,
            write_deadline: None,
        }
    }

    /// Gives to `hyper` what it may read of the input. Returns whether there was something.
    fn hand_over(&mut self, buf: &mut ReadBuf<'_>) -> bool {
        let behind = self.input.len() - self.head;
        let allowed = self.head
            + match self.phase {
                Phase::Head | Phase::Refused | Phase::Lingering(_) => 0,
                Phase::Body(rest) => behind.min(usize::try_from(rest).unwrap_or(usize::MAX)),
                Phase::Chunks | Phase::Tunnel => behind,
            };
        let number = allowed.min(buf.remaining());
        if number == 0 {
            return false;
        }
        buf.put_slice(&self.input[..number]);
        self.input.drain(..number);
        let of_head = number.min(self.head);
        self.head -= of_head;
        self.pass(number - of_head);
        if self.input.is_empty() {
            self.input.shrink_to(READ_BYTES);
        }
        true
    }

    /// Counts bytes of a body.
    fn pass(&mut self, number: usize) {
        if let Phase::Body(rest) = self.phase {
            self.phase = Phase::of(rest.saturating_sub(number as u64));
        }
    }

    /// Checks the head at the front of the input. Returns whether it was whole, or refused.
    fn check(&mut self) -> bool {
        let news = &self.input[self.seen.min(self.input.len())..];
        self.seen = self.input.len();
        if self.seen <= HEAD_BYTES && memchr::memchr(b'\n', news).is_none() {
            return false;
        }
        match request::check(&self.input) {
            Ok(None) => return false,
            Ok(Some((length, body))) => {
                self.head = length;
                self.phase = match body {
                    Body::None => Phase::Head,
                    Body::Length(length) => Phase::of(length),
                    Body::Chunked => Phase::Chunks,
                };
            }
            Err(refusal) => self.refuse(refusal),
        }
        self.seen = 0;
        true
    }

    fn refuse(&mut self, refusal: Refusal) {
        *locked(&self.link.refusal) = Some(refusal);
        self.input = REFUSED.to_vec();
        self.head = self.input.len();
        self.phase = Phase::Refused;
    }

    /// Reads until a head is whole. 0 bytes are the end of the stream.
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut room = [const { MaybeUninit::uninit() }; READ_BYTES];
        let mut read = ReadBuf::uninit(&mut room);
        if Pin::new(&mut self.stream)
            .poll_read(context, &mut read)?
            .is_ready()
        {
            if self.input.is_empty() {
                self.since = Instant::now();
            }
            self.input.extend_from_slice(read.filled());
            return Poll::Ready(Ok(read.filled().len()));
        }
        loop {
            let limits = &self.site.shared.limits;
            let time = match self.input.is_empty() {
                true => self.site.shared.idle_time(),
                false => limits.head_time,
            };
            ready!(self.deadline.poll(self.since + time, context));
            let is_answered = self.link.requests.load(Ordering::Relaxed) == 0;
            if is_answered && self.write_deadline.is_none() {
                break;
            }
            // It is the client that waits, or has not read its response.
            self.since = Instant::now();
        }
        // An idle connection is closed without a word.
        if !self.input.is_empty() {
            let late = "the head of the request did not arrive in time";
            self.refuse(Refusal::new(408, late));
        }
        Poll::Ready(Ok(self.input.len()))
    }

    /// Reads a part of a body, or of a WebSocket.
    fn poll_rest(
        &mut self,
        buf: &mut ReadBuf<'_>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let limit = match self.phase {
            Phase::Body(rest) => rest,
            _ => u64::MAX,
        };
        let mut stream = (&mut self.stream).take(limit);
        if Pin::new(&mut stream).poll_read(context, buf)?.is_ready() {
            self.pass(buf.filled().len() - before);
            self.moved();
            return Poll::Ready(Ok(()));
        }
        let is_complete = match self.phase {
            Phase::Chunks => self.link.has_chunks.load(Ordering::Relaxed),
            phase => phase == Phase::Tunnel,
        };
        if !is_complete {
            let time = self.site.shared.limits.body_time;
            ready!(self.deadline.poll(self.since + time, context));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }

    fn moved(&mut self) {
        self.since = Instant::now();
        self.link.has_moved.store(true, Ordering::Relaxed);
    }

    /// Takes the result of a write.
    fn written(
        &mut self,
        written: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.write_deadline = None;
            self.moved();
            return written;
        }
        let end = self.since + self.site.shared.limits.write_time;
        let deadline = self.write_deadline.get_or_insert_with(|| Deadline::at(end));
        ready!(deadline.poll(end, context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Phase {
    /// The phase before so many bytes of a body.
    fn of(rest: u64) -> Self {
        match rest {
            0 => Self::Head,
            rest => Self::Body(rest),
        }
    }
}

impl AsyncRead for CheckedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.phase == Phase::Head && self.link.is_tunnel.load(Ordering::Relaxed) {
            self.phase = Phase::Tunnel;
        }
        loop {
            if self.hand_over(buf) {
                return Poll::Ready(Ok(()));
            }
            let phase = self.phase;
            match phase {
                Phase::Head if self.check() => {}
                Phase::Head if ready!(self.poll_head(context))? == 0 => return Poll::Ready(Ok(())),
                Phase::Head => {}
                Phase::Body(_) | Phase::Chunks | Phase::Tunnel => {
                    return self.poll_rest(buf, context);
                }
                Phase::Refused | Phase::Lingering(_) => return Poll::Pending,
            }
        }
    }
}

impl AsyncWrite for CheckedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.written(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Ends the output. What the client still sends is read, so that the system does not drop the response with a
    /// reset (RFC 9112, 9.6).
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !matches!(self.phase, Phase::Lingering(_)) {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            if self.phase == Phase::Tunnel {
                return Poll::Ready(Ok(()));
            }
            self.phase = Phase::Lingering(LINGER_BYTES);
            self.since = Instant::now();
        }
        let mut room = [const { MaybeUninit::uninit() }; READ_BYTES];
        while let Phase::Lingering(rest @ 1..) = self.phase {
            let mut read = ReadBuf::uninit(&mut room);
            if Pin::new(&mut self.stream)
                .poll_read(context, &mut read)?
                .is_pending()
            {
                let end = self.since + LINGER_TIME;
                return self.deadline.poll(end, context).map(Ok);
            }
            self.phase = Phase::Lingering(match read.filled().len() {
                0 => 0,
                number => rest.saturating_sub(number),
            });
        }
        Poll::Ready(Ok(()))
    }
}
