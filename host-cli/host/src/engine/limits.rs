//! The limits of the engine: time and memory.

use std::fmt;
use std::time::Duration;
use wasmtime::ResourceLimiter;

/// The limits of an instance and of each call into it.
///
/// The engine counts its inputs and its steps, and refuses by these limits of its own, the same on every machine.
/// Those of the host come later. A call that reaches one has no answer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time for each call, in which the process was not suspended.
    pub time_per_call: Duration,
    /// Bytes of linear memory for all calls into an instance together, and bytes that one call
    /// copies out of it.
    pub memory: usize,
    /// Entries of all tables.
    pub table_entries: usize,
}

impl Limits {
    /// The limits of every engine.
    ///
    /// Loading the largest index, of 512 MiB, and finding it invalid at its very end takes 57
    /// billion WebAssembly instructions and less than 3 GiB of memory: half a minute on a slow machine.
    pub const STANDARD: Self = Self {
        time_per_call: Duration::from_secs(600),
        // The last page is never handed out, so that no address arithmetic can wrap around.
        memory: (4 << 30) - (64 << 10),
        table_entries: 100_000,
    };
}

/// A limit that a call has reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum LimitReached {
    Time(Duration),
    Memory(usize),
    TableEntries(usize),
}

impl fmt::Display for LimitReached {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => {
                write!(
                    out,
                    "a call of the engine exceeded its limit of {} seconds",
                    time.as_secs_f64()
                )
            }
            Self::Memory(bytes) => write!(
                out,
                "the engine exceeded its memory limit of {} MiB",
                bytes >> 20
            ),
            Self::TableEntries(entries) => {
                write!(
                    out,
                    "the engine exceeded its limit of {entries} table entries"
                )
            }
        }
    }
}

impl std::error::Error for LimitReached {}

/// The limits of an instance, and what it uses of them.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub(super) limits: Limits,
    /// Bytes of linear memory, which never shrinks.
    pub(super) memory: usize,
}

impl Usage {
    pub(super) fn within(limits: Limits) -> Self {
        Self { limits, memory: 0 }
    }
}

/// Refuses growth by ending the call at once: the engine could only abort, while the host can
/// report the limit.
impl ResourceLimiter for Usage {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.limits.memory {
            return Err(LimitReached::Memory(self.limits.memory).into());
        }
        // The engine has one memory.
        self.memory = desired;
        Ok(true)
    }

    /// Reports growth beyond 32-bit addresses or the system's memory.
    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(LimitReached::Memory(self.limits.memory).into())
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.limits.table_entries {
            return Err(LimitReached::TableEntries(self.limits.table_entries).into());
        }
        Ok(true)
    }
}
