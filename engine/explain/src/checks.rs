//! The checks that a plan was put to, and what came of each.

use agent_text::Place;

/// A check of a call or of a step, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What it is about, in a word.
    pub name: &'static str,
    /// What came of it.
    pub outcome: CheckOutcome,
    /// What was compared, or why it was not.
    pub facts: Vec<CheckFact>,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// Nothing speaks against it.
    Passed,
    /// Something does.
    Failed,
    /// It can be made only while the plan runs.
    AtRunTime,
    /// It could not be made, because of another problem.
    NotMade,
}

/// Something that is so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFact {
    /// A sentence, or a value.
    pub text: String,
    /// Where it stands.
    pub place: Option<Place>,
}

/// Why a check was not made where another one was failed.
pub(super) const NOT_MADE: &str =
    "Another check was failed, without which this one has nothing to look at.";

impl CheckFact {
    /// Something that stands nowhere.
    pub(super) fn said(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            place: None,
        }
    }

    /// Something that stands there.
    pub(super) fn at(text: impl Into<String>, place: Place) -> Self {
        Self {
            text: text.into(),
            place: Some(place),
        }
    }
}
