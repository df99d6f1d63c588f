//! The results of runs, as the suite prints them and as the book has them.

use super::expected::Expected;
use super::suite::REVISIONS;
use anyhow::{Result, bail};
use std::collections::BTreeMap;

/// A scenario of a run.
pub(super) struct Scenario {
    name: String,
    has_passed: bool,
    /// Why the revision does not require it.
    not_required: Option<String>,
}

/// The results of one revision.
#[derive(Default)]
pub(super) struct Run {
    revision: &'static str,
    pub(super) scenarios: Vec<Scenario>,
    /// The expected failures that happened.
    pub(super) expected: Vec<String>,
}

impl Run {
    /// Returns the number of scenarios that passed.
    pub(super) fn passed(&self) -> usize {
        self.scenarios.iter().filter(|it| it.has_passed).count()
    }

    /// Returns what the table says about a scenario, and why.
    /// `failing` is the word for one that fails as expected.
    fn cell<'r>(
        &'r self,
        name: &str,
        expected: &Expected,
        failing: &'r str,
    ) -> Option<(&'r str, Option<String>)> {
        let scenario = self.scenarios.iter().find(|it| it.name == name)?;
        let reason = || expected.reason(name).map(str::to_owned);
        let part = format!("{name}:");
        Some(match &scenario.not_required {
            Some(why) if scenario.has_passed => ("passed", Some(format!("not required: {why}"))),
            Some(why) => ("failed", Some(format!("not required: {why}"))),
            None if self.expected.iter().any(|it| it == name) => (failing, reason()),
            None if self.expected.iter().any(|it| it.starts_with(&part)) => ("in part", reason()),
            None => ("passed", None),
        })
    }
}

/// Reads what the suite printed, with the requirements of a revision.
pub(super) fn read(
    printed: &str,
    requirements: &str,
    leg: &str,
    revision: &'static str,
) -> Result<Run> {
    let not_required = not_required(requirements, leg);
    let scenarios: Vec<_> = printed
        .lines()
        .filter_map(|line| {
            let has_passed = line.starts_with('✓');
            let rest = line.strip_prefix(['✓', '✗'])?.trim_start();
            let (name, counts) = rest.split_once(": ")?;
            counts.contains(" passed, ").then(|| Scenario {
                name: name.to_owned(),
                has_passed,
                not_required: not_required.get(name).cloned(),
            })
        })
        .collect();
    if scenarios.is_empty() {
        bail!("the suite printed no results");
    }
    let expected = printed.lines().filter_map(|line| line.strip_prefix("  ~ "));
    Ok(Run {
        revision,
        scenarios,
        expected: expected.map(str::to_owned).collect(),
    })
}

/// Returns the scenarios of a leg that a revision does not require, with the reason.
fn not_required(requirements: &str, leg: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let (mut scenario, mut is_of_leg) = ("", false);
    for line in requirements.lines() {
        if let Some(name) = line.strip_prefix("  - scenario: ") {
            scenario = name;
        } else if let Some(name) = line.strip_prefix("    leg: ") {
            is_of_leg = name == leg;
        } else if let Some(reason) = line.strip_prefix("    reason: ")
            && is_of_leg
        {
            all.insert(scenario.to_owned(), reason.replace('-', " "));
        }
    }
    all
}

/// The results of every revision.
#[derive(Default)]
pub(super) struct Report {
    runs: Vec<Run>,
}

impl Report {
    pub(super) fn add(&mut self, run: Run) {
        self.runs.push(run);
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns a table of Markdown. `failing` is the word for a scenario that fails as expected.
    pub(super) fn table(&self, expected: &Expected, failing: &str) -> String {
        let mut names: Vec<&str> = Vec::new();
        for scenario in self.runs.iter().flat_map(|run| &run.scenarios) {
            if !names.contains(&&*scenario.name) {
                names.push(&scenario.name);
            }
        }
        let mut table = format!(
            "| scenario | {} | reason |\n|---|---|---|---|\n",
            REVISIONS.join(" | ")
        );
        for name in names {
            let mut reasons: Vec<String> = Vec::new();
            let cells = REVISIONS.map(|revision| {
                let run = self.runs.iter().find(|run| run.revision == revision);
                let cell = run.and_then(|run| run.cell(name, expected, failing));
                let (word, reason) = cell.unwrap_or_default();
                if let Some(reason) = reason
                    && !reasons.contains(&reason)
                {
                    reasons.push(reason);
                }
                word
            });
            let (cells, reasons) = (cells.join(" | "), reasons.join("; "));
            table += &format!("| `{name}` | {cells} | {reasons} |\n");
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, read};
    use crate::test::conformance::expected::Expected;

    const REQUIREMENTS: &str = "server:\n  - a\nnot_scored:\n  - scenario: d\n    leg: server\n    \
                                reason: added-after-release\n  - scenario: a\n    leg: client\n    \
                                reason: extension\n";
    const PRINTED: &str = "=== SUMMARY ===\n✓ a: 2 passed, 0 failed\n✗ b: 0 passed, 1 failed\n\
                           ✗ c: 1 passed, 1 failed, 1 warnings\n✗ d: 0 passed, 1 failed\n\nTotal: 3 passed, \
                           3 failed\n\nExpected failures (in baseline):\n  ~ b\n  ~ c:check\n";

    #[test]
    fn the_table_has_every_scenario() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.yaml");
        std::fs::write(&path, "server:\n  - b # no b\n  - c:check # no check\n").unwrap();
        let expected = Expected::read(&path).unwrap();
        let run = read(PRINTED, REQUIREMENTS, "server", "2026-07-28").unwrap();
        assert_eq!((run.passed(), run.scenarios.len()), (1, 4));
        let mut report = Report::default();
        report.add(run);
        let rows = "| `a` |  | passed |  |\n| `b` |  | withheld | no b |\n| `c` |  | in part | no check |\n\
                    | `d` |  | failed | not required: added after release |\n";
        let head = "| scenario | 2025-11-25 | 2026-07-28 | reason |\n|---|---|---|---|\n";
        assert_eq!(report.table(&expected, "withheld"), format!("{head}{rows}"));
        assert!(read("nothing", REQUIREMENTS, "server", "2026-07-28").is_err());
    }
}
