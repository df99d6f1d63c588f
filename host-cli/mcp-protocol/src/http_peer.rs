//! The trait that sends HTTP requests.

use crate::error::Error;
use crate::wait::Wait;
use bytes::Bytes;
use std::future::Future;

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpMethod {
    /// Sends a message.
    Post,
    /// Resumes a stream of events.
    Get,
    /// Ends a session.
    Delete,
}

/// A request to the endpoint of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method.
    pub method: HttpMethod,
    /// The headers of MCP.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

/// The endpoint of a server. It knows the URL, adds headers of its own such as `Authorization`, and
/// follows no redirections.
pub trait HttpPeer: Send + Sync {
    /// The answer to a request.
    type Answer: HttpAnswer;

    /// Sends a request and waits for the head of the answer. The answer's body ends with the time of
    /// `wait`, or has at most `body_bytes`.
    fn send(
        &self,
        request: HttpRequest,
        body_bytes: usize,
        wait: &Wait,
    ) -> impl Future<Output = Result<Self::Answer, Error>> + Send;
}

/// An answer whose body arrives in chunks. Dropping it ends the exchange.
pub trait HttpAnswer: Send {
    /// Returns the status.
    fn status(&self) -> u16;

    /// Returns a header by its name in lower case, if it is there once and holds visible ASCII.
    fn header(&self, name: &str) -> Option<&str>;

    /// Waits for the next bytes of the body. Returns `None` at its end.
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Bytes>, Error>> + Send;
}
