//! What a run asks of its host, and what the host answers.
//!
//! Each action is one effect, as small as effects are: the host chooses nothing in it.

use agent_api::decide::CallResult;
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::model::DriverKind;
use agent_api::render::StyledSpan;
use core::net::IpAddr;

/// One effect that a run asks for, or its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Store evidence. Answer: [`Outcome::Stored`].
    Store(Store),
    /// Ask the user for approval. Answer: [`Outcome::Decision`].
    Approve(Approval),
    /// Ask a planner. Answer: [`Outcome::Bytes`].
    Plan(Planning),
    /// Resolve a host name. Answer: [`Outcome::Addresses`].
    Resolve(Resolve),
    /// Make one HTTP request over a connection to the given address. Answer: [`Outcome::Response`].
    Request(Request),
    /// Call a handler. Answer: [`Outcome::Handler`].
    CallHandler(HandlerCall),
    /// Answer a handler's request and let it go on. Answer: [`Outcome::Handler`].
    ResumeHandler(Reply),
    /// Run a program in the sandbox. Answer: [`Outcome::Exited`].
    RunProgram(Program),
    /// Start or connect to an MCP server. Answer: [`Outcome::Opened`].
    OpenServer(Server),
    /// List all tools of the open MCP server. Answer: [`Outcome::Bytes`], the result of `tools/list`
    /// with the tools of all pages, as received.
    ListTools {
        /// Milliseconds until the answer has to be there.
        timeout_ms: u64,
    },
    /// Call a tool of the open MCP server. Answer: [`Outcome::Bytes`], the result of `tools/call` as
    /// received.
    CallTool(ToolCall),
    /// The run has ended. Nothing is left to do.
    Finished(Finished),
}

/// A file of evidence to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// The path below the root of the evidence; `/` separates its parts.
    pub path: String,
    /// The content.
    pub content: Vec<u8>,
    /// How it is stored.
    pub mode: StoreMode,
}

/// How a file of evidence is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreMode {
    /// The file is replaced as a whole: readers see the old content or the new.
    Replace,
    /// The content, whole lines, is added to the end of the file.
    Append,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The step that needs approval.
    pub step_id: String,
    /// The digest that an approval names.
    pub digest: String,
    /// What is approved: the tool and its input, for people, with secrets redacted.
    pub subject: String,
}

/// A request to a planner, which makes one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planning {
    /// What is wanted.
    pub task: PlannerTask,
    /// The request, as JSON without secrets.
    pub request: String,
    /// Maximum size of the answer, in bytes.
    pub max_bytes: u64,
    /// Milliseconds until the answer has to be there.
    pub timeout_ms: u64,
}

/// What a planner is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannerTask {
    /// A plan of several steps \[3\].
    Steps,
    /// A plan of one call \[1\].
    Call,
    /// A summary of a payload \[1\].
    Summary,
}

impl PlannerTask {
    /// Returns the word of evidence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Call => "call",
            Self::Summary => "summary",
        }
    }

    /// Returns what is wanted, for people.
    pub(crate) fn wanted(self) -> &'static str {
        match self {
            Self::Steps => "plan of several steps",
            Self::Call => "plan of one call",
            Self::Summary => "summary of the payload",
        }
    }
}

/// A host name to resolve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolve {
    /// The name, or an IP address, which is its own answer.
    pub host: String,
    /// The port of the connection.
    pub port: u16,
    /// Milliseconds until the answer has to be there.
    pub timeout_ms: u64,
}

/// An HTTP request. No redirect is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The origin and the address of the connection.
    pub connection: Connection,
    /// The method.
    pub method: String,
    /// The path and the query.
    pub target: String,
    /// The headers other than `Host` and `Content-Length`.
    pub headers: Vec<Header>,
    /// The body.
    pub body: Option<Vec<u8>>,
    /// Maximum size of the response's body, in bytes.
    pub max_body_bytes: u64,
    /// Milliseconds until the whole response has to be there.
    pub timeout_ms: u64,
}

