//! How long a server may take for a call.

use agent_operator::CallTime;
use std::time::Duration;
use tokio::time::Instant;

/// The deadline of a call, which the server's reports of progress extend.
pub(crate) struct Deadline {
    began: Instant,
    time: CallTime,
    /// The moment of the last report.
    reported: Option<Instant>,
}

impl Deadline {
    /// Returns the deadline of a call that begins now.
    pub(crate) fn new(time: CallTime) -> Self {
        Self {
            began: Instant::now(),
            time,
            reported: None,
        }
    }

    /// Returns the moment at which the call ends if the server reports nothing more.
    pub(crate) fn at(&self) -> Instant {
        let from = self.reported.unwrap_or(self.began);
        (from + self.time.timeout).min(self.last())
    }

    /// Returns the moment at which the call ends, whatever the server reports.
    pub(crate) fn last(&self) -> Instant {
        self.began + self.time.max
    }

    /// Returns the time since the call began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Takes that the server reported progress.
    pub(crate) fn extend(&mut self) {
        self.reported = Some(Instant::now());
    }

    /// Returns the limit that ends the call, in milliseconds, and whether it counts from the last report.
    pub(crate) fn limit(&self) -> (u64, bool) {
        let (limit, since_progress) = match self.reported {
            Some(_) if self.at() < self.last() => (self.time.timeout, true),
            Some(_) => (self.time.max, false),
            None => (self.time.timeout, false),
        };
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        (limit, since_progress)
    }
}
