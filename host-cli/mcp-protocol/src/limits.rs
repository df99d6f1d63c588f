//! The limits of a client.

use std::time::Duration;

/// Default of [`Limits::frame_bytes`].
const FRAME_BYTES: usize = 4 << 20;
/// Default of [`Limits::requests`].
const REQUESTS: usize = 32;
/// Default of [`Limits::notifications`].
const NOTIFICATIONS: usize = 1024;
/// Default of [`Limits::pages`].
const PAGES: usize = 100;
/// Default of [`Limits::tools`].
const TOOLS: usize = 4096;
/// Default of [`Limits::list_bytes`].
const LIST_BYTES: usize = 16 << 20;
/// Default of [`Limits::probe`].
const PROBE: Duration = Duration::from_secs(5);

/// Maximum number of notifications kept for the caller.
pub(crate) const KEPT_NOTIFICATIONS: usize = 64;
/// Maximum number of bytes of one notification kept for the caller.
pub(crate) const KEPT_NOTIFICATION_BYTES: usize = 16 << 10;
/// Maximum number of abandoned requests whose answers are dropped. An answer to an older one is refused.
pub(crate) const ABANDONED: usize = 1024;
/// Maximum number of bytes without a message while no request is open.
pub(crate) const FLOOD: u64 = 64 << 20;
/// Maximum number of bytes of replies that wait until the server reads them. Further ones are dropped.
pub(crate) const REPLY_BYTES: usize = 1 << 20;
/// Maximum time to send the cancellation of an operation.
pub(crate) const FAREWELL: Duration = Duration::from_millis(500);
/// Maximum number of attempts to resume the stream of one answer.
pub(crate) const RESUMPTIONS: usize = 8;
/// Time before a stream is resumed, if the server does not set it.
pub(crate) const RETRY: Duration = Duration::from_secs(1);
/// Maximum number of bytes of a session's id.
pub(crate) const SESSION_ID_BYTES: usize = 1024;
/// Maximum number of bytes of an event's id.
pub(crate) const EVENT_ID_BYTES: usize = 1024;
/// Maximum number of bytes of a page's cursor.
pub(crate) const CURSOR_BYTES: usize = 64 << 10;

/// The limits of a client. Those in number are for each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bytes of a message.
    pub frame_bytes: usize,
    /// Maximum number of requests of the server. Further ones get an error.
    pub requests: usize,
    /// Maximum number of notifications. Further ones are dropped, except that a list has changed.
    pub notifications: usize,
    /// Maximum number of pages of a list.
    pub pages: usize,
    /// Maximum number of tools of a list.
    pub tools: usize,
    /// Maximum number of bytes of the tools of a list.
    pub list_bytes: usize,
    /// Maximum time for the answer to the first request over stdio. Servers with sessions may ignore
    /// it.
    pub probe: Duration,
}

impl Default for Limits {
    /// 4 MiB for each message, 32 requests, 1024 notifications, 100 pages, 4096 tools, 16 MiB of
    /// tools, 5 s for the first answer.
    fn default() -> Self {
        Self {
            frame_bytes: FRAME_BYTES,
            requests: REQUESTS,
            notifications: NOTIFICATIONS,
            pages: PAGES,
            tools: TOOLS,
            list_bytes: LIST_BYTES,
            probe: PROBE,
        }
    }
}
