//! Requirements × servers.

use super::LIMIT;
use super::convert::server_name;
use super::requirement::{Asked, best_tool, requirement, requirements};
use agent_answer::{Filter, Matrix, MatrixRow};
use agent_decide::{Failures, Resolution};
use agent_diagnostic::Code;
use agent_model::{ServerView, ToolView};

/// The rows that match a filter: ranks of servers, or numbers of tools. A caller keeps them for as long
/// as the inputs don't change.
#[derive(Debug)]
pub struct Rows {
    filter: Filter,
    numbers: Vec<u32>,
}

/// The subject of a row.
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

/// Returns a window of the matrix, of at most [`LIMIT`] rows.
pub fn matrix(
    resolution: &Resolution,
    filter: Filter,
    offset: u32,
    limit: u32,
    kept: &mut Option<Rows>,
) -> Matrix {
    let tools = filter.tools;
    let row = |number| RowOf::new(resolution, tools, number);
    let rows = match kept.take() {
        Some(rows) if rows.filter == filter => rows,
        _ => {
            let index = resolution.index();
            let fits = |number: &u32| fits(resolution, &filter, row(*number));
            let numbers = if tools {
                (0..index.tool_count() as u32).filter(fits).collect()
            } else {
                index.by_name().iter().copied().filter(fits).collect()
            };
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
                    tool: row.tool().map(str::to_owned),
                    cells: requirements(resolution, tools)
                        .map(|asked| cell(resolution, asked, row))
                        .collect(),
                }
            })
            .collect(),
    };
    *kept = Some(rows);
    window
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
                // A server without tools has no capability.
                None => Failures::from_iter([Code::MissingCapability]).bits(),
            };
        }
    };
    failures.bits() | if selected { MatrixRow::SELECTED } else { 0 }
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

fn fits(resolution: &Resolution, filter: &Filter, row: RowOf<'_>) -> bool {
    let named = contains(row.server().id(), &filter.id)
        || row.tool().is_some_and(|tool| contains(tool, &filter.id));
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
