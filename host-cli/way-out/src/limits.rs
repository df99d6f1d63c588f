//! The limits of an exchange.

use std::time::Duration;

/// Default of [`Limits::connect`].
const CONNECT: Duration = Duration::from_secs(10);
/// Default of [`Limits::head`].
const HEAD: Duration = Duration::from_secs(30);
/// Default of [`Limits::total`].
const TOTAL: Duration = Duration::from_secs(60);
/// Default of [`Limits::head_bytes`].
const HEAD_BYTES: usize = 64 << 10;
/// Default of [`Limits::body_bytes`].
const BODY_BYTES: u64 = 16 << 20;

/// Maximum number of header lines of a response, those of informational responses included.
pub(crate) const HEADER_LINES: usize = 256;
/// Maximum number of informational (1xx) responses before the response.
pub(crate) const INFORMATIONAL_RESPONSES: usize = 16;

/// The limits of an exchange. The first one that is passed ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum time to connect, with the TLS handshake.
    pub connect: Duration,
    /// Maximum time from the start of a request to the end of the response's head.
    pub head: Duration,
    /// Maximum time of the whole exchange, in [`WayOut::send`](crate::WayOut::send) with the connection.
    pub total: Duration,
    /// Maximum number of bytes of the response's head, with those of informational responses.
    pub head_bytes: usize,
    /// Maximum number of bytes of the response's body, without the framing of chunks.
    pub body_bytes: u64,
}

impl Default for Limits {
    /// 10 s to connect, 30 s for the head, 60 s in total, 64 KiB of head and 16 MiB of body.
    fn default() -> Self {
        Self {
            connect: CONNECT,
            head: HEAD,
            total: TOTAL,
            head_bytes: HEAD_BYTES,
            body_bytes: BODY_BYTES,
        }
    }
}
