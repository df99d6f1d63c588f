//! The run as its host sees it.

use super::action::{Action, Outcome};
use super::documents::Documents;
use super::lifecycle;
use super::options::{InvalidRunId, Options};
use super::progress::Progress;
use super::stop::Stop;
use super::turns::{Turn, Turns};
use agent_record::Clock;
use agent_turns::{Machine, OutOfTurn};

/// A run of a plan: a state machine without input and output.
///
/// [`Run::next_action`] returns the wanted action, and [`Run::complete`] takes its outcome. The host
/// decides nothing between the two.
#[derive(Debug)]
pub struct Run {
    turns: Turns,
    machine: Machine<Turn>,
}

impl Run {
    /// Starts a run. Nothing is decided before the first [`Run::next_action`].
    ///
    /// # Errors
    /// The run id is invalid.
    pub fn start(documents: Documents, options: Options, now: Clock) -> Result<Self, InvalidRunId> {
        options.check()?;
        let turns = Turns::new(now);
        let run = lifecycle::run(documents, options, turns.clone());
        Ok(Self {
            machine: Machine::new(turns.of_host.clone(), async {
                Turn(Action::Finished(run.await))
            }),
            turns,
        })
    }

    /// Returns the action that the host has to perform, the same one until it is completed.
    pub fn next_action(&mut self) -> Action {
        self.machine.next_effect().0
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
        self.turns.advance(now);
        self.machine.complete(outcome)
    }

    /// Ends the run as cancelled: with the code `handler_failed` and the reason `CANCELLED`. Its evidence
    /// is completed, so the host goes on with [`Run::next_action`].
    pub fn cancel(&mut self, now: Clock) {
        self.turns.advance(now);
        self.machine.cancel(Stop::cancelled());
    }
}
