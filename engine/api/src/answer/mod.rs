//! Answers as [data](agent_answer), for pages and for programs in JavaScript.

mod call;
mod candidate;
mod convert;
#[cfg(feature = "policy")]
mod coverage;
mod difference;
#[cfg(feature = "policy")]
mod evaluation;
mod grounding;
mod health;
mod list;
mod matrix;
mod plan;
mod requirement;
#[cfg(feature = "repair")]
mod review;
mod step;
mod supposed;
mod tokens;
mod verdict;

pub use agent_answer::*;
pub use candidate::{explanation, explanations};
#[cfg(feature = "policy")]
pub use coverage::coverage;
#[cfg(feature = "policy")]
pub use evaluation::evaluation;
pub use list::{eligible, rejected};
pub use matrix::{Rows, matrix};
#[cfg(feature = "repair")]
pub use review::{ReviewSide, review};
pub use supposed::{satisfied_counts, supposed};
pub use verdict::{Inputs, problems, verdict};

/// Maximum number of items of a list, and of rows of the matrix.
pub const LIMIT: usize = 1000;

/// Maximum number of characters of a text that may be as long as a whole input.
const SHOWN: usize = 400;

/// Cuts a text after [`SHOWN`] characters.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
