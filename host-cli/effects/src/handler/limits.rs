//! The limits of handlers: instructions, memory, and how soon one can be interrupted.

use std::fmt;
use std::time::Duration;
use wasmtime::ResourceLimiter;

/// Units of fuel for a call: about as many WebAssembly instructions, some seconds of them.
pub const FUEL: u64 = 10_000_000_000;

/// Bytes of all linear memories of a call.
pub const MEMORY_BYTES: usize = 64 << 20;

/// Entries of all tables of a call.
const TABLE_ENTRIES: usize = 20_000;

/// The time after which guest code yields, so that a timeout can end it.
pub const TICK: Duration = Duration::from_millis(10);

/// Bounds the memory of one call. A component may have many memories and tables, which count together.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// Bytes of memories.
    memory: usize,
    /// Entries of tables.
    entries: usize,
}

impl Bounds {
    /// Adds what grows to what there is already.
    fn grow(
        total: &mut usize,
        current: usize,
        desired: usize,
        most: usize,
    ) -> wasmtime::Result<bool> {
        *total = total.saturating_add(desired.saturating_sub(current));
        if *total > most {
            return Err(MemoryReached.into());
        }
        Ok(true)
    }
}

/// A limit of memory that a handler has reached.
#[derive(Debug)]
pub(super) struct MemoryReached;

impl fmt::Display for MemoryReached {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "the handler exceeded its memory limit of {} MiB",
            MEMORY_BYTES >> 20
        )
    }
}

impl std::error::Error for MemoryReached {}

impl ResourceLimiter for Bounds {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Self::grow(&mut self.memory, current, desired, MEMORY_BYTES)
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(MemoryReached.into())
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Self::grow(&mut self.entries, current, desired, TABLE_ENTRIES)
    }
}
