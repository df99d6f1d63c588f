//! What a session returns to its host, and takes from it.

use super::audit::Record;
use super::entries::WithheldEntry;
use super::live::{Drifted, Withheld};
#[cfg(doc)]
use super::options::Expansion;
#[cfg(doc)]
use super::session::Session;
use agent_syntax::json::Writer;

/// A server that a host starts or connects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedServer {
    /// Its name within the session, which a host gives back: its id, or `id@version` if the lock has
    /// several of its versions.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Its locked version.
    pub version: String,
    /// Its locked endpoint.
    pub endpoint: String,
    /// Whether its resources are passed on. A lock says so with `serve`; without it they are withheld.
    pub resources: bool,
    /// Whether its prompts are passed on, likewise.
    pub prompts: bool,
}

/// A live list, compared with the lock.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// The tools that clients get, by the names that they call.
    pub exposed: Vec<String>,
    /// The others, which no client gets.
    pub withheld: Vec<Withheld>,
    /// The locked tools that are quarantined.
    pub drifted: Vec<Drifted>,
    /// Whether the list of clients is another one now.
    pub list_changed: bool,
    /// What to record.
    pub records: Vec<Record>,
}

/// A live list of resources, of their templates or of prompts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservedEntries {
    /// The number of entries that clients may get.
    pub entries: u64,
    /// The first of the others, which no client gets.
    pub withheld: Vec<WithheldEntry>,
    /// The number of all others.
    pub withheld_count: u64,
    /// Whether the list of clients is another one now.
    pub list_changed: bool,
    /// What to record.
    pub records: Vec<Record>,
}

/// A list of tools.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The result of `tools/list`: the same for every client of a lock and a generation, but for what a
    /// session of 2025-11-25 added with [`Expansion::List`].
    pub result: Vec<u8>,
    /// What to record.
    pub records: Vec<Record>,
}

/// A decided call.
#[derive(Debug, Clone)]
pub struct Called {
    /// The id of the call. It is open if it is passed on or waits for an approval.
    pub id: u64,
    /// What to do.
    pub action: CallAction,
    /// What to record.
    pub records: Vec<Record>,
    /// Whether the list of this client's session is another one now.
    pub list_changed: bool,
}

/// What to do with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallAction {
    /// Pass it on, and give its result to [`Session::result`] or [`Session::failed`].
    Forward(Forwarded),
    /// Pass a request for a resource or a prompt on, likewise.
    ForwardRequest(ForwardedRequest),
    /// Answer with this result.
    Answer(Vec<u8>),
    /// Ask a human. When [`Session::approve`] names the call, give its parameters to [`Session::call`]
    /// once more; when the time is over, answer with what [`Session::failed`] returns for
    /// [`Failure::TimedOut`].
    AskApproval {
        /// The id of the approval.
        approval: String,
        /// What the human decides about.
        text: String,
        /// The end of the time that the call waits, in milliseconds since 1970.
        expires_unix_ms: u64,
        /// The result to answer with now, if the client is to repeat the call with its `requestState`. The
        /// call is then not open.
        answer: Option<Vec<u8>>,
        /// The parameters of `elicitation/create`, if a client with a session may ask the human. Its result goes
        /// to [`Session::elicited`].
        elicitation: Option<Vec<u8>>,
    },
    /// Answer with an error of JSON-RPC.
    Error {
        /// A code that JSON-RPC or MCP defines.
        code: i64,
        /// A sentence.
        message: String,
        /// The `data` of the error, as JSON.
        data: Option<Vec<u8>>,
    },
}

/// A call to pass on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forwarded {
    /// The name of the server within the session.
    pub server: String,
    /// The name that the server has for the tool.
    pub tool: String,
    /// The arguments as received, if there are any: an object of strict JSON.
    pub arguments: Option<String>,
    /// The server's own `requestState`, if it continues the call.
    pub request_state: Option<String>,
    /// The client's token for reports of progress, as JSON.
    pub progress_token: Option<String>,
    /// Maximum time in milliseconds.
    pub timeout_ms: u64,
    /// Maximum size of the result in bytes.
    pub max_bytes: u64,
}

impl Forwarded {
    /// Returns the parameters of `tools/call` for the server.
    pub fn params(&self) -> String {
        let mut w = Writer::dense();
        w.object(|w| {
            if let Some(token) = &self.progress_token {
                w.key("_meta")
                    .object(|w| w.key("progressToken").json(token));
            }
            if let Some(arguments) = &self.arguments {
                w.key("arguments").json(arguments);
            }
            w.key("name").string(&self.tool);
            if let Some(state) = &self.request_state {
                w.key("requestState").string(state);
            }
        });
        let mut text = w.finish();
        text.pop();
        text
    }
}

/// A request for a resource or a prompt to pass on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardedRequest {
    /// The name of the server within the session.
    pub server: String,
    /// The URI, or the name that the server has for the prompt.
    pub name: String,
    /// The parameters for the server: an object of strict JSON.
    pub params: Vec<u8>,
    /// Maximum time in milliseconds.
    pub timeout_ms: u64,
    /// Maximum size of the result in bytes.
    pub max_bytes: u64,
}

/// Why an open call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The client cancelled it.
    Cancelled,
    /// The server, or the human, did not answer in time.
    TimedOut,
    /// The server did not answer within a limit of the host, which may differ from that of the call.
    Late {
        /// The limit in milliseconds.
        limit_ms: u64,
        /// Whether it counts from the server's last report of progress.
        since_progress: bool,
    },
    /// The connection to the server closed.
    Closed,
    /// The server answered with an error of JSON-RPC.
    ServerError {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
        /// Its data, as JSON.
        data: Option<Vec<u8>>,
    },
    /// The result is larger than its limit, so the host did not read it.
    TooLarge,
    /// The answer is no valid message of the protocol.
    Unreadable,
}

/// What a client gets for a call that was passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// The result as it was received.
    AsReceived(Vec<Record>),
    /// This result in its place.
    Changed(Vec<u8>, Vec<Record>),
    /// A refusal in its place.
    Refused(Vec<u8>, Vec<Record>),
    /// Nothing yet: give the parameters of the call to [`Session::repeat`] with this state.
    Repeat(String, Vec<Record>),
    /// An error of JSON-RPC in its place.
    Error {
        /// A code that JSON-RPC or MCP defines.
        code: i64,
        /// A sentence.
        message: String,
        /// The `data` of the error, as JSON.
        data: Option<Vec<u8>>,
        /// What to record.
        records: Vec<Record>,
    },
    /// Nothing: the call was cancelled, or no such call is open.
    Nothing(Vec<Record>),
}

/// An answered approval.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approved {
    /// Whether somebody asks for it.
    pub is_known: bool,
    /// The calls that wait for it. They are closed: give their parameters to [`Session::call`] once more.
    pub waiting: Vec<u64>,
    /// What to record.
    pub records: Vec<Record>,
}

/// The health of a server after an observation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transition {
    /// The status, if it is another one now.
    pub status: Option<&'static str>,
    /// Whether the list of clients is another one now.
    pub list_changed: bool,
    /// What to record.
    pub records: Vec<Record>,
}

/// Other documents of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// Whether the list of clients is another one now.
    pub list_changed: bool,
    /// What to record.
    pub records: Vec<Record>,
}
