//! The budget of compilations and checks: counted, never measured, so that a verdict is the same
//! on every machine.

use agent_text::Likeness;

/// Steps of a [`Budget`]. A step is some 25 ns of native work: the evaluation of a keyword, the
/// comparison of a value, or the inspection of a few bytes of a string.
pub const STEP_LIMIT: u64 = 2_000_000;

/// Bytes of a text that are read in a step.
const BYTES_PER_STEP: u64 = 8;

/// Maximum depth of nested evaluations of subschemas. An instance is at most 128 values deep, so
/// deeper evaluations are circular, or nearly.
pub const EVALUATION_DEPTH_LIMIT: u32 = 512;

/// The reason why an evaluation ended without a verdict. Callers must then refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverBudget {
    /// The evaluation exceeds the steps.
    Steps,
    /// The evaluation exceeds [`EVALUATION_DEPTH_LIMIT`].
    Depth,
}

impl OverBudget {
    /// Returns the reason in a few words, without a final stop.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Steps => "the schema takes too many steps",
            Self::Depth => "the schema refers to itself without end",
        }
    }
}

/// The remaining steps. One budget may serve several compilations and checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    left: u64,
    limit: u64,
    likeness: Likeness,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

impl Budget {
    /// Returns a budget of [`STEP_LIMIT`] steps.
    pub fn new() -> Self {
        Self::of(STEP_LIMIT)
    }

    /// Returns a budget of a number of steps.
    pub fn of(steps: u64) -> Self {
        Self {
            left: steps,
            limit: steps,
            likeness: Likeness::new(),
        }
    }

    /// Returns the search for similar names. It has its own budget, because no verdict depends on
    /// it.
    pub fn likeness(&mut self) -> &mut Likeness {
        &mut self.likeness
    }

    /// Charges for reading a text that was read before, because a caller may read it repeatedly.
    ///
    /// # Errors
    /// The remaining steps do not suffice.
    pub fn read(&mut self, text: &str) -> Result<(), OverBudget> {
        self.charge(text.len() as u64 / BYTES_PER_STEP)
    }

    /// Returns the number of spent steps; at most the limit.
    pub fn spent(&self) -> u64 {
        self.limit - self.left
    }

    /// Spends steps. After an error no steps remain.
    ///
    /// # Errors
    /// The remaining steps do not suffice.
    pub fn charge(&mut self, steps: u64) -> Result<(), OverBudget> {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.map(drop).ok_or(OverBudget::Steps)
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, OverBudget};

    #[test]
    fn a_budget_ends_where_it_says() {
        let mut budget = Budget::of(10);
        assert_eq!(budget.charge(10), Ok(()));
        assert_eq!(budget.charge(0), Ok(()));
        assert_eq!(budget.charge(1), Err(OverBudget::Steps));
        assert_eq!(Budget::of(10).charge(u64::MAX), Err(OverBudget::Steps));
        assert_eq!(budget.spent(), 10);
    }
}