/// A connection to a checked address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Whether TLS is used.
    pub tls: bool,
    /// The host name for TLS and for `Host`, or an IP address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The only address to connect to.
    pub address: IpAddr,
}

/// A header of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The name.
    pub name: String,
    /// The value.
    pub value: HeaderValue,
}

/// The value of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderValue {
    /// The value itself.
    Literal(String),
    /// The name of a secret, which the host inserts.
    Secret(String),
}

/// A call of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerCall {
    /// The kind of the handler. The host chooses a handler by it.
    pub driver_kind: DriverKind,
    /// The digest of the handler; `None` if the host named no built-in one of this kind.
    pub handler: Option<String>,
    /// The input, as JSON.
    pub input: String,
    /// Maximum size of the output, in bytes.
    pub max_output_bytes: u64,
    /// Maximum size of the log, in bytes. The host cuts off what is above.
    pub max_log_bytes: u64,
    /// Milliseconds until the handler has to return, with all that it asks for.
    pub timeout_ms: u64,
}

/// The answer to a handler's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The response to its HTTP request.
    Response(Response),
    /// The end of its program.
    Exited(Exited),
    /// The result of its tool call, as received.
    Payload(Vec<u8>),
}

/// A program to run in the sandbox, without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The absolute path.
    pub path: String,
    /// The arguments, without the name of the program.
    pub arguments: Vec<String>,
    /// The bytes of standard input.
    pub stdin: Vec<u8>,
    /// Maximum size of standard output, in bytes.
    pub max_output_bytes: u64,
    /// Maximum size of standard error, in bytes. The host cuts off what is above.
    pub max_log_bytes: u64,
    /// Milliseconds until the program has to end.
    pub timeout_ms: u64,
}

/// An MCP server to start or to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The server's id.
    pub id: String,
    /// The locked version.
    pub version: String,
    /// The locked endpoint: a URL, or a package URL of a server that the host starts.
    pub endpoint: String,
    /// The connection for a URL; none for a package.
    pub connection: Option<Connection>,
    /// The path and the query of a URL.
    pub target: String,
    /// Maximum size of a message, in bytes.
    pub max_message_bytes: u64,
    /// Milliseconds until the server has to be ready.
    pub timeout_ms: u64,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// The arguments, as JSON.
    pub arguments: String,
    /// Milliseconds until the result has to be there.
    pub timeout_ms: u64,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The end of the run.
    pub status: Status,
    /// The stable code, unless the run is completed.
    pub code: Option<Code>,
    /// What happened, in a sentence.
    pub message: String,
    /// The folder of the evidence, below its root.
    pub directory: String,
    /// Whether all evidence was stored.
    pub evidence_complete: bool,
    /// `run_summary.json`, as it was stored; empty if nothing was.
    pub summary: String,
    /// The result of a query.
    pub result: Option<CallResult>,
    /// The answer to a query of [`Mode::Ask`](super::Mode::Ask), or the effects of
    /// [`Mode::Preview`](super::Mode::Preview), as JSON that ends with a newline; otherwise empty.
    pub answer: String,
    /// The outcome of the run and its steps, for people.
    pub text: Vec<StyledSpan>,
    /// Why the plan may not run, with fixes, and warnings about its documents.
    pub diagnostics: Vec<Diagnostic>,
}

/// The end of a run or a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It did what was planned.
    Completed,
    /// It ended early.
    Failed,
    /// The user ended it.
    Cancelled,
    /// It never began.
    Skipped,
}

impl Status {
    /// Returns the word of evidence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
        }
    }
}

/// The outcome of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The evidence is stored.
    Stored,
    /// The effect failed.
    Failed(Failure),
    /// A program or a server failed after it was started.
    Aborted(Aborted),
    /// The user's decision.
    Decision {
        /// Whether the user approves.
        approved: bool,
        /// Who decided, such as `terminal`. An empty text approves nothing.
        by: String,
    },
    /// The addresses of a host, in the order of the resolver.
    Addresses(Vec<String>),
    /// What a handler did.
    Handler(Handled),
    /// The response to an HTTP request.
    Response(Response),
    /// The end of a program.
    Exited(Exited),
    /// The server is ready.
    Opened(Opened),
    /// The bytes that a server answered with.
    Bytes(Vec<u8>),
}

