//! A deadline that is cheap to move.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::{Instant, Sleep, sleep_until};

/// A deadline. Moving it further away leaves the timer of the runtime alone, which then finds that it came too early.
pub(crate) struct Deadline(Pin<Box<Sleep>>);

impl Deadline {
    pub(crate) fn at(time: Instant) -> Self {
        Self(Box::pin(sleep_until(time)))
    }

    /// Is ready when a time has passed.
    pub(crate) fn poll(&mut self, time: Instant, context: &mut Context<'_>) -> Poll<()> {
        if time < self.0.deadline() {
            self.0.as_mut().reset(time);
        }
        loop {
            ready!(self.0.as_mut().poll(context));
            if Instant::now() >= time {
                return Poll::Ready(());
            }
            self.0.as_mut().reset(time);
        }
    }
}
