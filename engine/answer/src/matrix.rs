//! Requirements × servers.

use crate::ServerName;
use serde::{Deserialize, Serialize};

/// A filter of rows. A row must match every condition that is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// A part of the id, or of the tool's name.
    pub id: String,
    /// Whether each tool has a row, instead of each server.
    pub tools: bool,
    /// Bits of [`MatrixRow::cells`], of which a cell must have one; 0 for any cell.
    pub bits: u16,
    /// The only requirement whose cell counts.
    pub requirement: Option<u32>,
    /// Whether the rows are ordered by id, version and tool, instead of nearest first.
    pub by_name: bool,
}

/// A window of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// Number of rows that match the filter.
    pub total: u32,
    /// Number of rows before the window.
    pub offset: u32,
    /// The rows. Those nearest to a yes are first, by the cell that counts, or the best one: selected,
    /// eligible, the latest failed check, the fewest failed checks; among equals by id, version and tool.
    pub rows: Vec<MatrixRow>,
}

/// A server or a tool in the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixRow {
    /// The server.
    pub server: ServerName,
    /// The tool, if each tool has a row.
    pub tool: Option<String>,
    /// For each requirement a set of bits: one for each failed check, in the order of the checks, and
    /// [`Self::SELECTED`]. An eligible candidate has no reason. In a row of a server, the cell of a
    /// capability requirement is that of the server's best tool. Rows of tools have cells for
    /// capability requirements only.
    pub cells: Vec<u16>,
}

impl MatrixRow {
    /// Number of checks.
    pub const CHECKS: usize = 13;

    /// The bit of a selected server or tool.
    pub const SELECTED: u16 = 1 << Self::CHECKS;

    /// The bit that stands in a filter for cells without any bit.
    pub const ELIGIBLE: u16 = 1 << (Self::CHECKS + 1);

    /// The bits of the checks.
    pub const FAILED: u16 = (1 << Self::CHECKS) - 1;
}
