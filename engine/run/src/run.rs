//! The run as its host sees it.

use super::action::{Action, Finished, Outcome};
use super::documents::Documents;
use super::lifecycle;
use super::options::{InvalidRunId, Options};
use super::progress::Progress;
use super::turns::{OutOfTurn, Turns};
use agent_record::Clock;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// A run of a plan: a state machine without input and output.
///
/// [`Run::next_action`] returns the wanted action, and [`Run::complete`] takes its outcome. The host
/// decides nothing between the two.
pub struct Run {
    turns: Turns,
    lifecycle: Pin<Box<dyn Future<Output = Finished>>>,
    finished: Option<Finished>,
    /// Whether the host saw the wanted action.
    is_shown: bool,
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}

impl Run {
    /// Starts a run. Nothing is decided before the first [`Run::next_action`].
    ///
    /// # Errors
    /// The run id is invalid.
    pub fn start(documents: Documents, options: Options, now: Clock) -> Result<Self, InvalidRunId> {
        options.check()?;
        let turns = Turns::new(now);
        Ok(Self {
            lifecycle: Box::pin(lifecycle::run(documents, options, turns.clone())),
            turns,
            finished: None,
            is_shown: false,
        })
    }

    /// Returns the action that the host has to perform, the same one until it is completed.
    pub fn next_action(&mut self) -> Action {
        self.is_shown = true;
        if let Some(finished) = &self.finished {
            return Action::Finished(finished.clone());
        }
        if let Some(action) = self.turns.wanted() {
            return action;
        }
        let mut context = Context::from_waker(Waker::noop());
        match self.lifecycle.as_mut().poll(&mut context) {
            Poll::Ready(finished) => {
                self.finished = Some(finished.clone());
                Action::Finished(finished)
            }
            // Invariant: the lifecycle awaits `Turns::perform` alone, which wants an action before it waits.
            Poll::Pending => self
                .turns
                .wanted()
                .unwrap_or_else(|| unreachable!("an action is wanted")),
        }
    }

    /// Returns how far the run has come, for people who watch it.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.turns.progress()
    }

    /// Takes the outcome of the action that [`Run::next_action`] returned, and the time.
    ///
    /// # Errors
    /// No action was returned, or the outcome belongs to another one. The run then ends with the code
    /// `internal`.
    pub fn complete(&mut self, outcome: Outcome, now: Clock) -> Result<(), OutOfTurn> {
        if self.finished.is_some() {
            return Err(OutOfTurn);
        }
        let is_shown = core::mem::take(&mut self.is_shown);
        self.turns.complete(outcome, now, is_shown)
    }

    /// Ends the run as cancelled: with the code `handler_failed` and the reason `CANCELLED`. Its evidence
    /// is completed, so the host goes on with [`Run::next_action`].
    pub fn cancel(&mut self, now: Clock) {
        if self.finished.is_none() {
            self.turns.cancel(now);
        }
    }
}
