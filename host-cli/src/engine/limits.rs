//! What the engine may use: instructions and memory.

use std::fmt;
use wasmtime::ResourceLimiter;

/// The budget of one call into the engine.
///
/// A unit of fuel is about one WebAssembly instruction, so that a budget means the same on every
/// machine and a call that would be cut off is cut off everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Units of fuel for each call.
    pub(crate) fuel_per_call: u64,
    /// Bytes of linear memory for all calls of a command together.
    pub(crate) memory: usize,
    /// Entries of all tables.
    pub(crate) table_entries: usize,
}

impl Limits {
    /// The limits of every command.
    ///
    /// Ample for an index of 512 MiB, the largest input there is, and yet the end of a call that
    /// would never return, within minutes.
    pub(crate) const STANDARD: Self = Self {
        fuel_per_call: 400_000_000_000,
        // The last page is never handed out, so that no address arithmetic can wrap around.
        memory: (4 << 30) - (64 << 10),
        table_entries: 100_000,
    };
}

/// A limit that a call has reached.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LimitReached {
    Fuel(u64),
    Memory(usize),
    TableEntries(usize),
}

impl fmt::Display for LimitReached {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fuel(units) => write!(out, "{units} units of fuel in one call"),
            Self::Memory(bytes) => write!(out, "{} MiB of memory", bytes >> 20),
            Self::TableEntries(entries) => write!(out, "{entries} table entries"),
        }
    }
}

impl std::error::Error for LimitReached {}

/// Refusing to grow ends the call at once. The engine could only abort anyway, and from here it
/// can be said why.
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

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(error)
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
