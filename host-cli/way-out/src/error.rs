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
    /// The description. It contains neither headers nor bodies, and only printable characters.
    pub message: String,
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The host has no addresses, or is not a valid host name.
    Resolve,
    /// The request can't be sent as it is.
    InvalidRequest,
    /// The address refused the connection, or can't be reached.
    Connect,
    /// The TLS handshake failed, or the certificate is not valid for the host.
    Tls,
    /// A time limit was exceeded.
    Timeout,
    /// The response's body exceeds its limit.
    BodyTooLarge,
    /// The response's head exceeds its limit.
    HeadTooLarge,
    /// The peer sent invalid HTTP/1.1, or closed the connection too early.
    Protocol,
    /// The caller cancelled the exchange.
    Cancelled,
}

impl Error {
    /// Returns an error with a fixed message.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Returns an error whose cause may contain a peer's text.
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
