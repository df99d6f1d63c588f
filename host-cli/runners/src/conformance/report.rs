//! The report of the test of a runner.

use std::fmt;

/// The checks of a runner, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The checks.
    pub checks: Vec<Check>,
}

/// A check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name, which stays the same in later versions.
    pub name: &'static str,
    /// The outcome of the check.
    pub outcome: Outcome,
    /// What the runner does as it should, what it did wrong, or why it was not checked; without a final stop.
    pub sentence: String,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The runner does as it should.
    Passed,
    /// It does not.
    Failed,
    /// The check does not apply, or depends on what failed.
    Skipped,
}

impl Report {
    /// Returns whether no check failed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.count(Outcome::Failed) == 0
    }

    /// Returns the number of checks with an outcome.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        let checks = self.checks.iter();
        checks.filter(|check| check.outcome == outcome).count()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        })
    }
}

impl fmt::Display for Report {
    /// Writes a line for each check and one with the counts, each with its end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.checks.iter().map(|check| check.name.len());
        let width = names.max().unwrap_or_default();
        for Check {
            name,
            outcome,
            sentence,
        } in &self.checks
        {
            writeln!(f, "{outcome:7}  {name:width$}  {sentence}")?;
        }
        let [passed, failed, skipped] =
            [Outcome::Passed, Outcome::Failed, Outcome::Skipped].map(|it| self.count(it));
        writeln!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::{Check, Outcome, Report};

    #[test]
    fn a_report_is_a_table_with_counts() {
        let check = |name, outcome, sentence: &str| Check {
            name,
            outcome,
            sentence: sentence.to_owned(),
        };
        let mut report = Report {
            checks: vec![
                check("port", Outcome::Passed, "it listens"),
                check("stop-ends", Outcome::Skipped, "it did not start"),
            ],
        };
        assert!(report.passed());
        report
            .checks
            .push(check("quiet", Outcome::Failed, "it wrote"));
        assert!(!report.passed());
        let text = "passed   port       it listens\n\
                    skipped  stop-ends  it did not start\n\
                    failed   quiet      it wrote\n\
                    1 passed, 1 failed, 1 skipped\n";
        assert_eq!(report.to_string(), text);
    }
}
