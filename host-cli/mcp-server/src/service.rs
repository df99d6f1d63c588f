//! What a server does for its clients.

use super::changes::{Announcements, ClientList};
use super::conversation::Response;
use agent_host::Failure;
use agent_mcp_protocol::message::RpcError;
use agent_mcp_protocol::{Generation, Id, Json, MirroredHeaders, Version};
use std::rc::Rc;

/// JSON-RPC: this side failed.
pub const INTERNAL_ERROR: i64 = -32603;

/// The client of a request.
#[derive(Debug, Clone)]
pub struct Client {
    /// Its id: the name that its token has, or `stdio`.
    pub id: String,
    /// `local` for the one that started the program, `http` for others.
    pub kind: &'static str,
    /// The generation of the protocol in which it asks.
    pub generation: Generation,
    /// Its session, up to 2025-11-25.
    pub session: Option<String>,
    /// What it declared with `initialize`, as JSON.
    pub capabilities: Option<Vec<u8>>,
}

/// The answer to a request.
pub enum Answer {
    /// A result.
    Result(Json),
    /// An error.
    Error(RpcError),
    /// None: the client cancelled the request.
    Nothing,
}

impl Answer {
    /// Returns the answer of a side that fails.
    #[must_use]
    pub fn failed(failure: Failure) -> Self {
        Self::Error(RpcError {
            code: INTERNAL_ERROR,
            message: failure.message,
            data: None,
        })
    }

    /// Returns the answer with a result of our own.
    #[must_use]
    pub fn own(result: Vec<u8>) -> Self {
        match Json::new(result) {
            Ok(result) => Self::Result(result),
            Err(_) => Self::failed(Failure::internal("the result is not JSON")),
        }
    }
}

/// Answers the requests of clients, in both generations of the protocol. What does not depend on the service is
/// answered before: versions, sessions, pings, subscriptions and cancellation.
#[expect(
    async_fn_in_trait,
    reason = "services run in tasks of one thread, so that no future has to be `Send`"
)]
pub trait Service: 'static {
    /// What follows a request from its begin to its end.
    type Trace: Trace;

    /// The name by which clients know the server.
    const NAME: &'static str;

    /// Returns whether clients get a list.
    fn passes(&self, list: ClientList) -> bool;

    /// Returns the changes of the lists.
    fn lists(&self) -> &Announcements;

    /// Returns the headers that calls of a client without a session have to repeat.
    fn mirrored_headers(&self, client: &Client) -> Rc<MirroredHeaders>;

    /// Begins to follow a request.
    fn begin(&self, id: &Id, method: &str, params: Option<&Json>, client: &Client) -> Self::Trace;

    /// Answers `tools/list`.
    async fn tools(&self, client: &Client) -> Answer;

    /// Answers `tools/call` with its parameters. Reports of progress go to `reports`, and parameters of
    /// `elicitation/create` to `elicit`, which returns its result. Dropping the future cancels the call.
    async fn call(
        &self,
        client: &Client,
        params: &Json,
        trace: &Self::Trace,
        reports: impl FnMut(Json),
        elicit: impl AsyncFn(&[u8]) -> Option<Json>,
    ) -> Answer;

    /// Answers a request of another method with its parameters; `None` if it knows no such method.
    async fn other(&self, client: &Client, method: &str, params: &Json) -> Option<Answer>;

    /// Returns its counts in the text format of Prometheus.
    ///
    /// # Errors
    ///
    /// When they can't be had.
    fn metrics(&self, sessions: usize) -> Result<String, Failure>;
}

/// Follows a request. Dropping it says that the request was cancelled.
pub trait Trace {
    /// Takes the version of the protocol.
    fn version(&self, version: Option<Version>);

    /// Takes the response; `None` for a request that was cancelled.
    fn end(self, method: &str, response: Option<&Response>);
}

/// Nothing is followed.
impl Trace for () {
    fn version(&self, _: Option<Version>) {}

    fn end(self, _: &str, _: Option<&Response>) {}
}
