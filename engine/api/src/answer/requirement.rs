//! Requirements by their numbers.

use agent_decide::{Failures, Matching, Resolution};
use agent_model::{ServerView, ToolView};
use std::cmp::Reverse;

/// A requirement, by its kind. Numbers of an answer count those of categories first.
#[derive(Clone, Copy)]
pub(super) enum Asked {
    Category(usize),
    Capability(usize),
}

pub(super) fn requirement(resolution: &Resolution, number: u32) -> Option<Asked> {
    let number = number as usize;
    let categories = resolution.outcomes().len();
    match number.checked_sub(categories) {
        None => Some(Asked::Category(number)),
        Some(number) => (number < resolution.matching().len()).then_some(Asked::Capability(number)),
    }
}

/// Returns all requirements, or those of capabilities alone.
pub(super) fn requirements(resolution: &Resolution, tools: bool) -> impl Iterator<Item = Asked> {
    let categories = if tools {
        0
    } else {
        resolution.outcomes().len()
    };
    let capabilities = (0..resolution.matching().len()).map(Asked::Capability);
    (0..categories).map(Asked::Category).chain(capabilities)
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
