//! The reasons why an operation failed.

use crate::json::Malformed;
use crate::message::RpcError;
use std::fmt;

/// The reason why an operation has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The operation exceeded its time.
    Timeout,
    /// The caller cancelled the operation.
    Cancelled,
    /// The server ended the connection or the session, or broke the protocol in an earlier operation.
    Closed(&'static str),
    /// The server broke the protocol.
    Protocol(Violation),
    /// A message is larger than its limit, in bytes.
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A quantity exceeds its limit.
    TooMany {
        /// The kind.
        what: Excess,
        /// The limit.
        limit: usize,
    },
    /// The server answered with an error.
    Rpc(RpcError),
    /// The server answered with an HTTP status and without an MCP answer.
    Status(u16),
    /// The server requires a token with more scopes, and names them.
    Scopes(String),
    /// The HTTP exchange failed.
    Transport(agent_way_out::Error),
    /// Client and server have no common version. Lists the versions of the server.
    NoCommonVersion(Vec<String>),
    /// The arguments of a call are not an object of strict JSON.
    Arguments(Malformed),
}

/// A violation of the protocol with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What is wrong.
    pub what: String,
    /// The number of the received frame, from 1; 0 if the problem is not in a frame.
    pub frame: u64,
    /// The offset of the wrong byte in the frame.
    pub offset: usize,
}

/// A limited quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// Pages of a list.
    Pages,
    /// Tools of a list.
    Tools,
    /// Attempts to resume a stream.
    Resumptions,
}

impl Error {
    /// Returns the error of a violation outside of frames.
    pub(crate) fn protocol(what: impl Into<String>) -> Self {
        Self::Protocol(Violation {
            what: what.into(),
            frame: 0,
            offset: 0,
        })
    }

    /// Returns the error of a malformed frame.
    pub(crate) fn malformed(malformed: Malformed, frame: u64) -> Self {
        Self::Protocol(Violation {
            what: malformed.what,
            frame,
            offset: malformed.offset,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => out.write_str("the server did not answer in time"),
            Self::Cancelled => out.write_str("cancelled"),
            Self::Closed(why) => out.write_str(why),
            Self::Protocol(violation) if violation.frame == 0 => out.write_str(&violation.what),
            Self::Protocol(Violation {
                what,
                frame,
                offset,
            }) => write!(out, "{what} (message {frame}, byte {offset})"),
            Self::TooLarge { what, limit } => write!(out, "{what} is larger than {limit} bytes"),
            Self::TooMany { what, limit } => write!(out, "more than {limit} {what}"),
            Self::Rpc(error) => error.fmt(out),
            Self::Status(status) => write!(out, "the server answered with the status {status}"),
            Self::Scopes(scopes) => write!(
                out,
                "the server requires more scopes: run `agent login SERVER --add-scope ...` with {scopes}"
            ),
            Self::Transport(error) => error.fmt(out),
            Self::NoCommonVersion(versions) => {
                out.write_str("no common version of the protocol; the server supports ")?;
                match versions.as_slice() {
                    [] => out.write_str("none"),
                    versions => out.write_str(&versions.join(", ")),
                }
            }
            Self::Arguments(malformed) => write!(
                out,
                "the arguments are no JSON object: {} (byte {})",
                malformed.what, malformed.offset
            ),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Excess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Pages => "pages of tools",
            Self::Tools => "tools",
            Self::Resumptions => "resumptions of a stream",
        })
    }
}

impl From<agent_way_out::Error> for Error {
    fn from(error: agent_way_out::Error) -> Self {
        match error.kind {
            agent_way_out::ErrorKind::Timeout => Self::Timeout,
            agent_way_out::ErrorKind::Cancelled => Self::Cancelled,
            _ => Self::Transport(error),
        }
    }
}
