//! The limits of handlers: instructions, memory, and how soon one can be interrupted.

use std::fmt;
use std::time::Duration;
use wasmtime::ResourceLimiter;

/// Units of fuel for a call: about as many WebAssembly instructions, some seconds of them.
pub const FUEL: u64 = 10_000_000_000;

/// Bytes of linear memory of a call of a built-in handler.
pub const MEMORY_BYTES: usize = 64 << 20;

/// Bytes of linear memory of a call of a third party's handler, which may contain an interpreter.
pub const THIRD_PARTY_MEMORY_BYTES: usize = 256 << 20;

/// Entries of all tables of a call of a built-in handler.
const TABLE_ENTRIES: usize = 20_000;

/// Entries of all tables of a call of a third party's handler.
const THIRD_PARTY_TABLE_ENTRIES: usize = 100_000;

/// The time after which guest code yields, so that a timeout can end it.
pub const TICK: Duration = Duration::from_millis(10);

/// Bounds the memory of one call.
#[derive(Debug)]
pub(super) struct Bounds {
    /// Maximum number of bytes of all linear memories together.
    pub(super) memory: usize,
    /// Maximum number of entries of all tables together.
    tables: usize,
    used_memory: usize,
    used_tables: usize,
}

impl Bounds {
    pub(super) const BUILTIN: Self = Self {
        memory: MEMORY_BYTES,
        tables: TABLE_ENTRIES,
        used_memory: 0,
        used_tables: 0,
    };

    pub(super) const THIRD_PARTY: Self = Self {
        memory: THIRD_PARTY_MEMORY_BYTES,
        tables: THIRD_PARTY_TABLE_ENTRIES,
        ..Self::BUILTIN
    };
}

/// A limit of memory that a handler has reached.
#[derive(Debug)]
pub(super) struct MemoryReached(usize);

impl fmt::Display for MemoryReached {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "the handler exceeded its memory limit of {} MiB",
            self.0 >> 20
        )
    }
}

impl std::error::Error for MemoryReached {}

/// Adds the growth of a memory or a table to what is used. Returns whether it is within the limit.
fn add(used: &mut usize, current: usize, desired: usize, limit: usize) -> bool {
    *used = used.saturating_add(desired.saturating_sub(current));
    *used <= limit
}

impl ResourceLimiter for Bounds {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        match add(&mut self.used_memory, current, desired, self.memory) {
            true => Ok(true),
            false => Err(MemoryReached(self.memory).into()),
        }
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(MemoryReached(self.memory).into())
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        match add(&mut self.used_tables, current, desired, self.tables) {
            true => Ok(true),
            false => Err(MemoryReached(self.memory).into()),
        }
    }
}
