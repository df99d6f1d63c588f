//! Transports of a client.

use crate::error::Error;
use crate::inbox::Inbox;
use crate::json::Json;
use crate::message::{RpcError, write_request};
use crate::version::Version;
use crate::wait::Wait;
use std::future::Future;

/// A request on its way.
#[derive(Debug)]
pub struct Outgoing<'a> {
    /// The id.
    pub(crate) id: u64,
    /// The method.
    pub(crate) method: &'a str,
    /// The parameters in JSON, on one line.
    pub(crate) params: String,
    /// The version that the request declares, or `None` for `initialize`.
    pub(crate) version: Option<Version>,
    /// What the request names: a tool, a prompt, or the URI of a resource.
    pub(crate) name: Option<&'a str>,
    /// Names and values of headers for parameters.
    pub(crate) parameter_headers: Vec<(String, String)>,
}

impl Outgoing<'_> {
    /// Returns the request on one line.
    pub(crate) fn frame(&self) -> String {
        write_request(&self.id.into(), self.method, &self.params)
    }
}

/// The answer to a request.
#[derive(Debug)]
pub struct RpcAnswer {
    /// The result or the error.
    pub(crate) outcome: Result<Json, RpcError>,
}

/// A way to exchange messages with a server. Its only implementations are [`Stdio`](crate::Stdio) and
/// [`Http`](crate::Http).
pub trait Transport: Send {
    /// Whether the transport mirrors parts of requests in headers.
    const HAS_HEADERS: bool;

    /// Limits the size of the messages that are read from now on, in bytes.
    fn limit(&mut self, frame_bytes: usize);

    /// Sends a request and waits for its answer.
    fn exchange(
        &mut self,
        request: &Outgoing<'_>,
        inbox: &mut Inbox,
        wait: &Wait,
    ) -> impl Future<Output = Result<RpcAnswer, Error>> + Send;

    /// Sends a notification.
    fn notify(
        &mut self,
        notification: String,
        version: Version,
        wait: &Wait,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Cancels a request at the server, within a short time.
    fn abandon(&mut self, id: u64, version: Version) -> impl Future<Output = ()> + Send;

    /// Ends the conversation.
    fn close(self, wait: &Wait) -> impl Future<Output = Result<(), Error>> + Send;
}
