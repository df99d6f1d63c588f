//! The turns of a run and its host, with the clock and the progress that they share.

use super::action::{Action, Failure, FailureKind, Outcome};
use super::progress::{Progress, Stage};
use super::stop::Stop;
use agent_record::Clock;
use agent_turns::Effect;
use core::cell::RefCell;
use std::rc::Rc;

/// An action as an effect of the turns.
#[derive(Debug, Clone)]
pub(crate) struct Turn(pub(crate) Action);

impl Effect for Turn {
    type Outcome = Outcome;
    type Stop = Stop;

    fn accepts(&self, outcome: &Outcome) -> bool {
        self.0.accepts(outcome)
    }

    /// Evidence is stored to its end.
    fn outlasts(&self) -> bool {
        matches!(self.0, Action::Store(_))
    }

    fn out_of_turn() -> Stop {
        Stop::internal("the host answered out of turn")
    }

    fn confused(&self, stop: &Stop) -> Result<Outcome, Stop> {
        match self.0 {
            // A host that confuses its answers may have stored nothing.
            Action::Store(_) => Ok(Outcome::Failed(Failure {
                kind: FailureKind::Failed,
                message: stop.message.clone(),
            })),
            _ => Err(stop.clone()),
        }
    }
}

/// What the lifecycle shares with its driver.
#[derive(Debug, Clone)]
pub(crate) struct Turns {
    pub(crate) of_host: agent_turns::Turns<Turn>,
    shared: Rc<RefCell<(Clock, Progress)>>,
}

impl Turns {
    pub(crate) fn new(now: Clock) -> Self {
        Self {
            of_host: agent_turns::Turns::default(),
            shared: Rc::new(RefCell::new((now, Progress::default()))),
        }
    }

    /// Records that a part of the lifecycle begins.
    pub(crate) fn reach(&self, stage: Stage) {
        self.record(|progress| {
            progress.reach(stage);
        });
    }

    /// Records how far the run came.
    pub(crate) fn record(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.shared.borrow_mut().1);
    }

    /// Returns how far the run came.
    pub(crate) fn progress(&self) -> Progress {
        self.shared.borrow().1.clone()
    }

    /// Returns the last reading of the clock.
    pub(crate) fn now(&self) -> Clock {
        self.shared.borrow().0
    }

    /// Sets the clock, which never goes back.
    pub(crate) fn advance(&self, now: Clock) {
        let mut shared = self.shared.borrow_mut();
        let monotonic_ms = now.monotonic_ms.max(shared.0.monotonic_ms);
        shared.0 = Clock {
            monotonic_ms,
            ..now
        };
    }

    /// Waits for the outcome of an effect.
    ///
    /// # Errors
    /// The run is cancelled, or the host answered out of turn. Then no further effect is wanted.
    pub(crate) async fn perform(&self, action: Action) -> Result<Outcome, Stop> {
        self.of_host.perform(Turn(action)).await
    }
}
