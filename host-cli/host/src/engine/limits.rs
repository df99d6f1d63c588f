//! The limits of the engine: instructions and memory.

use std::fmt;
use wasmtime::ResourceLimiter;

/// The limits of an instance and of each call into it.
///
/// A unit of fuel is about one WebAssembly instruction. A call that is cut off on one machine is
/// therefore cut off on every other.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Units of fuel for each call.
    pub fuel_per_call: u64,
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
    /// billion units of fuel and less than 3 GiB of memory. A call that would never return ends
    /// after a minute or two.
    pub const STANDARD: Self = Self {
        fuel_per_call: 400_000_000_000,
        // The last page is never handed out, so that no address arithmetic can wrap around.
        memory: (4 << 30) - (64 << 10),
        table_entries: 100_000,
    };
}

/// A limit that a call has reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum LimitReached {
    Fuel(u64),
    Memory(usize),
    TableEntries(usize),
}

impl fmt::Display for LimitReached {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fuel(units) => {
                write!(
                    out,
                    "a call of the engine exceeded its limit of {units} units of fuel"
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
