//! The reasons why an exchange failed.

use crate::quote::quote;
use std::fmt;

/// Maximum number of characters of a peer's text in a message.
const QUOTE_CHARS: usize = 200;

/// The reason why a name has no addresses, or an exchange no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The kind of the failure.
    pub kind: ErrorKind,
    /// What happened. It holds neither headers nor bodies, and nothing that can't be printed.
    pub message: String,
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The name has no addresses, or is none that a resolver may be asked for.
    Resolve,
    /// The request can't be sent as it is.
    InvalidRequest,
    /// No connection to the address.
    Connect,
    /// No TLS session, or not with the named server.
    Tls,
    /// A limit in time was passed.
    Timeout,
    /// The body of the response is larger than its limit.
    BodyTooLarge,
    /// The head of the response is larger than its limit.
    HeadTooLarge,
    /// The peer does not speak HTTP/1.1, or ended the connection too early.
    Protocol,
    /// The caller cancelled the exchange.
    Cancelled,
}

impl Error {
    /// Returns an error of our own words.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Returns an error whose cause may repeat a peer's text.
    pub(crate) fn caused(kind: ErrorKind, what: &str, cause: &dyn fmt::Display) -> Self {
        let cause = quote(&cause.to_string(), QUOTE_CHARS);
        Self::new(kind, format!("{what}: {cause}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
