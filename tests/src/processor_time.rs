//! The processor time of a thread: what else the machine does has no part in it.

use std::fs;
use std::ops::Sub;
use std::time::Duration;

/// A reading of the processor time of the calling thread. Two readings of one thread can be compared.
#[derive(Debug, Clone, Copy)]
pub struct ProcessorTime(Duration);

impl ProcessorTime {
    /// Reads the time.
    ///
    /// # Panics
    /// The kernel does not tell it.
    #[must_use]
    pub fn now() -> Self {
        let read =
            fs::read_to_string("/proc/thread-self/schedstat").expect("the times of a thread");
        let nanoseconds = read.split(' ').next().and_then(|it| it.parse().ok());
        Self(Duration::from_nanos(nanoseconds.expect("a number")))
    }

    /// Returns the time since this reading.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        Self::now() - self
    }
}

impl Sub for ProcessorTime {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}
