//! The turns of a run and its host.
//!
//! The lifecycle is written as straight code that awaits the outcome of each action, so no state can
//! be left out or reordered. This module turns it into a state machine: it polls the code until it
//! wants an effect, and again when the outcome is there. Nothing runs in the background.

use super::action::{Action, Failure, FailureKind, Outcome};
use super::progress::{Progress, Stage};
use super::stop::Stop;
use agent_record::Clock;
use core::cell::RefCell;
use core::future::poll_fn;
use core::task::Poll;
use std::rc::Rc;

/// The state that the lifecycle shares with its driver.
#[derive(Debug, Clone)]
pub(crate) struct Turns(Rc<RefCell<Slot>>);

#[derive(Debug)]
struct Slot {
    /// The action that the host has to perform.
    wanted: Option<Action>,
    /// The outcome of the action.
    outcome: Option<Result<Outcome, Stop>>,
    now: Clock,
    /// Why no further effect is wanted, but for evidence.
    interrupted: Option<Stop>,
    progress: Progress,
}

/// An answer that the host gave out of turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfTurn;

impl Turns {
    pub(crate) fn new(now: Clock) -> Self {
        Self(Rc::new(RefCell::new(Slot {
            wanted: None,
            outcome: None,
            now,
            interrupted: None,
            progress: Progress::default(),
        })))
    }

    /// Records that a part of the lifecycle begins.
    pub(crate) fn reach(&self, stage: Stage) {
        self.record(|progress| {
            progress.reach(stage);
        });
    }

    /// Records how far the run came.
    pub(crate) fn record(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.0.borrow_mut().progress);
    }

    /// Returns how far the run came.
    pub(crate) fn progress(&self) -> Progress {
        self.0.borrow().progress.clone()
    }

    /// Returns the last reading of the clock.
    pub(crate) fn now(&self) -> Clock {
        self.0.borrow().now
    }

    /// Returns the action that the host has to perform.
    pub(crate) fn wanted(&self) -> Option<Action> {
        self.0.borrow().wanted.clone()
    }

    /// Waits for the outcome of an effect.
    ///
    /// # Errors
    /// The run is cancelled, or the host answered out of turn. Then no further effect is wanted.
    pub(crate) async fn perform(&self, action: Action) -> Result<Outcome, Stop> {
        {
            let mut slot = self.0.borrow_mut();
            let is_evidence = matches!(action, Action::Store(_));
            if let Some(stop) = slot.interrupted.clone().filter(|_| !is_evidence) {
                return Err(stop);
            }
            slot.wanted = Some(action);
            slot.outcome = None;
        }
        poll_fn(|_| match self.0.borrow_mut().outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => Poll::Pending,
        })
        .await
    }

    /// Takes the outcome of the wanted action, which the host saw or not.
    ///
    /// # Errors
    /// No action is wanted, or another one. The run then ends with `internal`.
    pub(crate) fn complete(
        &self,
        outcome: Outcome,
        now: Clock,
        is_shown: bool,
    ) -> Result<(), OutOfTurn> {
        let mut slot = self.0.borrow_mut();
        slot.advance(now);
        let wanted = slot.wanted.take();
        match wanted {
            Some(action) if is_shown && action.accepts(&outcome) => {
                slot.outcome = Some(Ok(outcome));
                Ok(())
            }
            wanted => {
                let stop = Stop::internal("the host answered out of turn");
                slot.interrupt(stop, wanted);
                Err(OutOfTurn)
            }
        }
    }

    /// Withdraws the wanted effect and lets the run end as cancelled.
    pub(crate) fn cancel(&self, now: Clock) {
        let mut slot = self.0.borrow_mut();
        slot.advance(now);
        let wanted = slot.wanted.take();
        slot.interrupt(Stop::cancelled(), wanted);
    }
}

impl Slot {
    /// Sets the clock, which never goes back.
    fn advance(&mut self, now: Clock) {
        let monotonic_ms = now.monotonic_ms.max(self.now.monotonic_ms);
        self.now = Clock {
            monotonic_ms,
            ..now
        };
    }

    /// Ends the run for a reason; the first one counts. Evidence that is wanted stays wanted.
    fn interrupt(&mut self, stop: Stop, wanted: Option<Action>) {
        let stop = self.interrupted.get_or_insert(stop).clone();
        match wanted {
            Some(Action::Store(store)) if stop.is_cancelled() => {
                self.wanted = Some(Action::Store(store));
            }
            // A host that confuses its answers may have stored nothing.
            Some(Action::Store(_)) => {
                self.outcome = Some(Ok(Outcome::Failed(Failure {
                    kind: FailureKind::Failed,
                    message: stop.message,
                })));
            }
            Some(Action::Finished(finished)) => self.wanted = Some(Action::Finished(finished)),
            Some(_) => self.outcome = Some(Err(stop)),
            None => {}
        }
    }
}
