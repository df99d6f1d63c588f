//! The share of processor time of an app.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// A share of one processor, for all requests of an app together.
#[derive(Debug)]
pub(crate) struct Share {
    percent: u32,
    /// When the next request may run.
    next: Mutex<Instant>,
}

impl Share {
    pub(crate) fn new(percent: u32) -> Self {
        Self {
            percent: percent.clamp(1, 100),
            next: Mutex::new(Instant::now()),
        }
    }

    /// Runs work within the share. After each part of the work, which ends when the work yields, all work of the
    /// share pauses for as long as the share demands.
    pub(crate) async fn run<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        let mut pause = pin!(sleep_until(Instant::now()));
        std::future::poll_fn(|context| {
            let now = Instant::now();
            let next = *self.next.lock().unwrap_or_else(PoisonError::into_inner);
            if next > now {
                pause.as_mut().reset(next);
                if pause.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
            }
            let polled = work.as_mut().poll(context);
            let rest = self.rest(now.elapsed());
            if !rest.is_zero() {
                let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
                *next = (*next).max(now) + now.elapsed() + rest;
            }
            polled
        })
        .await
    }

    /// Returns the pause after a time at work.
    fn rest(&self, worked: Duration) -> Duration {
        worked * (100 - self.percent) / self.percent
    }
}

#[cfg(test)]
mod tests {
    use super::Share;
    use std::time::Duration;
    use tokio::task::yield_now;
    use tokio::time::Instant;

    #[test]
    fn a_share_demands_pauses() {
        let second = Duration::from_secs(1);
        assert_eq!(Share::new(50).rest(second), second);
        assert_eq!(Share::new(25).rest(second), 3 * second);
        assert_eq!(Share::new(100).rest(second), Duration::ZERO);
    }

    #[tokio::test]
    async fn works_of_one_share_pause_for_each_other() {
        let share = Share::new(25);
        let work = || async {
            for _ in 0..4 {
                std::thread::sleep(Duration::from_millis(5));
                yield_now().await;
            }
        };
        let begin = Instant::now();
        tokio::join!(share.run(work()), share.run(work()));
        // 40 ms of work are a quarter of 160 ms; the last pause is not waited for.
        assert!(
            begin.elapsed() >= Duration::from_millis(140),
            "{:?}",
            begin.elapsed()
        );
    }
}
