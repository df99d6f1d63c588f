//! How much work a schema may make: counted, never measured, so that a verdict is the same on
//! every machine.

use agent_text::Likeness;

/// How many steps a [`Budget`] has. A step is some 25 ns of native work: a keyword that is
/// evaluated, a value that is compared, a few bytes of a string that are looked at.
pub const STEP_LIMIT: u64 = 2_000_000;

/// How many bytes of a text are read in a step.
const BYTES_PER_STEP: u64 = 8;

/// How many subschemas may be under evaluation inside each other. An instance is at most 128
/// values deep; what takes more than this goes round in a circle, or nearly.
pub const EVALUATION_DEPTH_LIMIT: u32 = 512;

/// Why an evaluation ended without a verdict. Everything that is decided by one has to be a no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverBudget {
    /// It takes more steps than there are.
    Steps,
    /// It takes more than [`EVALUATION_DEPTH_LIMIT`] subschemas inside each other.
    Depth,
}

impl OverBudget {
    /// The reason in a few words, without a final stop.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Steps => "the schema takes too many steps",
            Self::Depth => "the schema refers to itself without an end",
        }
    }
}

/// The steps that are left. One budget may serve several compilations and checks.
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
    /// [`STEP_LIMIT`] steps.
    pub fn new() -> Self {
        Self::of(STEP_LIMIT)
    }

    /// So many steps.
    pub fn of(steps: u64) -> Self {
        Self {
            left: steps,
            limit: steps,
            likeness: Likeness::new(),
        }
    }

    /// What is spelled nearly alike. It is counted by itself, because no verdict depends on it.
    pub fn likeness(&mut self) -> &mut Likeness {
        &mut self.likeness
    }

    /// Spend what it takes to read a text that was read before: it may be asked for again and again.
    ///
    /// # Errors
    /// There is not as much left.
    pub fn read(&mut self, text: &str) -> Result<(), OverBudget> {
        self.charge(text.len() as u64 / BYTES_PER_STEP)
    }

    /// How many steps were spent; never more than there were.
    pub fn spent(&self) -> u64 {
        self.limit - self.left
    }

    /// Spend steps. A budget that is spent stays spent.
    ///
    /// # Errors
    /// There are not as many left.
    pub fn charge(&mut self, steps: u64) -> Result<(), OverBudget> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(OverBudget::Steps)
            }
        }
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
