//! The rejected and the eligible candidates of a requirement.

use super::LIMIT;
use super::convert::{self, server_name, tool_name};
use super::requirement::{checks, requirement};
use agent_answer::{Eligible, Listed, Rejected};
use agent_decide::{Failures, Rejection, Resolution};
use agent_diagnostic::Code;
use agent_explain::{Candidate, Decision};

/// A list that counts all items and keeps the first.
struct List<T> {
    limit: usize,
    listed: Listed<T>,
}

impl<T> List<T> {
    fn new(requirement: u32, limit: u32) -> Self {
        Self {
            limit: (limit as usize).min(LIMIT),
            listed: Listed {
                requirement,
                total: 0,
                items: Vec::new(),
            },
        }
    }

    fn add(&mut self, item: impl FnOnce() -> Option<T>) {
        self.listed.total += 1;
        if self.listed.items.len() < self.limit {
            self.listed.items.extend(item());
        }
    }
}

/// Lists the candidates that pass all checks of the funnel before this one, and fail it. Returns `None`
/// if there is no such requirement or check.
pub fn rejected(
    resolution: &Resolution,
    number: u32,
    check: u8,
    limit: u32,
) -> Option<Listed<Rejected>> {
    let decision = requirement(resolution, number)?;
    let codes = checks(decision).nth(check.into())?;
    Some(rejected_by(decision, codes, number, limit))
}

/// Lists the candidates that pass all checks before the one of these codes, and fail it.
pub(super) fn rejected_by(
    decision: Decision<'_>,
    codes: &[Code],
    number: u32,
    limit: u32,
) -> Listed<Rejected> {
    let at_this = |failures: Failures| failures.first().is_some_and(|first| codes.contains(&first));
    let mut list = List::new(number, limit);
    let item = |candidate: Candidate<'_>, reasons: &[Rejection<'_>]| {
        Some(Rejected {
            server: server_name(candidate.server()),
            tool: tool_name(candidate),
            reason: convert::reasons(reasons).into_iter().next()?,
        })
    };
    match decision {
        Decision::Category(resolution, number) => {
            let all = resolution.rejected(number);
            for server in all.filter(|it| at_this(resolution.failures(number, *it))) {
                list.add(|| {
                    let near = resolution.near(number, server)?;
                    item(Candidate::Server(server), near.reasons.as_slice())
                });
            }
        }
        Decision::Capability(matching, number) => {
            let all = matching.rejected(number);
            for tool in all.filter(|it| at_this(matching.failures(number, *it))) {
                list.add(|| item(Candidate::Tool(tool), &matching.reasons(number, tool)));
            }
        }
    }
    list.listed
}

/// Lists the eligible candidates that were not selected, in order of preference. Returns `None` if there
/// is no such requirement, or no candidate is eligible.
pub fn eligible(resolution: &Resolution, number: u32, limit: u32) -> Option<Listed<Eligible>> {
    let decision = requirement(resolution, number)?;
    decision.selected()?;
    let mut list = List::new(number, limit);
    let others = decision.eligible();
    others.for_each(|it| list.add(|| convert::eligible(decision, it)));
    Some(list.listed)
}
