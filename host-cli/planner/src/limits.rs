//! The limits of an attempt.

use std::time::Duration;

/// Default of [`Limits::time`].
const TIME: Duration = Duration::from_secs(120);
/// Default of [`Limits::plan_bytes`]: what the engine accepts as a plan.
const PLAN_BYTES: usize = 16 << 20;

/// The limits of one attempt. The first one that is passed ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum time of the attempt, from its start to the last byte.
    pub time: Duration,
    /// Maximum number of bytes of the plan.
    pub plan_bytes: usize,
}

impl Default for Limits {
    /// 120 s, and a plan of 16 MiB.
    fn default() -> Self {
        Self {
            time: TIME,
            plan_bytes: PLAN_BYTES,
        }
    }
}
