//! Steps of plans.

use super::shown;
use agent_answer::{Fact, StepCheck, StepOutcome};
use agent_explain::{CheckRecord, CheckState};

pub(super) fn check(checked: CheckRecord) -> StepCheck {
    let facts = checked.facts.into_iter().map(|fact| Fact {
        text: shown(&fact.text),
        place: fact.place,
    });
    StepCheck {
        name: checked.name.to_owned(),
        outcome: match checked.outcome {
            CheckState::Passed => StepOutcome::Passed,
            CheckState::Failed => StepOutcome::Failed,
            CheckState::Deferred => StepOutcome::Deferred,
            CheckState::Skipped => StepOutcome::Skipped,
        },
        facts: facts.collect(),
    }
}

/// Returns the obligations before a call.
pub(super) fn obligations(needs_approval: bool) -> Vec<String> {
    let approval = needs_approval.then(|| "approval".to_owned());
    approval.into_iter().collect()
}
