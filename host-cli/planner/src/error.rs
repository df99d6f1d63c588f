//! The reasons why an attempt has no plan.

use crate::redaction::Redaction;
use agent_way_out::{ErrorKind, quote};
use std::fmt;
use std::time::Duration;

/// Maximum number of characters of a peer's text in a message.
pub(crate) const QUOTE_CHARS: usize = 300;
/// Maximum number of bytes of a peer's text that are read for a quote of its beginning.
const QUOTE_BYTES: usize = 64 << 10;

/// The reason why an attempt has no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannerError {
    /// The kind of the failure.
    pub kind: PlannerErrorKind,
    /// The description: bounded, printable, and without the key and the values of the environment.
    pub message: String,
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlannerErrorKind {
    /// The planner is not configured correctly.
    InvalidConfiguration,
    /// The request is not one that a planner can read.
    InvalidRequest,
    /// Template: no tool fits the goal, and there is no noop tool.
    NoTool,
    /// Template: it writes no summaries.
    NoSummary,
    /// Command: the program could not be started.
    NotStarted,
    /// Command: the program failed.
    Failed,
    /// The time limit was exceeded.
    Timeout,
    /// The caller cancelled the attempt.
    Cancelled,
    /// The plan, or the answer around it, exceeds its limit.
    TooLarge,
    /// Server: the host of the base URL has no address.
    Resolve,
    /// Server: no address accepts a connection.
    Connect,
    /// Server: the TLS handshake failed, or the certificate is not valid for the host.
    Tls,
    /// Server: the answer is not HTTP/1.1, or breaks off.
    Protocol,
    /// Server: it redirects elsewhere. Redirections are not followed.
    Redirect,
    /// Server: the status is neither that of a success nor of a redirection.
    Status,
    /// Server: the answer is not JSON.
    NotJson,
    /// Server: the answer is JSON, and not that of a chat completion with a text.
    InvalidAnswer,
    /// Server: the answer reports an error.
    ErrorAnswer,
    /// Server: the answer has no choice.
    NoChoice,
    /// Server: the answer has several choices.
    SeveralChoices,
    /// Server: the model refused.
    Refusal,
    /// Server: the model reached its limit of tokens.
    Truncated,
    /// Server: a filter withheld the answer.
    Filtered,
    /// Server: the model called a tool, though it was offered none.
    ToolCalls,
}

impl PlannerError {
    /// Returns an error whose message contains no text of others.
    pub(crate) fn new(kind: PlannerErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Returns an error with a quote of another's text.
    pub(crate) fn quoting(
        kind: PlannerErrorKind,
        what: &str,
        text: &str,
        redaction: &Redaction,
    ) -> Self {
        let text = &text[..text.floor_char_boundary(QUOTE_BYTES)];
        let quoted = quote(redaction.mask(text).trim(), QUOTE_CHARS);
        match quoted.is_empty() {
            true => Self::new(kind, what),
            false => Self::new(kind, format!("{what}: {quoted}")),
        }
    }

    /// Returns the error of a cancelled attempt.
    pub(crate) fn cancelled() -> Self {
        Self::new(PlannerErrorKind::Cancelled, "cancelled")
    }

    /// Returns the error of an attempt that takes too long.
    pub(crate) fn timeout(limit: Duration) -> Self {
        let message = format!("no plan within {} ms", limit.as_millis());
        Self::new(PlannerErrorKind::Timeout, message)
    }

    /// Returns the error of something that exceeds its limit.
    pub(crate) fn too_large(what: &str, limit: usize) -> Self {
        let message = format!("{what} is larger than {limit} bytes");
        Self::new(PlannerErrorKind::TooLarge, message)
    }

    /// Returns the error for a failed exchange.
    pub(crate) fn exchange(error: &agent_way_out::Error, redaction: &Redaction) -> Self {
        let kind = match error.kind {
            ErrorKind::Resolve => PlannerErrorKind::Resolve,
            ErrorKind::InvalidRequest => PlannerErrorKind::InvalidConfiguration,
            ErrorKind::Connect => PlannerErrorKind::Connect,
            ErrorKind::Tls => PlannerErrorKind::Tls,
            ErrorKind::Timeout => PlannerErrorKind::Timeout,
            ErrorKind::BodyTooLarge | ErrorKind::HeadTooLarge => PlannerErrorKind::TooLarge,
            ErrorKind::Protocol => PlannerErrorKind::Protocol,
            ErrorKind::Cancelled => PlannerErrorKind::Cancelled,
        };
        Self::new(kind, redaction.mask(&error.message))
    }
}

impl fmt::Display for PlannerError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for PlannerError {}
