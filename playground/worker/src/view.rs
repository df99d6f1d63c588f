//! The views that are answered when they are open.

use crate::{convert, health};
use agent_api::decide::{Failures, Matching, Rejection, Resolution};
use agent_api::diagnostic::Code;
use agent_api::explain::{self, Verdict};
use agent_api::model::{Constraints, Residency, Sensitivity, ServerView, ToolView};
use agent_api::render;
use agent_api::text::{Span, Spanned};
use agent_protocol as shown;
use agent_protocol::MatrixRow;
use std::cmp::Reverse;

/// The largest list, and the highest window of the matrix, that is answered: what a page asks for
/// is bounded whatever it asks.
const LIMIT: usize = 1000;

/// The largest explanation that is written, in entries: some 30 MB of text.
const RESOLUTION_LIMIT: usize = 200_000;

/// A requirement by what it is of. The page counts those of categories first.
#[derive(Clone, Copy)]
enum Asked {
    Category(usize),
    Capability(usize),
}

fn requirement(resolution: &Resolution, number: u32) -> Option<Asked> {
    let number = number as usize;
    let categories = resolution.outcomes().len();
    match number.checked_sub(categories) {
        None => Some(Asked::Category(number)),
        Some(number) => (number < resolution.matching().len()).then_some(Asked::Capability(number)),
    }
}

/// All requirements, or those of capabilities alone.
fn requirements(resolution: &Resolution, tools: bool) -> impl Iterator<Item = Asked> {
    let categories = if tools {
        0
    } else {
        resolution.outcomes().len()
    };
    let capabilities = (0..resolution.matching().len()).map(Asked::Capability);
    (0..categories).map(Asked::Category).chain(capabilities)
}

/// The rows that there are, kept for as long as neither filter nor inputs change: ranks of servers,
/// or numbers of tools.
pub(crate) struct Rows {
    filter: shown::Filter,
    numbers: Vec<u32>,
}

/// What a row is of.
#[derive(Clone, Copy)]
enum RowOf<'i> {
    Server(ServerView<'i>),
    Tool(ToolView<'i>),
}

impl<'i> RowOf<'i> {
    fn new(resolution: &'i Resolution, tools: bool, number: u32) -> Self {
        if tools {
            Self::Tool(resolution.index().tool(number))
        } else {
            Self::Server(resolution.index().server(number))
        }
    }

    fn server(self) -> ServerView<'i> {
        match self {
            Self::Server(server) => server,
            Self::Tool(tool) => tool.server(),
        }
    }

    fn tool(self) -> Option<&'i str> {
        match self {
            Self::Server(_) => None,
            Self::Tool(tool) => Some(tool.name()),
        }
    }
}

/// A window of the matrix.
pub(crate) fn matrix(
    resolution: &Resolution,
    ask: shown::MatrixRequest,
    kept: &mut Option<Rows>,
) -> shown::Matrix {
    let tools = ask.filter.tools;
    let row = |number| RowOf::new(resolution, tools, number);
    let rows = match kept.take() {
        Some(rows) if rows.filter == ask.filter => rows,
        _ => {
            let index = resolution.index();
            let fits = |number: &u32| fits(resolution, &ask.filter, row(*number));
            let numbers = if tools {
                (0..index.tool_count() as u32).filter(fits).collect()
            } else {
                index.by_name().iter().copied().filter(fits).collect()
            };
            Rows {
                numbers,
                filter: ask.filter,
            }
        }
    };
    let shown = shown::Matrix {
        total: rows.numbers.len() as u32,
        offset: ask.offset,
        rows: rows
            .numbers
            .iter()
            .skip(ask.offset as usize)
            .take((ask.limit as usize).min(LIMIT))
            .map(|number| {
                let row = row(*number);
                MatrixRow {
                    server: convert::server_name(row.server()),
                    tool: row.tool().map(str::to_owned),
                    cells: requirements(resolution, tools)
                        .map(|asked| cell(resolution, asked, row))
                        .collect(),
                }
            })
            .collect(),
    };
    *kept = Some(rows);
    shown
}

