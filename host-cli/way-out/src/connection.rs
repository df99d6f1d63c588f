//! Connections, and the exchanges on them.

use crate::cancel::Cancel;
use crate::error::{Error, ErrorKind};
use crate::limits::{HEADER_LINES, Limits};
use crate::metered::{Metered, SharedMeter, Stream};
use crate::request::Request;
use crate::target::Target;
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper::header::CONTENT_ENCODING;
use hyper::{HeaderMap, StatusCode};
use hyper_util::rt::TokioIo;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::time::{Instant, timeout_at};

/// Minimum size of the parser's buffer, in bytes. A smaller one makes the parser panic.
const MINIMUM_BUFFER: usize = 8 << 10;
/// Size of the parser's buffer beyond the head, in bytes.
const BUFFER: usize = 64 << 10;
/// Greatest status code of RFC 9110.
const GREATEST_STATUS: u16 = 599;

type Driver = http1::Connection<TokioIo<Metered>, Full<Bytes>>;

/// An open connection to a [`Target`]. It carries one exchange after the other. Dropping it closes it.
pub struct Connection {
    target: Target,
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Pin<Box<Driver>>,
    /// Whether the driver has ended, and with it the connection.
    ended: bool,
    meter: SharedMeter,
    /// Maximum number of bytes of a head that the parser's buffer has room for.
    head_bytes: usize,
}

/// A response whose body arrives in chunks. Dropping it closes the connection.
pub struct Exchange {
    connection: Connection,
    status: StatusCode,
    headers: HeaderMap,
    body: Incoming,
    received: u64,
    complete: bool,
    /// The failure that ended the body.
    failed: Option<Error>,
    limits: Limits,
    end: Instant,
    cancel: Cancel,
}

/// Runs work until it is done, late or cancelled.
pub(crate) async fn bounded<T>(
    what: &str,
    end: Instant,
    cancel: &Cancel,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let work = timeout_at(end, work);
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Error::new(ErrorKind::Cancelled, "cancelled")),
        done = work => done.unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Timeout, format!("{what} took too long")))
        }),
    }
}

impl Connection {
    /// Speaks HTTP on a stream.
    pub(crate) async fn new(
        target: Target,
        stream: Box<dyn Stream>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let meter = SharedMeter::default();
        let stream = TokioIo::new(Metered::new(stream, meter.clone()));
        let mut builder = http1::Builder::new();
        // The meter counts exactly, and the parser has room for what the meter allows.
        builder.max_headers(HEADER_LINES + 1);
        builder.max_buf_size(limits.head_bytes.saturating_add(BUFFER).max(MINIMUM_BUFFER));
        let (sender, driver) = builder
            .handshake(stream)
            .await
            .map_err(|e| Error::caused(ErrorKind::Connect, "no HTTP connection", &e))?;
        Ok(Self {
            target,
            sender,
            driver: Box::pin(driver),
            ended: false,
            meter,
            head_bytes: limits.head_bytes,
        })
    }

    /// Returns the server that the connection leads to.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Returns whether the connection can carry another request. The server may close it later.
    pub async fn is_open(&mut self) -> bool {
        poll_fn(|cx| {
            self.drive(cx);
            Poll::Ready(!self.ended && self.sender.is_ready())
        })
        .await
    }

