//! Time limits and cancellation of operations.

use crate::error::Error;
use agent_way_out::Cancel;
use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The deadline of an operation, and its cancellation.
#[derive(Debug, Clone)]
pub struct Wait {
    /// The deadline.
    pub deadline: Instant,
    /// The cancellation.
    pub cancel: Cancel,
}

impl Wait {
    /// Returns a deadline after `time`, without cancellation.
    #[must_use]
    pub fn time(time: Duration) -> Self {
        Self::new(time, Cancel::never())
    }

    /// Returns a deadline after `time`.
    #[must_use]
    pub fn new(time: Duration, cancel: Cancel) -> Self {
        Self {
            deadline: Instant::now() + time,
            cancel,
        }
    }

    /// Returns the earlier of this deadline and one after `time`.
    pub(crate) fn at_most(&self, time: Duration) -> Self {
        Self {
            deadline: self.deadline.min(Instant::now() + time),
            cancel: self.cancel.clone(),
        }
    }

    /// Returns the time that is left.
    pub(crate) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Runs work until it is done, late or cancelled.
    pub(crate) async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Error::Cancelled),
            done = timeout_at(self.deadline, work) => done.unwrap_or(Err(Error::Timeout)),
        }
    }
}