fn cell(resolution: &Resolution, asked: Asked, row: RowOf<'_>) -> u16 {
    let (failures, selected) = match (asked, row) {
        (Asked::Category(number), row) => {
            let server = row.server();
            let selected = resolution.selected(number);
            (
                resolution.failures(number, server),
                selected.is_some_and(|selected| selected.rank() == server.rank()),
            )
        }
        (Asked::Capability(number), RowOf::Tool(tool)) => {
            let matching = resolution.matching();
            let selected = matching.selected(number);
            (
                matching.failures(number, tool),
                selected.is_some_and(|selected| selected.number() == tool.number()),
            )
        }
        (Asked::Capability(number), RowOf::Server(server)) => {
            return match best_tool(resolution.matching(), number, server) {
                Some(tool) => cell(resolution, asked, RowOf::Tool(tool)),
                // What has no tools is able to do nothing.
                None => Failures::from_iter([Code::MissingCapability]).bits(),
            };
        }
    };
    failures.bits() | if selected { MatrixRow::SELECTED } else { 0 }
}

/// The tool of a server that gets furthest: the selected one, an eligible one, the one that fails
/// the latest check, the one that fails the fewest; of equal ones the first by name.
fn best_tool<'i>(
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

/// Whether a name has a part. Names are short: what the library searches long texts with would be a
/// kilobyte of the module.
fn has(name: &str, part: &str) -> bool {
    part.is_empty()
        || name
            .as_bytes()
            .windows(part.len())
            .any(|window| window == part.as_bytes())
}

fn fits(resolution: &Resolution, filter: &shown::Filter, row: RowOf<'_>) -> bool {
    let named =
        has(row.server().id(), &filter.id) || row.tool().is_some_and(|tool| has(tool, &filter.id));
    if !named {
        return false;
    }
    if filter.bits == 0 {
        return true;
    }
    let fits = |asked| match cell(resolution, asked, row) {
        0 => filter.bits & MatrixRow::ELIGIBLE != 0,
        bits => filter.bits & bits != 0,
    };
    match filter.requirement {
        Some(number) => requirement(resolution, number).is_some_and(fits),
        None => requirements(resolution, filter.tools).any(fits),
    }
}

/// The whole story of a server, or of a tool of it, for a requirement.
pub(crate) fn story(
    resolution: &Resolution,
    ask: &shown::ExplanationRequest,
) -> Option<shown::Explanation> {
    let asked = requirement(resolution, ask.requirement)?;
    let server = resolution
        .index()
        .versions(&ask.server.id)
        .find(|server| server.version() == ask.server.version)?;
    let number = match asked {
        Asked::Category(number) => return Some(tell(resolution, number, server)),
        Asked::Capability(number) => number,
    };
    let tool = match &ask.tool {
        Some(name) => Some(server.tool(name)?),
        None => best_tool(resolution.matching(), number, server),
    };
    Some(match tool {
        Some(tool) => tell_tool(resolution, number, tool),
        None => tell_none(resolution, number, server),
    })
}

/// The story of a tool for a requirement of a capability.
pub(crate) fn tell_tool(
    resolution: &Resolution,
    number: usize,
    tool: ToolView<'_>,
) -> shown::Explanation {
    let matching = resolution.matching();
    let server = tool.server();
    let story = explain::explain_tool(matching, number, tool);
    let (verdict, near) = match &story.verdict {
        Verdict::Selected => (shown::CandidateVerdict::Selected, None),
        Verdict::Eligible(lost_on) => (
            shown::CandidateVerdict::Eligible(explain::lost(*lost_on).to_owned()),
            None,
        ),
        Verdict::Rejected(near) => (shown::CandidateVerdict::Rejected, Some(near)),
    };
    let others = server
        .tools()
        .filter(|other| other.number() != tool.number());
    shown::Explanation {
        requirement: (resolution.outcomes().len() + number) as u32,
        server: convert::server(server),
        tool: Some(convert::tool_entry(tool)),
        others: others.map(|other| other.name().to_owned()).collect(),
        verdict,
        checks: story
            .checks
            .iter()
            .map(|check| {
                let asked_at = check.required_at.as_ref().map(convert::place);
                // A snapshot says how a server does, and asks for nothing.
                let (asked_at, offered_at) = match check.code {
                    Code::HealthVeto => (None, asked_at),
                    Code::MissingCapability | Code::ConstraintUnmet | Code::ForbiddenAction => {
                        (asked_at, Some(convert::place(&tool.place())))
                    }
                    code => {
                        let offered_at = explain::offered_at(server, code);
                        (asked_at, offered_at.as_ref().map(convert::place))
                    }
                };
                shown::Check {
                    asked_at,
                    offered_at,
                    ..self::check(check)
                }
            })
            .collect(),
        reasons: near
            .map(|near| convert::reasons(near.reasons.as_slice()))
            .unwrap_or_default(),
        fixes: near
            .map(|near| convert::tool_fixes(matching, server, &near.fixes))
            .unwrap_or_default(),
        health: Some(health::switch(matching, server)),
    }
}

