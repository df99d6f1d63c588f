//! `wasi:http/outgoing-handler`: requests of an app to others, which the host decides on and sends.

use crate::limits::{OUTGOING_BYTES, OUTGOING_REQUESTS};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::Semaphore;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

/// Sends the requests of an app.
pub trait Outgoing: Send + Sync {
    /// Sends a request, whose URI has a scheme and an authority, and returns the whole response.
    fn send<'a>(&'a self, request: Request<Bytes>) -> Sending<'a>;
}

/// A request on its way.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, NotSent>> + Send + 'a>>;

/// Why a request has no response. The app gets it as an error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The app may not send it: `HTTP-request-denied`.
    Denied,
    /// The server was not reached: `destination-unavailable`.
    Unreachable,
    /// The server has no valid certificate: `TLS-protocol-error`.
    Untrusted,
    /// There was no response in time: `HTTP-response-timeout`.
    Late,
    /// The response is too large: `HTTP-response-body-size`.
    TooLarge,
    /// Malformed request or response: `HTTP-protocol-error`.
    Malformed,
}

impl From<NotSent> for Error {
    fn from(reason: NotSent) -> Self {
        match reason {
            NotSent::Denied => Self::HttpRequestDenied,
            NotSent::Unreachable => Self::DestinationUnavailable,
            NotSent::Untrusted => Self::TlsProtocolError,
            NotSent::Late => Self::HttpResponseTimeout,
            NotSent::TooLarge => Self::HttpResponseBodySize(None),
            NotSent::Malformed => Self::HttpProtocolError,
        }
    }
}

/// Who sends the requests of an app, and how many at a time.
pub(crate) struct Sender {
    sender: Arc<dyn Outgoing>,
    turns: Arc<Semaphore>,
}

impl Sender {
    pub(crate) fn new(sender: Arc<dyn Outgoing>) -> Self {
        Self {
            sender,
            turns: Arc::new(Semaphore::new(OUTGOING_REQUESTS)),
        }
    }
}

/// Has requests sent by an [`Outgoing`]; without one, each request is refused.
pub(crate) struct Hooks(pub(crate) Option<Arc<Sender>>);

/// The end of a body.
type Processed = Box<dyn Future<Output = Result<(), Error>> + Send>;

impl WasiHttpHooks for Hooks {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        _options: Option<RequestOptions>,
        _response_processed: Processed,
    ) -> Box<dyn Future<Output = Result<(Response<WasiBody>, Processed), Error>> + Send> {
        let outgoing = self.0.clone();
        Box::new(async move {
            let outgoing = outgoing.ok_or(NotSent::Denied)?;
            // Bodies are in the memory of the host, so an app has only so many.
            let turns = Arc::clone(&outgoing.turns);
            let turn = turns.acquire_owned().await;
            let turn = turn.map_err(|_| NotSent::Denied)?;
            let (head, body) = request.into_parts();
            let body = Limited::new(body, OUTGOING_BYTES).collect().await;
            // The app has ended its body in another way than well, or it is too large.
            let body = body.map_err(|_| Error::HttpRequestBodySize(None))?;
            let request = Request::from_parts(head, body.to_bytes());
            let response = outgoing.sender.send(request).await?;
            let whole = |body| {
                let body = Full::new(body).map_err(move |never| {
                    // The turn is over when the body is dropped.
                    let _ = &turn;
                    match never {}
                });
                body.boxed_unsync()
            };
            let processed: Processed = Box::new(async { Ok(()) });
            Ok((response.map(whole), processed))
        })
    }
}
