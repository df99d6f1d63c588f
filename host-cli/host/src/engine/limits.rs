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
                    "the engine has used up the {units} units of fuel of a call"
                )
            }
            Self::Memory(bytes) => write!(
                out,
                "the engine has run out of memory, of which it may use {} MiB",
                bytes >> 20
            ),
            Self::TableEntries(entries) => {
                write!(
                    out,
                    "the engine has used up its {entries} entries of tables"
                )
            }
        }
    }
}

impl std::error::Error for LimitReached {}

/// Refusing to grow ends the call at once. The engine could only abort anyway, and the host can say
/// why.
impl ResourceLimiter for Limits {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.memory {
            return Err(LimitReached::Memory(self.memory).into());
        }
        Ok(true)
    }

    /// More than 32 bits can address, or than the system has.
    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(LimitReached::Memory(self.memory).into())
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > self.table_entries {
            return Err(LimitReached::TableEntries(self.table_entries).into());
        }
        Ok(true)
    }
}
