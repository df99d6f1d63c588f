//! The evaluated parts of a value.

use crate::budget::{Budget, OverBudget};
use agent_syntax::{Node, Value};

/// A bit for each entry or item that was evaluated.
#[derive(Debug)]
pub(super) struct Evaluated(Vec<u64>);

impl Evaluated {
    /// Returns no parts of a value. Charges a step for each 64 parts.
    pub(super) fn new(node: &Node<'_>, budget: &mut Budget) -> Result<Self, OverBudget> {
        let parts = match &node.value {
            Value::Sequence(items) => items.len(),
            Value::Mapping(entries) => entries.len(),
            _ => 0,
        };
        let words = parts.div_ceil(64);
        budget.charge(words as u64)?;
        Ok(Self(vec![0; words]))
    }

    /// Adds a part.
    pub(super) fn add(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    /// Returns whether a part was added.
    pub(super) fn contains(&self, place: usize) -> bool {
        self.0[place / 64] >> (place % 64) & 1 == 1
    }

    /// Adds the parts of another set for the same value.
    pub(super) fn merge(&mut self, other: &Self, budget: &mut Budget) -> Result<(), OverBudget> {
        budget.charge(self.0.len() as u64)?;
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
        Ok(())
    }
}
