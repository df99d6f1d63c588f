//! The measures and letters of the matrix.

use agent_answer::{MatrixRow, Requirement};

/// The heights of a row in pixels, by zoom. The style sheet has the same.
pub(super) const ROW: [u32; 3] = [14, 22, 32];

/// The letters of the checks in a cell, in their order.
pub(super) const LETTERS: [&str; MatrixRow::CHECKS] = [
    "C", "T", "S", "A", "L", "R", "D", "U", "F", "I", "P", "E", "H",
];

/// Returns the number of requirements of categories, which come first.
pub(super) fn categories(requirements: &[Requirement]) -> u32 {
    let of_category = |requirement: &&Requirement| requirement.category.is_some();
    requirements.iter().take_while(of_category).count() as u32
}
