//! The memory of an app: that of all instances and of the store together.

use crate::limits::TABLE_ENTRIES;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wasmtime::ResourceLimiter;

/// The bytes that an app may have.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    used: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            used: AtomicUsize::new(0),
        }
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Takes bytes. Returns whether they were there.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let enough = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, enough);
        taken.is_ok()
    }

    /// Gives bytes back that were taken.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// The part of one instance. It goes back with the instance.
#[derive(Debug)]
pub(crate) struct Bounds {
    budget: Arc<Budget>,
    taken: usize,
    table_entries: usize,
}

impl Bounds {
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        Self {
            budget,
            taken: 0,
            table_entries: 0,
        }
    }

    fn reached(&self) -> MemoryReached {
        MemoryReached(self.budget.limit)
    }
}

impl Drop for Bounds {
    fn drop(&mut self) {
        self.budget.give_back(self.taken);
    }
}

/// The limit of memory that an app has reached.
#[derive(Debug)]
pub(crate) struct MemoryReached(usize);

impl fmt::Display for MemoryReached {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mebibytes = self.0 >> 20;
        write!(
            out,
            "the app exceeded its memory limit of {mebibytes} MiB for all requests together"
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
        let more = desired.saturating_sub(current);
        if !self.budget.take(more) {
            return Err(self.reached().into());
        }
        self.taken += more;
        Ok(true)
    }

    /// Reports growth beyond 32-bit addresses or the system's memory.
    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(self.reached().into())
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.table_entries += desired.saturating_sub(current);
        match self.table_entries <= TABLE_ENTRIES {
            true => Ok(true),
            false => Err(self.reached().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Budget};
    use std::sync::Arc;
    use wasmtime::ResourceLimiter as _;

    #[test]
    fn instances_share_a_budget_and_give_it_back() {
        let budget = Arc::new(Budget::new(100));
        let mut one = Bounds::new(Arc::clone(&budget));
        let mut other = Bounds::new(Arc::clone(&budget));
        assert!(one.memory_growing(0, 60, None).unwrap());
        assert!(other.memory_growing(0, 41, None).is_err());
        assert!(other.memory_growing(0, 40, None).unwrap());
        assert!(one.memory_growing(60, 61, None).is_err());
        drop(other);
        assert_eq!(budget.used(), 60);
        assert!(one.memory_growing(60, 100, None).unwrap());
        drop(one);
        assert_eq!(budget.used(), 0);
        assert!(!budget.take(usize::MAX));
    }
}
