//! The rejected and the eligible candidates of a requirement.

use super::LIMIT;
use super::convert::{eligible_server, eligible_tool, reasons, server_name};
use super::requirement::{Asked, requirement};
use agent_answer::{Eligible, Listed, Reason, Rejected};
use agent_decide::{Failures, Resolution};
use agent_diagnostic::Code;
use agent_model::{ServerView, ToolView};

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

/// Returns the codes of a check of the funnel. Only the policy's check has two.
fn codes(asked: Asked, check: u8) -> Option<&'static [Code]> {
    const OF_CATEGORY: [&[Code]; 2] = [&[Code::MissingCategory], &[Code::MissingScope]];
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
    let (first, last) = match asked {
        Asked::Category(_) => (OF_CATEGORY, &[][..]),
        Asked::Capability(_) => (OF_CAPABILITY, &LAST[..]),
    };
    let mut checks = first.into_iter().chain(OF_BOTH).chain(last.iter().copied());
    checks.nth(check.into())
}

/// Lists the candidates that pass all checks of the funnel before this one, and fail it. Returns `None`
/// if there is no such requirement or check.
pub fn rejected(
    resolution: &Resolution,
    number: u32,
    check: u8,
    limit: u32,
) -> Option<Listed<Rejected>> {
    let asked = requirement(resolution, number)?;
    let codes = codes(asked, check)?;
    let at_this = |failures: Failures| failures.first().is_some_and(|first| codes.contains(&first));
    let mut list = List::new(number, limit);
    let item = |server: ServerView<'_>, tool: Option<ToolView<'_>>, reasons: Vec<Reason>| {
        let reason = reasons.into_iter().next()?;
        Some(Rejected {
            server: server_name(server),
            tool: tool.map(|tool| tool.name().to_owned()),
            reason,
        })
    };
    match asked {
        Asked::Category(number) => {
            let all = resolution.rejected(number);
            for server in all.filter(|it| at_this(resolution.failures(number, *it))) {
                list.add(|| {
                    let near = resolution.near(number, server)?;
                    item(server, None, reasons(near.reasons.as_slice()))
                });
            }
        }
        Asked::Capability(number) => {
            let matching = resolution.matching();
            let all = matching.rejected(number);
            for tool in all.filter(|it| at_this(matching.failures(number, *it))) {
                let server = tool.server();
                list.add(|| item(server, Some(tool), reasons(&matching.reasons(number, tool))));
            }
        }
    }
    Some(list.listed)
}

/// Lists the eligible candidates that were not selected, in order of preference. Returns `None` if there
/// is no such requirement, or no candidate is eligible.
pub fn eligible(resolution: &Resolution, number: u32, limit: u32) -> Option<Listed<Eligible>> {
    let mut list = List::new(number, limit);
    match requirement(resolution, number)? {
        Asked::Category(number) => {
            let mut eligible = resolution.eligible(number);
            let selected = eligible.next()?;
            eligible.for_each(|it| list.add(|| Some(eligible_server(selected, it))));
        }
        Asked::Capability(number) => {
            let matching = resolution.matching();
            let mut eligible = matching.eligible(number);
            let selected = eligible.next()?;
            eligible.for_each(|it| list.add(|| Some(eligible_tool(matching, selected, it))));
        }
    }
    Some(list.listed)
}
