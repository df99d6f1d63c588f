//! Constraint failures, decided once for each value that constraints compare.

use super::assess::constraint_failures;
use super::failures::Failures;
use agent_diagnostic::Code;
use agent_model::{ConstraintKey, Constraints, ServerView};

/// The constraints that refuse each [`ConstraintKey`].
#[derive(Debug, Clone)]
pub(super) struct ConstraintFailures([Failures; ConstraintKey::COUNT]);

impl ConstraintFailures {
    pub(super) fn new(constraints: &Constraints) -> Self {
        Self(std::array::from_fn(|number| {
            let constraint_key = ConstraintKey::from_number(number);
            let failures = constraint_key
                .into_iter()
                .flat_map(|it| constraint_failures(constraints, it, ""));
            failures.map(|failure| failure.code()).collect()
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

    /// Returns whether a server passes that others refuse.
    pub(super) fn admit_more_than(&self, others: &Self) -> bool {
        let mut both = self.0.iter().zip(&others.0);
        both.any(|(own, other)| own.is_empty() && !other.is_empty())
    }

    /// Returns 1 for each of residency, sensitivity and signature that a server passes together
    /// with the checks before it.
    pub(super) fn passed(&self, server: ServerView<'_>) -> [u32; 3] {
        let refused = self.refusing(server);
        let passes = |code| u32::from(refused.passes_up_to(code));
        [
            passes(Code::ResidencyMismatch),
            passes(Code::SensitivityExceeded),
            passes(Code::UnsignedNotAllowed),
        ]
    }
}
