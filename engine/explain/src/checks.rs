//! Checks of calls and steps in words.

use agent_decide::{CheckOutcome, SkipCause};
use agent_text::Place;

/// A check of a call or a step, with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRecord {
    /// The name of the check.
    pub name: &'static str,
    /// Its outcome.
    pub outcome: CheckState,
    /// The values that were compared, or the reason why nothing was compared.
    pub facts: Vec<CheckFact>,
}

/// The outcome of a check, without its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    /// No problem was found.
    Passed,
    /// A problem was found.
    Failed,
    /// It is made while the plan runs.
    Deferred,
    /// It was not made, because an earlier check failed or a document can't be read.
    Skipped,
}

impl CheckRecord {
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
    /// Creates a fact, with a place or without one.
    pub(super) fn new(text: impl Into<String>, place: impl Into<Option<Place>>) -> Self {
        Self {
            text: text.into(),
            place: place.into(),
        }
    }
}

/// Returns the reason why a check was skipped.
pub(super) fn skipped<C>(cause: SkipCause<C>, name: impl Fn(C) -> &'static str) -> CheckFact {
    let text = match cause {
        SkipCause::Failed(check) => format!("skipped, because the check `{}` failed", name(check)),
        SkipCause::Unreadable(source) => {
            format!("skipped, because `{}` can't be read", source.usual_name())
        }
    };
    CheckFact::new(text, None)
}
