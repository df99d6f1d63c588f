//! A server that this host talks to.

use super::access::Access;
use super::network;
use agent_host::contract::run::{FailureKind, Opened};
use agent_mcp_protocol::{Client, Endpoint, Error, Http, Stdio};
use agent_sandbox::{Child, Log, RunError};
use agent_way_out::Serving;
use std::time::Duration;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

/// Characters of the last line that a server wrote to standard error, in a message.
const LAST_LINE_CHARS: usize = 200;

/// The time that a server has to end by itself after it closed its output.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// A server that is connected.
pub struct Connected {
    /// The connection.
    pub connection: Connection,
    /// The facts about it for evidence.
    pub opened: Opened,
}

/// The connection to a server.
pub enum Connection {
    /// Over HTTP.
    Http(Client<Http<Endpoint>>),
    /// Over the standard streams of a process, which ends with its [`Process`].
    Stdio(Client<Stdio<ChildStdout, ChildStdin>>, Process),
}

/// A server that was started, with its network. Dropping it ends the server.
pub struct Process {
    pub(crate) child: Child,
    pub(crate) network: Option<Serving>,
}

/// The reason why a server is not connected.
pub struct ConnectError {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// What happened, in a sentence.
    pub message: String,
    /// The server, if it was started.
    pub ended: Option<Ended>,
}

impl ConnectError {
    pub(crate) fn new(kind: FailureKind, message: String) -> Self {
        Self {
            kind,
            message,
            ended: None,
        }
    }

    /// Returns the error of a conversation that failed, with the end of a server that was started.
    pub(crate) fn lost(access: &Access, error: &Error, ended: Option<Ended>) -> Self {
        let kind = match error {
            Error::Timeout => FailureKind::Timeout,
            Error::TooLarge { .. } | Error::TooMany { .. } => FailureKind::LimitExceeded,
            _ => FailureKind::Failed,
        };
        Self {
            kind,
            message: access.loss(error, ended.as_ref().and_then(|it| it.last_words.as_ref())),
            ended,
        }
    }
}

impl Access {
    /// Says how a conversation failed, and what its server wrote last, without secrets.
    #[must_use]
    pub fn loss(&self, error: &Error, last: Option<&LastWords>) -> String {
        let error = self.redacted(&error.to_string());
        let quote =
            |text: &PeerText| agent_way_out::quote(&self.redacted(&text.0), LAST_LINE_CHARS);
        match last {
            Some(LastWords::Line(line)) => format!("{error}; the server wrote: {}", quote(line)),
            Some(LastWords::NotStarted(reason)) => {
                format!("the server can't be started: {}", quote(reason))
            }
            None => error,
        }
    }
}

/// A text of a peer as it came, which may contain secrets of the operator. [`Access::loss`] alone shows it.
pub struct PeerText(String);

/// What is known of the end of a server.
pub enum LastWords {
    /// The last line that it wrote to standard error.
    Line(PeerText),
    /// The reason why its program was not started.
    NotStarted(PeerText),
}

impl Process {
    /// Ends the server after its conversation failed. One that closed its output is about to end by
    /// itself, and then says why.
    pub async fn end_after(self, error: &Error) -> Ended {
        match error {
            Error::Closed(_) => self.end_within(LAST_MOMENT).await,
            _ => self.end().await,
        }
    }

    /// Ends the server.
    pub async fn end(self) -> Ended {
        self.end_within(Duration::ZERO).await
    }

    async fn end_within(self, time: Duration) -> Ended {
        let child = self.child.handle();
        let wait = self.child.wait();
        tokio::pin!(wait);
        let ended = match timeout(time, &mut wait).await {
            Ok(ended) => ended,
            Err(_) => {
                child.kill();
                wait.await
            }
        };
        let (mut log, not_started) = match ended {
            Ok((_, log)) => (log, None),
            Err(RunError::NotStarted(reason)) => (Log::default(), Some(reason)),
            Err(error) => (error.log().cloned().unwrap_or_default(), None),
        };
        let text = String::from_utf8_lossy(&log.bytes);
        let last = text.lines().rfind(|line| !line.trim().is_empty());
        let last = last.map(|line| LastWords::Line(PeerText(line.to_owned())));
        let not_started = not_started.map(|reason| LastWords::NotStarted(PeerText(reason)));
        let last_words = not_started.or(last);
        let refused = self.network.as_ref().map(network::log).unwrap_or_default();
        if !refused.is_empty() {
            // The mark tells redaction that a secret may be cut off here.
            let end = if log.truncated { "…\n" } else { "\n" };
            log.bytes.extend(end.as_bytes());
            log.bytes.extend(refused.into_bytes());
        }
        Ended { log, last_words }
    }
}

/// A server that has ended.
pub struct Ended {
    /// What it wrote to standard error, and why connections were refused.
    pub log: Log,
    /// How it ended, if that is known.
    pub last_words: Option<LastWords>,
}
