//! The limits of apps, each with its unit.

use std::time::Duration;

/// Units of fuel of a request: about as many WebAssembly instructions, some seconds of them.
pub const FUEL: u64 = 10_000_000_000;

/// Time from the head of a request until the app has written its answer. A stream of events ends with it.
pub const REQUEST_TIME: Duration = Duration::from_secs(600);

/// Time between two parts of the body of a request.
pub const BODY_TIME: Duration = Duration::from_secs(30);

/// Time until the head of a request has to be there, also of the next one of an idle connection.
pub const HEAD_TIME: Duration = Duration::from_secs(60);

/// Maximum size of the head of a request, in bytes.
pub const HEAD_BYTES: usize = 64 << 10;

/// Maximum number of headers of a request.
pub const HEADERS: usize = 128;

/// Maximum number of requests that are answered at a time. Others wait.
pub const REQUESTS: u32 = 64;

/// Memory for which one more request is answered at a time, in bytes.
pub const REQUEST_MEMORY: usize = 4 << 20;

/// Maximum number of requests of an app to other servers at a time, until their responses are dropped. Others wait.
pub const OUTGOING_REQUESTS: usize = 16;

/// Maximum size of the body of a request to another server, in bytes.
pub const OUTGOING_BYTES: usize = 4 << 20;

/// Maximum number of table entries of an instance.
pub const TABLE_ENTRIES: usize = 100_000;

/// Maximum number of streams and other resources of a request.
pub const RESOURCES: usize = 1_000;

/// Maximum number of bytes that one call of the host copies from the app.
pub const CALL_BYTES: usize = 16 << 20;

/// Maximum number of bytes of one request for random bytes.
pub const RANDOM_BYTES: u64 = 64 << 10;

/// Memory of an entry of the store without its key and its value, in bytes.
pub const ENTRY_BYTES: usize = 128;

/// Maximum number of keys in a page of a list.
pub const PAGE_KEYS: usize = 1_000;

/// Maximum size of a component, in bytes.
pub const COMPONENT_BYTES: u64 = 64 << 20;

/// The time after which an app yields, so that others run and its time can end it.
pub const TICK: Duration = Duration::from_millis(10);
