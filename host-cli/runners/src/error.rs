//! Why an invocation left nothing.

use crate::limits::{MAX_ANSWER_BYTES, MAX_REQUEST_BYTES};
use agent_sandbox::RunError;
use std::fmt;
use std::time::Duration;

/// Why an invocation has no [`Reply`](crate::Reply). Except after [`Error::RequestTooLarge`], the session is over, and
/// the app with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The runner can't be used, or its sandbox was not started.
    NotStarted(String),
    /// The request has more than [`MAX_REQUEST_BYTES`].
    RequestTooLarge,
    /// The answer has more than [`MAX_ANSWER_BYTES`].
    AnswerTooLarge,
    /// The runner took longer than this.
    Timeout(Duration),
    /// The sandbox of the session has ended, by itself or by a limit.
    Sandbox(RunError),
    /// The session has ended.
    Ended(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(reason) => write!(f, "the runner was not started: {reason}"),
            Self::RequestTooLarge => {
                write!(f, "the request has more than {MAX_REQUEST_BYTES} bytes")
            }
            Self::AnswerTooLarge => {
                write!(f, "the runner wrote more than {MAX_ANSWER_BYTES} bytes")
            }
            Self::Timeout(time) => {
                write!(f, "the runner did not end within {} s", time.as_secs())
            }
            Self::Sandbox(error) => write!(f, "the sandbox of the runner has ended: {error}"),
            Self::Ended(reason) => write!(f, "the sandbox of the runner has ended: {reason}"),
        }
    }
}

impl std::error::Error for Error {}
