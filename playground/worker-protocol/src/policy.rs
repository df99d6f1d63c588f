//! The policy at work, as the worker words it: most visits load no code of the page for it.

use agent_answer::Place;
use serde::{Deserialize, Serialize};

/// The policy at work for one requirement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyView {
    /// The number of the requirement.
    pub requirement: u32,
    /// The values of the rules, their part in the decision, and the last evaluations.
    pub tables: Vec<Table>,
    /// The values of the input that can be edited, by their JSON pointers.
    pub values: Vec<(String, String)>,
    /// The input as JSON; cut off if it is large.
    pub input: String,
    /// Number of bytes of the whole input.
    pub input_bytes: u32,
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Its heading.
    pub title: String,
    /// The names of its columns.
    pub head: Vec<String>,
    /// Its rows, whose first cell is their name.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Its text.
    pub text: String,
    /// The class of the text; `value` for JSON in lines.
    pub class: String,
    /// A place in a document, below the text.
    pub place: Option<Place>,
}
