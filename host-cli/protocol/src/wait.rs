//! How long an operation may take.

use crate::error::Error;
use agent_way_out::Cancel;
use std::future::Future;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The end of an operation's time, and its cancellation.
#[derive(Debug, Clone)]
pub struct Wait {
    /// When the operation ends.
    pub deadline: Instant,
    /// What ends it before.
    pub cancel: Cancel,
}

impl Wait {
    /// Returns an end after `time` without cancellation.
    #[must_use]
    pub fn time(time: Duration) -> Self {
        Self::new(time, Cancel::never())
    }

    /// Returns an end after `time`.
    #[must_use]
    pub fn new(time: Duration, cancel: Cancel) -> Self {
        Self {
            deadline: Instant::now() + time,
            cancel,
        }
    }

    /// Returns the earlier of this end and one after `time`.
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

    /// Does work until it is done, its time is over, or it is cancelled.
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
