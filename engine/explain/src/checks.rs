//! The record of a check in words.

use agent_decide::{CheckOutcome, SkipCause};
use agent_text::Place;

/// A check of a call or of a step, and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The word for it.
    pub name: &'static str,
    /// Its outcome.
    pub outcome: CheckState,
    /// The values that were compared, or why none were.
    pub facts: Vec<CheckFact>,
}

/// The outcome of a check, without its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    /// Nothing speaks against it.
    Passed,
    /// Something does.
    Failed,
    /// It can be made only while the plan runs.
    Deferred,
    /// It had nothing to look at.
    Skipped,
}

impl Checked {
    pub(super) fn new<C>(
        name: &'static str,
        outcome: CheckOutcome<C>,
        facts: Vec<CheckFact>,
    ) -> Self {
        let outcome = match outcome {
            CheckOutcome::Passed => CheckState::Passed,
            CheckOutcome::Failed => CheckState::Failed,
            CheckOutcome::Deferred => CheckState::Deferred,
            CheckOutcome::Skipped(_) => CheckState::Skipped,
        };
        Self {
            name,
            outcome,
            facts,
        }
    }
}

/// A fact about a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFact {
    /// A sentence, or a value.
    pub text: String,
    /// The place of the value.
    pub place: Option<Place>,
}

impl CheckFact {
    /// A fact without a place.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            place: None,
        }
    }

    /// A fact at a place.
    pub(super) fn at(text: impl Into<String>, place: Place) -> Self {
        Self {
            text: text.into(),
            place: Some(place),
        }
    }
}

/// Returns the reason why a check was skipped.
pub(super) fn skipped<C>(cause: SkipCause<C>, name: impl Fn(C) -> &'static str) -> CheckFact {
    CheckFact::new(match cause {
        SkipCause::Failed(check) => format!("skipped, because the check `{}` failed", name(check)),
        SkipCause::Unreadable(source) => {
            format!("skipped, because `{}` can't be read", source.usual_name())
        }
    })
}
