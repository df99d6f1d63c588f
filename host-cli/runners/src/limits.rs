//! The limits of runners, each with its unit.

use std::time::Duration;

/// Maximum size of a request, in bytes. A plan has at most 16 MiB, and escaped text takes up to six times its size.
pub const MAX_REQUEST_BYTES: usize = 100 << 20;

/// Maximum size of an answer on standard output, in bytes.
pub const MAX_ANSWER_BYTES: u64 = 4 << 20;

/// Number of bytes of an invocation's standard error to keep. One byte is already a fault.
pub const KEPT_ERROR_BYTES: u64 = 64 << 10;

/// Maximum length of the line before an answer, in bytes.
pub(crate) const MAX_HEAD_BYTES: u64 = 64;

/// Time of `apply`.
pub const APPLY_TIME: Duration = Duration::from_secs(120);

/// Time of `start`, until the app listens.
pub const START_TIME: Duration = Duration::from_secs(60);

/// Time of `stop`.
pub const STOP_TIME: Duration = Duration::from_secs(15);

/// Time of `health`.
pub const HEALTH_TIME: Duration = Duration::from_secs(10);

/// Memory of a session, the app included, in bytes.
pub const MEMORY_BYTES: u64 = 512 << 20;

/// Number of processes and threads of a session, the app included.
pub const PROCESSES: u32 = 128;

/// Size of the largest file that a session may write, in bytes; also of each private folder.
pub const FILE_BYTES: u64 = 256 << 20;

/// Number of open files of each process.
pub const OPEN_FILES: u32 = 4096;

/// Number of bytes of the app's output to keep.
pub const LOG_BYTES: u64 = 1 << 20;

/// Time of the whole test of a runner in one session. It has several.
pub const CONFORMANCE_TIME: Duration = Duration::from_secs(300);

/// Time that an app may take to answer a request of the test, and to be gone after `stop`.
pub const CONFORMANCE_WAIT: Duration = Duration::from_secs(5);

/// Maximum size of an app's response in the test, in bytes.
pub const CONFORMANCE_RESPONSE_BYTES: u64 = 64 << 10;

/// Size of the file in the largest plan of the test, in bytes.
pub const CONFORMANCE_BIG_BYTES: usize = 4 << 20;

/// Units of fuel of a call of a built-in runner: about as many WebAssembly instructions.
pub const RUNNER_FUEL: u64 = 2_000_000_000;

/// Memory of a call of a built-in runner, in bytes. The largest plan has 16 MiB.
pub const RUNNER_MEMORY_BYTES: usize = 64 << 20;

/// Units of fuel after which a built-in runner lets others go on.
pub(crate) const RUNNER_YIELD_FUEL: u64 = 1_000_000;
