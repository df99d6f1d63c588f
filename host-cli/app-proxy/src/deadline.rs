//! A deadline that is cheap to move.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// A deadline. Moving it further away leaves the timer of the runtime alone, which then finds that it came too early.
pub(crate) struct Deadline {
    timer: Pin<Box<Sleep>>,
    at: Instant,
}

impl Deadline {
    pub(crate) fn after(time: Duration) -> Self {
        let timer = Box::pin(sleep(time));
        let at = timer.deadline();
        Self { timer, at }
    }

    /// Moves the deadline to a time from now.
    pub(crate) fn set(&mut self, time: Duration) {
        self.at = Instant::now() + time;
        if self.at < self.timer.deadline() {
            self.timer.as_mut().reset(self.at);
        }
    }

    /// Is ready when the deadline has passed.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.timer.as_mut().poll(context));
            if Instant::now() >= self.at {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(self.at);
        }
    }
}
