//! Requirements by their numbers, and their candidates.

use agent_decide::{Failures, Matching, Resolution};
use agent_diagnostic::Code;
use agent_explain::Decision;
use agent_model::{ServerView, ToolView};
use std::cmp::Reverse;

/// Returns the decision on a requirement. The numbers of categories are first.
pub(super) fn requirement(resolution: &Resolution, number: u32) -> Option<Decision<'_>> {
    Decision::all(resolution).nth(number as usize)
}

/// Returns the number of the requirement of a decision.
pub(super) fn number(resolution: &Resolution, decision: Decision<'_>) -> u32 {
    let before = match decision {
        Decision::Category(..) => 0,
        Decision::Capability(..) => resolution.outcomes().len(),
    };
    (before + decision.number()) as u32
}

/// Returns the decisions on all requirements, or on those of capabilities alone.
pub(super) fn requirements(
    resolution: &Resolution,
    tools: bool,
) -> impl Iterator<Item = Decision<'_>> {
    Decision::all(resolution).skip(if tools {
        resolution.outcomes().len()
    } else {
        0
    })
}

/// Returns the codes of each check of the funnel. Only the policy's check has two.
pub(super) fn checks(decision: Decision<'_>) -> impl Iterator<Item = &'static [Code]> {
    const OF_CATEGORY: [&[Code]; 2] = [&[Code::MissingCategory], &[Code::MissingScope]];
    const WITH_TOOLS: [&[Code]; 3] = [
        &[Code::MissingCategory],
        &[Code::ToolMissing],
        &[Code::MissingScope],
    ];
    const OF_CAPABILITY: [&[Code]; 2] = [&[Code::MissingCapability], &[Code::ConstraintUnmet]];
    const OF_BOTH: [&[Code]; 3] = [
        &[Code::ResidencyMismatch],
        &[Code::SensitivityExceeded],
        &[Code::UnsignedNotAllowed],
    ];
    const LAST: [&[Code]; 3] = [
        &[Code::ForbiddenAction],
        &[Code::PolicyDenied, Code::PolicyError],
        &[Code::HealthVeto],
    ];
    const WITH_TEXT: [&[Code]; 4] = [LAST[0], &[Code::InvisibleCharacter], LAST[1], LAST[2]];
    let (first, last) = match decision {
        Decision::Category(..) if decision.only().is_empty() => (&OF_CATEGORY[..], &[][..]),
        Decision::Category(..) => (&WITH_TOOLS[..], &[][..]),
        Decision::Capability(matching, number) if matching.hides_text(number) => {
            (&OF_CAPABILITY[..], &WITH_TEXT[..])
        }
        Decision::Capability(..) => (&OF_CAPABILITY[..], &LAST[..]),
    };
    first
        .iter()
        .copied()
        .chain(OF_BOTH)
        .chain(last.iter().copied())
}

/// Returns the best tool of a server: the selected one, an eligible one, the one that fails the latest
/// check, the one that fails the fewest. Of equal ones, it is the first by name.
pub(super) fn best_tool<'i>(
    matching: &Matching,
    number: usize,
    server: ServerView<'i>,
) -> Option<ToolView<'i>> {
    let selected = matching.selected(number).map(ToolView::number);
    server.tools().min_by_key(|tool| {
        let failures = matching.failures(number, *tool);
        let first = Failures::CHECKS
            .iter()
            .position(|code| Some(*code) == failures.first());
        let first = first.unwrap_or(Failures::CHECKS.len());
        (
            selected != Some(tool.number()),
            Reverse(first),
            failures.len(),
        )
    })
}
