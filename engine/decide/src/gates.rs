//! Which constraints don't let a server through, decided once for each value of what they look at.

use super::assess::constraint_failures;
use super::failures::Failures;
use agent_model::{Constraints, Gate, ServerView};

/// For each [`Gate`] the constraints that don't let it through.
#[derive(Debug, Clone)]
pub(super) struct Gates([Failures; Gate::COUNT]);

impl Gates {
    pub(super) fn new(constraints: &Constraints) -> Self {
        Self(std::array::from_fn(|number| {
            Gate::from_number(number).map_or(Failures::default(), |gate| {
                constraint_failures(constraints, gate, "")
                    .map(|failure| failure.code())
                    .collect()
            })
        }))
    }

    /// The constraints that don't let a server through.
    pub(super) fn refusing(&self, server: ServerView<'_>) -> Failures {
        self.of(server.gate())
    }

    /// The constraints that don't let a gate through.
    pub(super) fn of(&self, gate: Gate) -> Failures {
        self.0[gate.number()]
    }
}
