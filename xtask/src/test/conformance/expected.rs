//! Failures that are expected, with their reasons.

use super::report::Run;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// A file of expected failures, in the form that the suite reads: scenarios, or `SCENARIO:CHECK`.
pub(super) struct Expected {
    path: PathBuf,
    /// The entries, and the reason of each.
    entries: Vec<(String, String)>,
}

impl Expected {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When an entry has no reason. The suite reads everything else, and refuses what it can't read.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("{} can't be read", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            entries: entries(&text)?,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the reason why a scenario, or one of its checks, is expected to fail.
    pub(super) fn reason(&self, scenario: &str) -> Option<&str> {
        let found = self.entries.iter().find(|(entry, _)| {
            let rest = entry.strip_prefix(scenario);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        });
        found.map(|(_, reason)| &**reason)
    }

    /// Checks that each entry failed in some run. The suite ignores entries of scenarios that it does not run.
    pub(super) fn check_all_met(&self, runs: &[Run]) -> Result<()> {
        for (entry, _) in &self.entries {
            if !runs.iter().any(|run| run.expected.contains(entry)) {
                bail!("`{entry}` is expected to fail, and did not run");
            }
        }
        Ok(())
    }
}

/// Reads lines of the form `- ENTRY # REASON`.
fn entries(text: &str) -> Result<Vec<(String, String)>> {
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "));
    lines
        .map(|line| {
            let (entry, reason) = line.split_once(" # ").unwrap_or((line, ""));
            match reason.trim() {
                "" => bail!("the expected failure `{entry}` has no reason"),
                reason => Ok((entry.trim().to_owned(), reason.to_owned())),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Expected, entries};
    use crate::test::conformance::report::Run;

    #[test]
    fn every_entry_has_a_reason_and_fails() {
        assert!(entries("server:\n  - a-scenario\n").is_err());
        let text = "# Why\nserver:\n  - a # first\n  - b:check # second\n";
        let expected = Expected {
            path: "x.yaml".into(),
            entries: entries(text).unwrap(),
        };
        assert_eq!(expected.reason("a"), Some("first"));
        assert_eq!(expected.reason("b"), Some("second"));
        assert_eq!(expected.reason("ab"), None);
        let run = |entries: &[&str]| {
            let mut run = Run::default();
            run.expected.extend(entries.iter().map(|&it| it.to_owned()));
            run
        };
        assert!(expected.check_all_met(&[run(&["a"])]).is_err());
        assert!(
            expected
                .check_all_met(&[run(&["a"]), run(&["b:check"])])
                .is_ok()
        );
    }
}
