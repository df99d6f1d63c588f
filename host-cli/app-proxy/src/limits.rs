//! The limits of a gateway. Each is a named constant with its unit.

use std::ops::RangeInclusive;
use std::time::Duration;

/// The port of the gateway on 127.0.0.1 \[2, 0\].
pub const PORT: u16 = 23456;

/// The ports that are leased to tasks \[2, 4\].
pub const LEASED_PORTS: RangeInclusive<u16> = 61_000..=64_999;

/// Time after which a lease ends, unless its task runs \[2, 4\].
pub const LEASE_TIME: Duration = Duration::from_secs(900);

/// Maximum size of the head of a request or a response, in bytes.
pub const HEAD_BYTES: usize = 32 << 10;

/// Maximum size of a request target, in bytes.
pub const TARGET_BYTES: usize = 8 << 10;

/// Maximum number of headers of a request or a response, and of fields of a trailer section.
pub const HEADERS: usize = 100;

/// Maximum length of a task id in a path, in bytes.
pub const TASK_ID_BYTES: usize = 64;

/// Maximum size of the body of a request, in bytes.
pub const BODY_BYTES: u64 = 1 << 30;

/// Maximum number of interim responses (1xx) before the final one.
pub const INTERIM_RESPONSES: u32 = 32;

/// Maximum size of a buffer that carries a stream, in bytes.
pub const BUFFER_BYTES: usize = 64 << 10;

/// Maximum number of open connections of clients, at all listeners together.
pub const CONNECTIONS: usize = 1024;

/// Maximum number of requests that one task's app works on at the same time.
pub const TASK_CONNECTIONS: usize = 256;

/// Maximum number of idle connections that are kept to one task's app.
pub const IDLE_APP_CONNECTIONS: usize = 64;

/// Time for which an idle connection to an app is kept.
pub const IDLE_APP_TIME: Duration = Duration::from_secs(60);

/// Age up to which an idle connection is trusted with a request that must not be repeated.
pub const FRESH_APP_TIME: Duration = Duration::from_secs(1);

/// Time for which a request waits before connections that become idle are closed: an app that serves one connection at
/// a time does not see the request before.
pub const HAND_OVER_TIME: Duration = Duration::from_millis(20);

/// Time after which a client that sends `Expect: 100-continue` is asked for its body, if the app says nothing.
pub const EXPECT_TIME: Duration = Duration::from_secs(1);

/// Time for which a client may keep an idle connection.
pub const IDLE_TIME: Duration = Duration::from_secs(75);

/// The same while less than an eighth of [`CONNECTIONS`] is free: idle clients must not keep others out.
pub const PRESSED_IDLE_TIME: Duration = Duration::from_secs(5);

/// Time in which the head of a request has to arrive, from its first byte.
pub const HEAD_TIME: Duration = Duration::from_secs(10);

/// Time in which a client has to send a further part of a body.
pub const BODY_TIME: Duration = Duration::from_secs(30);

/// Time in which a client has to read a further part of a response.
pub const WRITE_TIME: Duration = Duration::from_secs(30);

/// Time in which an app has to accept a connection.
pub const CONNECT_TIME: Duration = Duration::from_secs(5);

/// Time for which a connection must stay open that shows an app is reachable: the supervisor of an app that does not
/// listen accepts connections, and closes them.
pub const HEALTH_TIME: Duration = Duration::from_millis(50);

/// Time in which an app has to begin its response.
pub const RESPONSE_TIME: Duration = Duration::from_secs(120);

/// Time for which a response that has begun, or a WebSocket, may be silent.
pub const STREAM_TIME: Duration = Duration::from_secs(3600);

/// Time for which a closed connection is read, so that its client gets the response before the reset.
pub const LINGER_TIME: Duration = Duration::from_secs(2);

/// Maximum number of bytes that are read and dropped from a closed connection.
pub const LINGER_BYTES: usize = 1 << 20;

/// Time between two looks at leases and idle connections.
pub const SWEEP_TIME: Duration = Duration::from_secs(1);

/// Maximum size of a log that is shown, in bytes.
pub const LOG_BYTES: usize = 1 << 20;

/// Maximum number of tasks on the index page.
pub const LISTED_TASKS: usize = 1000;

/// The limits that a caller may change. `Default` has the constants of this module.
#[derive(Debug, Clone)]
pub struct Limits {
    /// See [`BODY_BYTES`].
    pub body_bytes: u64,
    /// See [`CONNECTIONS`].
    pub connections: usize,
    /// See [`TASK_CONNECTIONS`].
    pub task_connections: usize,
    /// See [`IDLE_APP_TIME`].
    pub idle_app_time: Duration,
    /// See [`IDLE_TIME`].
    pub idle_time: Duration,
    /// See [`PRESSED_IDLE_TIME`].
    pub pressed_idle_time: Duration,
    /// See [`HEAD_TIME`].
    pub head_time: Duration,
    /// See [`BODY_TIME`].
    pub body_time: Duration,
    /// See [`WRITE_TIME`].
    pub write_time: Duration,
    /// See [`CONNECT_TIME`].
    pub connect_time: Duration,
    /// See [`HEALTH_TIME`].
    pub health_time: Duration,
    /// See [`RESPONSE_TIME`].
    pub response_time: Duration,
    /// See [`STREAM_TIME`].
    pub stream_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: BODY_BYTES,
            connections: CONNECTIONS,
            task_connections: TASK_CONNECTIONS,
            idle_app_time: IDLE_APP_TIME,
            idle_time: IDLE_TIME,
            pressed_idle_time: PRESSED_IDLE_TIME,
            head_time: HEAD_TIME,
            body_time: BODY_TIME,
            write_time: WRITE_TIME,
            connect_time: CONNECT_TIME,
            health_time: HEALTH_TIME,
            response_time: RESPONSE_TIME,
            stream_time: STREAM_TIME,
        }
    }
}
