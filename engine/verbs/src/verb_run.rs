//! A verb as its host sees it.

use super::action::{Action, Call, Outcome};
use super::lifecycle::{run, was_ended};
use agent_turns::{Machine, OutOfTurn, Turns};

/// A verb: a state machine without input and output.
///
/// [`VerbRun::next_action`] returns the wanted action, and [`VerbRun::complete`] takes its outcome. The host decides
/// nothing between the two.
#[derive(Debug)]
pub struct VerbRun(Machine<Action>);

impl VerbRun {
    /// Starts a verb. Nothing is decided before the first [`VerbRun::next_action`].
    pub fn start(call: Call) -> Self {
        let turns = Turns::default();
        Self(Machine::new(turns.clone(), run(call, turns)))
    }

    /// Returns the action that the host has to perform, the same one until it is completed.
    pub fn next_action(&mut self) -> Action {
        self.0.next_effect()
    }

    /// Takes the outcome of the action that [`VerbRun::next_action`] returned.
    ///
    /// # Errors
    /// No action was returned, or the outcome belongs to another one. The verb then fails with `E_RUNTIME`; what was
    /// started is ended.
    pub fn complete(&mut self, outcome: Outcome) -> Result<(), OutOfTurn> {
        self.0.complete(outcome)
    }

    /// Ends the verb because its task was ended. What was started is ended too, so the host goes on with
    /// [`VerbRun::next_action`].
    pub fn cancel(&mut self) {
        self.0.cancel(was_ended());
    }
}
