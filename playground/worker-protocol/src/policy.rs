//! The policy at work, as the worker words it: most visits load no code for that.

use agent_answer::Place;
use serde::{Deserialize, Serialize};

/// The policy at work for one requirement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyView {
    /// The number of the requirement.
    pub requirement: u32,
    /// The values of the rules, their part in the decision, and the evaluations.
    pub tables: Vec<Table>,
    /// The values of the input, each as a text that tries it: its JSON pointer, a space, and the value.
    pub values: Vec<String>,
    /// The heading of the input, which says if it is cut off.
    pub input_title: String,
    /// The input as JSON; cut off if it is large.
    pub input: String,
}

/// A table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Its heading.
    pub title: String,
    /// The names of its columns.
    pub head: Vec<String>,
    /// Its cells, row by row. The first of a row is the row's name.
    pub cells: Vec<Cell>,
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
