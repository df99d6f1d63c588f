//! Constraint failures, decided once for each value that constraints compare.

use super::assess::constraint_failures;
use super::failures::Failures;
use agent_model::{ConstraintKey, Constraints, ServerView};

/// The constraints that refuse each [`ConstraintKey`].
#[derive(Debug, Clone)]
pub(super) struct ConstraintFailures([Failures; ConstraintKey::COUNT]);

impl ConstraintFailures {
    pub(super) fn new(constraints: &Constraints) -> Self {
        Self(std::array::from_fn(|number| {
            ConstraintKey::from_number(number).map_or(Failures::default(), |constraint_key| {
                constraint_failures(constraints, constraint_key, "")
                    .map(|failure| failure.code())
                    .collect()
            })
        }))
    }

    /// Returns the constraints that refuse a server.
    pub(super) fn refusing(&self, server: ServerView<'_>) -> Failures {
        self.of(server.constraint_key())
    }

    /// Returns the constraints that refuse every server with this key.
    pub(super) fn of(&self, constraint_key: ConstraintKey) -> Failures {
        self.0[constraint_key.number()]
    }
}
