//! The views that are answered when they are open.

use crate::convert;
use agent_engine::decide::{Failures, Resolution};
use agent_engine::explain::{self, Verdict};
use agent_engine::model::{Constraints, Residency, Sensitivity, ServerView};
use agent_engine::render;
use agent_engine::text::{Span, Spanned};
use agent_protocol as shown;
use agent_protocol::MatrixRow;

/// The largest list, and the highest window of the matrix, that is answered: what a page asks for
/// is bounded whatever it asks.
const LIMIT: usize = 1000;

/// The largest explanation that is written, in servers times requirements: some 30 MB of text.
const RESOLUTION_LIMIT: usize = 200_000;

fn requirement(resolution: &Resolution, number: u32) -> Option<usize> {
    let number = number as usize;
    (number < resolution.outcomes().len()).then_some(number)
}

/// The servers that have a row, kept for as long as neither filter nor inputs change.
pub(crate) struct Rows {
    filter: shown::Filter,
    ranks: Vec<u32>,
}

/// A window of the matrix.
pub(crate) fn matrix(
    resolution: &Resolution,
    ask: shown::MatrixAsk,
    kept: &mut Option<Rows>,
) -> shown::Matrix {
    let rows = match kept.take() {
        Some(rows) if rows.filter == ask.filter => rows,
        _ => Rows {
            ranks: resolution
                .index()
                .by_name()
                .iter()
                .copied()
                .filter(|rank| fits(resolution, &ask.filter, resolution.index().server(*rank)))
                .collect(),
            filter: ask.filter,
        },
    };
    let shown = shown::Matrix {
        total: rows.ranks.len() as u32,
        offset: ask.offset,
        rows: rows
            .ranks
            .iter()
            .skip(ask.offset as usize)
            .take((ask.limit as usize).min(LIMIT))
            .map(|rank| {
                let server = resolution.index().server(*rank);
                MatrixRow {
                    server: convert::server_name(server),
                    cells: (0..resolution.outcomes().len())
                        .map(|number| cell(resolution, number, server))
                        .collect(),
                }
            })
            .collect(),
    };
    *kept = Some(rows);
    shown
}

fn cell(resolution: &Resolution, number: usize, server: ServerView<'_>) -> u8 {
    let selected = resolution
        .selected(number)
        .is_some_and(|selected| selected.rank() == server.rank());
    resolution.failures(number, server).bits() | if selected { MatrixRow::SELECTED } else { 0 }
}

fn fits(resolution: &Resolution, filter: &shown::Filter, server: ServerView<'_>) -> bool {
    if !server.id().contains(&filter.id) {
        return false;
    }
    if filter.bits == 0 {
        return true;
    }
    let fits = |number| match cell(resolution, number, server) {
        0 => filter.bits & MatrixRow::ELIGIBLE != 0,
        bits => filter.bits & bits != 0,
    };
    match filter.requirement {
        Some(number) => requirement(resolution, number).is_some_and(fits),
        None => (0..resolution.outcomes().len()).any(fits),
    }
}

/// The whole story of a server for a requirement.
pub(crate) fn story(resolution: &Resolution, ask: &shown::StoryAsk) -> Option<shown::Story> {
    let number = requirement(resolution, ask.requirement)?;
    let server = resolution
        .index()
        .versions(&ask.server.id)
        .find(|server| server.version() == ask.server.version)?;
    Some(tell(resolution, number, server))
}

/// The story of a server for a requirement.
pub(crate) fn tell(resolution: &Resolution, number: usize, server: ServerView<'_>) -> shown::Story {
    let story = explain::story(resolution, number, server);
    let (verdict, near) = match &story.verdict {
        Verdict::Selected => (shown::StoryVerdict::Selected, None),
        Verdict::Eligible(lost_on) => (
            shown::StoryVerdict::Eligible(explain::lost(*lost_on).to_owned()),
            None,
        ),
        Verdict::Rejected(near) => (shown::StoryVerdict::Rejected, Some(near)),
    };
    shown::Story {
        requirement: number as u32,
        server: convert::server(server),
        verdict,
        checks: story
            .checks
            .iter()
            .map(|check| shown::Check {
                code: check.code.name().to_owned(),
                name: explain::check_name(check.code).to_owned(),
                required: check.required.clone(),
                offered: check.offered.clone(),
                passed: check.passed,
                asked_at: check.asked_at.as_ref().map(convert::place),
                offered_at: explain::offered_at(server, check.code)
                    .as_ref()
                    .map(convert::place),
            })
            .collect(),
        reasons: near.map(convert::reasons).unwrap_or_default(),
        fixes: near
            .map(|near| convert::fixes(resolution, number, near, true))
            .unwrap_or_default(),
    }
}

/// The servers that a check of the funnel holds back: those that pass all checks before it.
pub(crate) fn fallen(
    resolution: &Resolution,
    ask: shown::FallenAsk,
) -> Option<shown::Listed<shown::Fallen>> {
    let number = requirement(resolution, ask.requirement)?;
    let code = *Failures::CHECKS.get(ask.check as usize)?;
    let first = |server: &ServerView<'_>| resolution.failures(number, *server).first();
    let fell: Vec<_> = resolution
        .rejected(number)
        .filter(|server| first(server) == Some(code))
        .collect();
    Some(shown::Listed {
        requirement: ask.requirement,
        total: fell.len() as u32,
        items: fell
            .into_iter()
            .take((ask.limit as usize).min(LIMIT))
            .filter_map(|server| {
                let near = resolution.near(number, server)?;
                let mut reasons = convert::reasons(&near).into_iter();
                Some(shown::Fallen {
                    server: convert::server_name(server),
                    reason: reasons.next()?,
                })
            })
            .collect(),
    })
}

/// The eligible servers of a requirement that were not selected.
pub(crate) fn eligible(
    resolution: &Resolution,
    ask: shown::ListAsk,
) -> Option<shown::Listed<shown::Eligible>> {
    let number = requirement(resolution, ask.requirement)?;
    let mut eligible = resolution.eligible(number);
    let selected = eligible.next()?;
    let limit = (ask.limit as usize).min(LIMIT);
    let items: Vec<_> = eligible
        .by_ref()
        .take(limit)
        .map(|server| convert::eligible(selected, server))
        .collect();
    Some(shown::Listed {
        requirement: ask.requirement,
        total: (items.len() + eligible.count()) as u32,
        items,
    })
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
    let name =
        |resolution: &Resolution, number| resolution.selected(number).map(convert::server_name);
    shown::Supposed {
        requirements: resolution
            .manifest()
            .requirements
            .iter()
            .enumerate()
            .map(|(number, requirement)| shown::SupposedRequirement {
                category: requirement.category.value.to_string(),
                now: name(resolution, number),
                now_eligible: resolution.funnel(number).signature,
                then: name(&supposed, number),
                then_eligible: supposed.funnel(number).signature,
            })
            .collect(),
    }
}

/// The text of `agents.resolution.json`, or why there is none.
pub(crate) fn resolution(resolution: &Resolution) -> Result<String, String> {
    let entries = resolution.index().len() * resolution.outcomes().len();
    if entries > RESOLUTION_LIMIT {
        return Err(format!(
            "the explanation has {entries} entries, and at most {RESOLUTION_LIMIT} are written \
             here: use `agent resolve`"
        ));
    }
    render::resolution(resolution).map_err(|problem| problem.message)
}
