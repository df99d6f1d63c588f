//! The limits of handlers: instructions, memory, and how soon one can be interrupted.

use std::fmt;
use std::time::Duration;
use wasmtime::ResourceLimiter;

/// Units of fuel for a call: about as many WebAssembly instructions, some seconds of them.
pub const FUEL: u64 = 10_000_000_000;

/// Bytes of linear memory of a call.
pub const MEMORY_BYTES: usize = 64 << 20;

/// Entries of all tables of a call.
const TABLE_ENTRIES: usize = 20_000;

/// The time after which guest code yields, so that a timeout can end it.
pub const TICK: Duration = Duration::from_millis(10);

/// Bounds the memory of one call.
#[derive(Debug)]
pub(super) struct Bounds;

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
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > MEMORY_BYTES {
            return Err(MemoryReached.into());
        }
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(MemoryReached.into())
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired > TABLE_ENTRIES {
            return Err(MemoryReached.into());
        }
        Ok(true)
    }
}
