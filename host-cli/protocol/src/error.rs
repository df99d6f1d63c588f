//! The reasons why an operation failed.

use crate::json::Malformed;
use crate::message::RpcError;
use std::fmt;

/// The reason why an operation has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The time of the operation is over.
    Timeout,
    /// The caller cancelled the operation.
    Cancelled,
    /// The server ended the connection or the session, or was found to break the protocol before.
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
    /// There are more things of a kind than their limit.
    TooMany {
        /// The kind.
        what: Excess,
        /// The limit.
        limit: usize,
    },
    /// The server answered with an error.
    Rpc(RpcError),
    /// The server answered with a status of HTTP that is no answer of MCP.
    Status(u16),
    /// The request did not reach the server, or its response not us.
    Transport(agent_way_out::Error),
    /// Client and server have no version in common. Lists what the server supports.
    NoCommonVersion(Vec<String>),
    /// The arguments of a call are not an object of strict JSON.
    Arguments(Malformed),
}

/// What breaks the protocol, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What is wrong.
    pub what: String,
    /// The number of the frame among those received, from 1; 0 for what is in no frame.
    pub frame: u64,
    /// The offset of the wrong byte in the frame.
    pub offset: usize,
}

/// A kind of things that there may be too many of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// Requests of the server during one operation.
    Requests,
    /// Notifications during one operation.
    Notifications,
    /// Pages of a list.
    Pages,
    /// Tools of a list.
    Tools,
    /// Attempts to resume a stream.
    Resumptions,
}

impl Error {
    /// Returns the error of what breaks the protocol outside of any frame.
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

    /// Returns whether a stream of messages can't be trusted after this error.
    pub(crate) fn breaks_stream(&self) -> bool {
        matches!(
            self,
            Self::Protocol(_) | Self::TooLarge { .. } | Self::TooMany { .. } | Self::Closed(_)
        )
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
            Self::Requests => "requests of the server",
            Self::Notifications => "notifications",
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
