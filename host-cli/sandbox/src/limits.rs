//! The limits of a command.

use std::fmt;
use std::time::Duration;

/// The limits of one command with everything that it starts.
///
/// Each limit ends the whole tree of processes. The [`Report`](crate::Report) lists the limits that
/// this machine enforces for each process only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time from start to end; `None` for a server, which runs until it is ended.
    pub wall_time: Option<Duration>,
    /// Processor time of all processes together; each process ends after it too, in whole seconds
    /// rounded up.
    pub cpu_time: Option<Duration>,
    /// Share of processor time of all processes together, in percent of one processor; `None` for no
    /// share. A command that wants more becomes slower. Without a control group it is not started.
    pub cpu_percent: Option<u32>,
    /// Memory of all processes together, in bytes.
    pub memory_bytes: u64,
    /// Number of processes and threads at a time, the command itself among them.
    pub processes: u32,
    /// Size of the largest file, in bytes; also the size of each private folder (home, `/tmp`,
    /// `/dev/shm`) in the bubblewrap tier.
    pub file_bytes: u64,
    /// Number of open files of each process.
    pub open_files: u32,
    /// Bytes on standard output. More of them end a command started with
    /// [`run`](crate::Sandbox::run); the reader of a [`Child`](crate::Child) counts by itself.
    pub stdout_bytes: u64,
    /// Bytes of standard error to keep. The rest is read and dropped, and the log marked as
    /// truncated.
    pub stderr_bytes: u64,
}

impl Default for Limits {
    /// Limits for a short call of a program: 30 s of wall and of processor time, 512 MiB of memory,
    /// 64 processes, files of 64 MiB, 256 open files, 8 MiB of output and 256 KiB of log.
    fn default() -> Self {
        Self {
            wall_time: Some(Duration::from_secs(30)),
            cpu_time: Some(Duration::from_secs(30)),
            cpu_percent: None,
            memory_bytes: 512 << 20,
            processes: 64,
            file_bytes: 64 << 20,
            open_files: 256,
            stdout_bytes: 8 << 20,
            stderr_bytes: 256 << 10,
        }
    }
}

/// A limit, other than that of wall time, that ended a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::cpu_time`].
    CpuTime,
    /// [`Limits::memory_bytes`].
    Memory,
    /// [`Limits::processes`].
    Processes,
    /// [`Limits::file_bytes`].
    FileSize,
    /// [`Limits::stdout_bytes`].
    Output,
}

impl Limit {
    /// Returns the name of the limit's field in [`Limits`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CpuTime => "cpu_time",
            Self::Memory => "memory_bytes",
            Self::Processes => "processes",
            Self::FileSize => "file_bytes",
            Self::Output => "stdout_bytes",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CpuTime => "processor time",
            Self::Memory => "memory",
            Self::Processes => "number of processes",
            Self::FileSize => "size of a file",
            Self::Output => "size of the output",
        })
    }
}