/// A server that is ready.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    /// The version of the protocol, such as `2025-11-25`.
    pub protocol: String,
    /// Whether a server that the host started runs outside of the sandbox.
    pub is_unsandboxed: bool,
    /// Whether a server that the host started has the network of the host.
    pub has_host_network: bool,
    /// The digest of the closure of the server's package, for a server that starts from its package.
    pub package: Option<String>,
}

/// A failed effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// What happened, in a sentence. The run redacts it.
    pub message: String,
}

/// The failure of a program or a server that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aborted {
    /// Why it failed.
    pub failure: Failure,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// Whether the host cut off some of standard error.
    pub stderr_truncated: bool,
}

/// The kind of a failed effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The time was over.
    Timeout,
    /// A limit of size, memory or fuel was reached.
    LimitExceeded,
    /// This host can't do it, for instance because it has no sandbox.
    Unavailable,
    /// Anything else.
    Failed,
}

/// What a handler did, and what it logged since its last answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handled {
    /// What it did.
    pub event: HandlerEvent,
    /// What it logged.
    pub log: Vec<u8>,
    /// Whether the host cut off some of the log.
    pub log_truncated: bool,
}

/// What a handler did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandlerEvent {
    /// It returned its output.
    Returned(Vec<u8>),
    /// It failed.
    Failed(Failure),
    /// It asks for an HTTP request.
    Request(HandlerRequest),
    /// It asks for a program.
    Program {
        /// The absolute path.
        path: String,
        /// The arguments, without the name of the program.
        arguments: Vec<String>,
        /// The bytes of standard input.
        stdin: Vec<u8>,
    },
    /// It asks for a call of the tool that its binding names.
    Tool {
        /// The arguments, as JSON.
        arguments: Vec<u8>,
    },
}

/// An HTTP request of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerRequest {
    /// The method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// The headers: names with values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<Vec<u8>>,
}

/// A response to an HTTP request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The value of `Content-Type`; empty if the header is missing.
    pub content_type: String,
    /// The body.
    pub body: Vec<u8>,
}

/// The end of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exited {
    /// The exit code; for a program that a signal ended, minus the number of the signal.
    pub code: i32,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// Whether the host cut off some of standard error.
    pub stderr_truncated: bool,
}

impl Action {
    /// Returns the name of the action in evidence.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Store(_) => "store",
            Self::Approve(_) => "approve",
            Self::Plan(_) => "plan",
            Self::Resolve(_) => "resolve",
            Self::Request(_) => "request",
            Self::CallHandler(_) => "call_handler",
            Self::ResumeHandler(_) => "resume_handler",
            Self::RunProgram(_) => "run_program",
            Self::OpenServer(_) => "open_server",
            Self::ListTools { .. } => "list_tools",
            Self::CallTool(_) => "call_tool",
            Self::Finished(_) => "finished",
        }
    }

    /// Returns whether an outcome is an answer to this action. Every effect may fail.
    pub fn accepts(&self, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (Self::Finished(_), _) => false,
            (_, Outcome::Failed(_))
            | (Self::Store(_), Outcome::Stored)
            | (Self::Approve(_), Outcome::Decision { .. })
            | (Self::Resolve(_), Outcome::Addresses(_))
            | (Self::Request(_), Outcome::Response(_))
            | (Self::CallHandler(_) | Self::ResumeHandler(_), Outcome::Handler(_))
            | (Self::RunProgram(_), Outcome::Exited(_) | Outcome::Aborted(_))
            | (Self::OpenServer(_), Outcome::Opened(_) | Outcome::Aborted(_))
            | (
                Self::Plan(_) | Self::ListTools { .. } | Self::CallTool(_),
                Outcome::Bytes(_) | Outcome::Aborted(_),
            ) => true,
            _ => false,
        }
    }
}
