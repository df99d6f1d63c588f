//! Requirements × servers.

use super::LIMIT;
use super::convert::{server_name, tool_name};
use super::requirement::{best_tool, requirement, requirements};
use agent_answer::{Filter, Matrix, MatrixRow};
use agent_decide::{Failures, Resolution};
use agent_diagnostic::Code;
use agent_explain::{Candidate, Decision};
use agent_model::ServerView;

/// The rows that match a filter: ranks of servers, or numbers of tools. A caller keeps them for as long
/// as the inputs don't change.
#[derive(Debug)]
pub struct Rows {
    filter: Filter,
    numbers: Vec<u32>,
}

/// Returns a window of the matrix, of at most [`LIMIT`] rows.
pub fn matrix(
    resolution: &Resolution,
    filter: Filter,
    offset: u32,
    limit: u32,
    kept: &mut Option<Rows>,
) -> Matrix {
    let tools = filter.tools;
    let index = resolution.index();
    let row = |number| match tools {
        true => Candidate::Tool(index.tool(number)),
        false => Candidate::Server(index.server(number)),
    };
    let rows = match kept.take() {
        Some(rows) if rows.filter == filter => rows,
        _ => {
            let fits = |number: &u32| fits(resolution, &filter, row(*number));
            let mut numbers: Vec<_> = if tools {
                (0..index.tool_count() as u32).filter(fits).collect()
            } else {
                index.by_name().iter().copied().filter(fits).collect()
            };
            if !filter.by_name {
                let mut nearest = vec![Vec::new(); FARTHEST + 1];
                for number in numbers {
                    let distance = distance(resolution, &filter, row(number));
                    nearest[distance].push(number);
                }
                numbers = nearest.concat();
            }
            Rows { numbers, filter }
        }
    };
    let window = Matrix {
        total: rows.numbers.len() as u32,
        offset,
        rows: rows
            .numbers
            .iter()
            .skip(offset as usize)
            .take((limit as usize).min(LIMIT))
            .map(|number| {
                let row = row(*number);
                MatrixRow {
                    server: server_name(row.server()),
                    tool: tool_name(row),
                    cells: requirements(resolution, tools)
                        .map(|decision| cell(decision, row))
                        .collect(),
                }
            })
            .collect(),
    };
    *kept = Some(rows);
    window
}

fn cell(decision: Decision<'_>, candidate: Candidate<'_>) -> u16 {
    let server = candidate.server();
    let (failures, selected) = match decision {
        Decision::Category(resolution, number) => (
            resolution.failures(number, server),
            resolution.selected(number).map(ServerView::rank) == Some(server.rank()),
        ),
        Decision::Capability(matching, number) => {
            let tool = candidate.tool();
            let Some(tool) = tool.or_else(|| best_tool(matching, number, server)) else {
                // A server without tools has no capability.
                return Failures::from_iter([Code::MissingCapability]).bits();
            };
            (
                matching.failures(number, tool),
                matching
                    .selected_tools(number)
                    .iter()
                    .any(|it| it.number() == tool.number()),
            )
        }
    };
    failures.bits() | if selected { MatrixRow::SELECTED } else { 0 }
}

/// The distance of a row without cells: more than that of any failure.
const FARTHEST: usize = 17 << 4;

/// Returns how far a row is from a yes, by the only cell that counts or the best one.
fn distance(resolution: &Resolution, filter: &Filter, row: Candidate<'_>) -> usize {
    let distance = |decision| match cell(decision, row) {
        bits if bits & MatrixRow::SELECTED != 0 => 0,
        // The later the first failed check, the nearer; an eligible row fails none of 16.
        bits => ((16 - bits.trailing_zeros()) << 4 | bits.count_ones()) as usize + 1,
    };
    let chosen = filter
        .requirement
        .map(|number| requirement(resolution, number));
    match chosen {
        Some(decision) => decision.map(distance),
        None => requirements(resolution, filter.tools).map(distance).min(),
    }
    .unwrap_or(FARTHEST)
}

/// Returns whether a name contains a part. Names are short, and the standard library's search for long
/// texts would be a kilobyte of a browser's module.
fn contains(name: &str, part: &str) -> bool {
    part.is_empty()
        || name
            .as_bytes()
            .windows(part.len())
            .any(|window| window == part.as_bytes())
}

fn fits(resolution: &Resolution, filter: &Filter, row: Candidate<'_>) -> bool {
    let named = contains(row.server().id(), &filter.id)
        || row
            .tool()
            .is_some_and(|tool| contains(tool.name(), &filter.id));
    if !named {
        return false;
    }
    if filter.bits == 0 {
        return true;
    }
    let fits = |decision| match cell(decision, row) {
        0 => filter.bits & MatrixRow::ELIGIBLE != 0,
        bits => filter.bits & bits != 0,
    };
    match filter.requirement {
        Some(number) => requirement(resolution, number).is_some_and(fits),
        None => requirements(resolution, filter.tools).any(fits),
    }
}