/// The story of a server without tools for a requirement of a capability.
fn tell_none(resolution: &Resolution, number: usize, server: ServerView<'_>) -> shown::Explanation {
    let matching = resolution.matching();
    let requirement = matching.requirement(number);
    let reason = Rejection::MissingCapability {
        offered: Vec::new(),
    };
    shown::Explanation {
        requirement: (resolution.outcomes().len() + number) as u32,
        server: convert::server(server),
        tool: None,
        others: Vec::new(),
        verdict: shown::CandidateVerdict::Rejected,
        checks: vec![shown::Check {
            code: reason.code().name().to_owned(),
            name: explain::check_name(reason.code()).to_owned(),
            required: Some(requirement.capability.pair()),
            offered: String::new(),
            passed: false,
            asked_at: Some(convert::place(
                &matching.place(number, requirement.verb_span),
            )),
            offered_at: None,
        }],
        reasons: convert::reasons(&[reason]),
        fixes: Vec::new(),
        health: None,
    }
}

fn check(check: &explain::CandidateCheck) -> shown::Check {
    shown::Check {
        code: check.code.name().to_owned(),
        name: explain::check_name(check.code).to_owned(),
        required: check.required.clone(),
        offered: check.offered.clone(),
        passed: check.passed,
        asked_at: check.required_at.as_ref().map(convert::place),
        offered_at: None,
    }
}

/// The story of a server for a requirement.
pub(crate) fn tell(
    resolution: &Resolution,
    number: usize,
    server: ServerView<'_>,
) -> shown::Explanation {
    let story = explain::explain_server(resolution, number, server);
    let (verdict, near) = match &story.verdict {
        Verdict::Selected => (shown::CandidateVerdict::Selected, None),
        Verdict::Eligible(lost_on) => (
            shown::CandidateVerdict::Eligible(explain::lost(*lost_on).to_owned()),
            None,
        ),
        Verdict::Rejected(near) => (shown::CandidateVerdict::Rejected, Some(near)),
    };
    shown::Explanation {
        requirement: number as u32,
        server: convert::server(server),
        tool: None,
        others: Vec::new(),
        verdict,
        checks: story
            .checks
            .iter()
            .map(|check| shown::Check {
                offered_at: explain::offered_at(server, check.code)
                    .as_ref()
                    .map(convert::place),
                ..self::check(check)
            })
            .collect(),
        reasons: near
            .map(|near| convert::reasons(near.reasons.as_slice()))
            .unwrap_or_default(),
        fixes: near
            .map(|near| convert::fixes(resolution, number, server, &near.fixes, true))
            .unwrap_or_default(),
        health: None,
    }
}

/// The checks of a stage of the funnel, of which there is one for each but the policy.
fn stage(asked: Asked, number: u8) -> Option<&'static [Code]> {
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
    let mut stages = first.into_iter().chain(OF_BOTH).chain(last.iter().copied());
    stages.nth(number.into())
}

/// The servers or tools that a check of the funnel holds back: those that pass all checks before
/// it.
pub(crate) fn fallen(
    resolution: &Resolution,
    ask: shown::RejectedRequest,
) -> Option<shown::Listed<shown::Rejected>> {
    let asked = requirement(resolution, ask.requirement)?;
    let codes = stage(asked, ask.check)?;
    let at_this = |failures: Failures| failures.first().is_some_and(|first| codes.contains(&first));
    let limit = (ask.limit as usize).min(LIMIT);
    let mut listed = shown::Listed {
        requirement: ask.requirement,
        total: 0,
        items: Vec::new(),
    };
    let mut list =
        |server, tool: Option<ToolView<'_>>, reasons: &dyn Fn() -> Vec<shown::Reason>| {
            listed.total += 1;
            if listed.items.len() < limit {
                listed
                    .items
                    .extend(reasons().into_iter().next().map(|reason| shown::Rejected {
                        server: convert::server_name(server),
                        tool: tool.map(|tool| tool.name().to_owned()),
                        reason,
                    }));
            }
        };
    match asked {
        Asked::Category(number) => {
            for server in resolution.rejected(number) {
                if at_this(resolution.failures(number, server)) {
                    list(server, None, &|| match resolution.near(number, server) {
                        Some(near) => convert::reasons(near.reasons.as_slice()),
                        None => Vec::new(),
                    });
                }
            }
        }
        Asked::Capability(number) => {
            let matching = resolution.matching();
            for tool in matching.rejected(number) {
                if at_this(matching.failures(number, tool)) {
                    list(tool.server(), Some(tool), &|| {
                        convert::reasons(&matching.reasons(number, tool))
                    });
                }
            }
        }
    }
    Some(listed)
}

