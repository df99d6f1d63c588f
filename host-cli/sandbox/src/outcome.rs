//! How a command ended.

use std::error::Error;
use std::fmt;

use crate::Limit;

/// A command that ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The way in which it ended.
    pub exit: Exit,
    /// All bytes of its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Log,
}

/// The way in which a command ended.
///
/// In the bubblewrap tier an exit code from 129 to 192 can't be told from the end by a signal, as in
/// shells, and is reported as the signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl Exit {
    /// Returns whether the exit code was 0.
    #[must_use]
    pub const fn success(self) -> bool {
        matches!(self, Self::Code(0))
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// The standard error of a command, up to its limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The first bytes.
    pub bytes: Vec<u8>,
    /// Whether there were more.
    pub truncated: bool,
}

/// The reason why a command has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// It was not started, for this reason.
    NotStarted(String),
    /// It reached its limit of wall time.
    Timeout(Log),
    /// It reached another limit.
    LimitExceeded(Limit, Log),
    /// The caller ended it.
    Cancelled(Log),
}

impl RunError {
    /// Returns the standard error until the end; `None` if the command was not started.
    #[must_use]
    pub const fn log(&self) -> Option<&Log> {
        match self {
            Self::NotStarted(_) => None,
            Self::Timeout(log) | Self::LimitExceeded(_, log) | Self::Cancelled(log) => Some(log),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(reason) => write!(f, "the command was not started: {reason}"),
            Self::Timeout(_) => f.write_str("the command reached its limit of wall time"),
            Self::LimitExceeded(limit, _) => write!(f, "the command exceeded its limit: {limit}"),
            Self::Cancelled(_) => f.write_str("the command was cancelled"),
        }
    }
}

impl Error for RunError {}