    /// Sends a request and waits for the head of its response. `limits.connect` is not used, and
    /// `limits.head_bytes` can't exceed that of the opening.
    ///
    /// # Errors
    ///
    /// When the request can't be sent, or the response has no head within the limits. The connection
    /// is closed then.
    pub async fn request(
        self,
        request: Request,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<Exchange, Error> {
        let end = Instant::now() + limits.total;
        self.request_until(request, limits, end, cancel).await
    }

    /// Sends a request on an exchange that ends at a given time.
    pub(crate) async fn request_until(
        mut self,
        request: Request,
        limits: &Limits,
        end: Instant,
        cancel: &Cancel,
    ) -> Result<Exchange, Error> {
        let request = request.prepare(&self.target)?;
        let head_end = end.min(Instant::now() + limits.head);
        let head_bytes = limits.head_bytes.min(self.head_bytes);
        let response = bounded("the head of the response", head_end, cancel, async {
            // An exchange on the same connection may have ended just now.
            let ready = poll_fn(|cx| {
                self.drive(cx);
                self.sender.poll_ready(cx)
            });
            ready.await.map_err(|e| failure(&self.meter, &e))?;
            self.meter.with(|meter| meter.begin(head_bytes));
            let mut response = pin!(self.sender.send_request(request));
            let received = poll_fn(|cx| {
                drive(&mut self.driver, &mut self.ended, cx);
                response.as_mut().poll(cx)
            });
            received.await.map_err(|e| failure(&self.meter, &e))
        });
        let response = response.await?;
        let (head, body) = response.into_parts();
        check_head(head.status, &head.headers)?;
        if body.size_hint().lower() > limits.body_bytes {
            return Err(body_too_large(limits));
        }
        Ok(Exchange {
            connection: self,
            status: head.status,
            headers: head.headers,
            body,
            received: 0,
            complete: false,
            failed: None,
            limits: *limits,
            end,
            cancel: cancel.clone(),
        })
    }

    fn drive(&mut self, cx: &mut Context<'_>) {
        drive(&mut self.driver, &mut self.ended, cx);
    }
}

/// Drives the connection as far as possible. Failures reach the response under way.
fn drive(driver: &mut Pin<Box<Driver>>, ended: &mut bool, cx: &mut Context<'_>) {
    if !*ended {
        *ended = driver.as_mut().poll(cx).is_ready();
    }
}

/// Refuses heads of responses that are not supported.
fn check_head(status: StatusCode, headers: &HeaderMap) -> Result<(), Error> {
    let protocol = |message: String| Err(Error::new(ErrorKind::Protocol, message));
    if status.is_informational() || status.as_u16() > GREATEST_STATUS {
        return protocol(format!(
            "the status {} is not one of a response",
            status.as_u16()
        ));
    }
    let encoded = headers.get_all(CONTENT_ENCODING).iter();
    let mut codings = encoded.flat_map(|value| value.as_bytes().split(|b| *b == b','));
    if !codings.all(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"identity")) {
        return protocol("the body is encoded, though only `identity` is accepted".to_owned());
    }
    Ok(())
}

fn body_too_large(limits: &Limits) -> Error {
    let message = format!("the body is larger than {} bytes", limits.body_bytes);
    Error::new(ErrorKind::BodyTooLarge, message)
}

/// Returns the error for a failure of the connection.
fn failure(meter: &SharedMeter, error: &hyper::Error) -> Error {
    if meter.with(|meter| meter.exceeded()) {
        let message = "the head of the response is too large";
        return Error::new(ErrorKind::HeadTooLarge, message);
    }
    if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
        let message = "the connection was closed before the end of the response";
        return Error::new(ErrorKind::Protocol, message);
    }
    let cause = std::error::Error::source(error);
    match cause {
        Some(cause) => Error::caused(ErrorKind::Protocol, &error.to_string(), &cause),
        None => Error::new(ErrorKind::Protocol, error.to_string()),
    }
}

impl Exchange {
    /// Returns the status. Statuses of redirections are returned like all others.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Waits for the next bytes of the body. Returns `None` at its end. Trailers are dropped.
    ///
    /// The future can be dropped and called again without loss.
    ///
    /// # Errors
    ///
    /// When the body passes a limit, breaks off, or is malformed. The same error follows then.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if self.complete {
            return Ok(None);
        }
        let next = self.next_chunk().await;
        self.failed = next.as_ref().err().cloned();
        next
    }

    async fn next_chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let Self {
            connection, body, ..
        } = self;
        let next = bounded("the response", self.end, &self.cancel, async {
            loop {
                let mut frame = pin!(body.frame());
                let frame = poll_fn(|cx| {
                    connection.drive(cx);
                    frame.as_mut().poll(cx)
                });
                match frame.await {
                    None => return Ok(None),
                    Some(Err(error)) => return Err(failure(&connection.meter, &error)),
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) if data.is_empty() => {}
                        Ok(data) => return Ok(Some(data)),
                        Err(_trailers) => {}
                    },
                }
            }
        });
        let next = next.await?;
        match &next {
            None => self.complete = true,
            Some(data) => {
                self.received = self.received.saturating_add(data.len() as u64);
                if self.received > self.limits.body_bytes {
                    return Err(body_too_large(&self.limits));
                }
            }
        }
        Ok(next)
    }

    /// Waits for the rest of the body.
    ///
    /// # Errors
    ///
    /// As [`Exchange::chunk`].
    pub async fn body(&mut self) -> Result<Bytes, Error> {
        let mut whole = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            if whole.is_empty() && self.body.is_end_stream() {
                self.complete = true;
                return Ok(chunk);
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    }

    /// Returns the connection for the next request. Returns `None` before the end of the body, and when
    /// the connection was closed.
    pub async fn into_connection(mut self) -> Option<Connection> {
        let complete = self.complete || self.body.is_end_stream();
        (complete && self.connection.is_open().await).then_some(self.connection)
    }
}