/// The eligible servers or tools of a requirement that were not selected.
pub(crate) fn eligible(
    resolution: &Resolution,
    ask: shown::ListRequest,
) -> Option<shown::Listed<shown::Eligible>> {
    let limit = (ask.limit as usize).min(LIMIT);
    let mut listed = shown::Listed {
        requirement: ask.requirement,
        total: 0,
        items: Vec::new(),
    };
    let mut list = |one: &dyn Fn() -> shown::Eligible| {
        listed.total += 1;
        if listed.items.len() < limit {
            listed.items.push(one());
        }
    };
    match requirement(resolution, ask.requirement)? {
        Asked::Category(number) => {
            let mut eligible = resolution.eligible(number);
            let selected = eligible.next()?;
            for server in eligible {
                list(&|| convert::eligible(selected, server));
            }
        }
        Asked::Capability(number) => {
            let matching = resolution.matching();
            let mut eligible = matching.eligible(number);
            let selected = eligible.next()?;
            for tool in eligible {
                list(&|| convert::eligible_tool(matching, selected, tool));
            }
        }
    }
    Some(listed)
}

/// The verdicts under other constraints. A word that no file may hold counts as absent.
pub(crate) fn supposed(resolution: &Resolution, asked: &shown::Constraints) -> shown::Supposed {
    let spanned = |span| move |value| Spanned { value, span };
    let nowhere = Span::default();
    let supposed = resolution.suppose(Constraints {
        forbid: resolution.constraints().forbid.clone(),
        require_signed: asked.require_signed.then_some(Spanned {
            value: true,
            span: nowhere,
        }),
        residency: asked
            .residency
            .as_deref()
            .and_then(Residency::parse)
            .map(spanned(nowhere)),
        sensitivity: asked
            .sensitivity
            .as_deref()
            .and_then(Sensitivity::parse)
            .map(|value| Spanned {
                value,
                span: nowhere,
            }),
    });
    let requirement = |asked| {
        let (now, now_tool, now_eligible) = winner(resolution, asked);
        let (then, then_tool, then_eligible) = winner(&supposed, asked);
        let (name, tools) = match asked {
            Asked::Category(number) => {
                let category = &resolution.manifest().requirements[number].category;
                (category.value.to_string(), false)
            }
            Asked::Capability(number) => {
                let requirement = resolution.matching().requirement(number);
                (requirement.capability.pair(), true)
            }
        };
        shown::SupposedRequirement {
            name,
            tools,
            now,
            now_tool,
            now_eligible,
            then,
            then_tool,
            then_eligible,
        }
    };
    shown::Supposed {
        requirements: requirements(resolution, false).map(requirement).collect(),
    }
}

/// The server that is selected, which of its tools, and how many are eligible.
fn winner(
    resolution: &Resolution,
    asked: Asked,
) -> (Option<shown::ServerName>, Option<String>, u32) {
    match asked {
        Asked::Category(number) => (
            resolution.selected(number).map(convert::server_name),
            None,
            resolution.funnel(number).signature,
        ),
        Asked::Capability(number) => {
            let matching = resolution.matching();
            let tool = matching.selected(number);
            (
                tool.map(|tool| convert::server_name(tool.server())),
                tool.map(|tool| tool.name().to_owned()),
                matching.eligible(number).count() as u32,
            )
        }
    }
}

/// The text of `agents.resolution.json`, or why there is none.
pub(crate) fn resolution(resolution: &Resolution) -> Result<String, String> {
    let index = resolution.index();
    let entries = index.len() * resolution.outcomes().len()
        + index.tool_count().max(index.len()) * resolution.matching().len();
    if entries > RESOLUTION_LIMIT {
        return Err(format!(
            "the explanation has {entries} entries, and at most {RESOLUTION_LIMIT} are written \
             here: use `agent resolve`"
        ));
    }
    render::resolution(resolution).map_err(|problem| problem.message)
}
