//! The corpus of sequential plans. What is expected of each case was written by hand, from the
//! specifications.

use agent_decide::{PlanContext, PlanPolicy, authorize_plan};
use agent_explain::{PlanDocuments, plan_findings, plan_fixes};
use agent_lower as lower;
use agent_lower::{Lowered, Validated};
use agent_model::{Index, Lock, Plan, Request, ToolsSnapshot};
use agent_render::{PlanReport, authorized_plan, validation_report};
use agent_text::DocumentKind;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that a case is decided by.
pub(crate) struct Case {
    pub(crate) plan: Arc<Validated<Plan>>,
    pub(crate) rules: Arc<PlanPolicy>,
    pub(crate) request: Option<Validated<Request>>,
    pub(crate) index: Option<Index>,
    pub(crate) lock: Option<Lock>,
    pub(crate) catalogue: Option<ToolsSnapshot>,
}

impl Case {
    /// Read a case; what it does not have of its own is that of `base`.
    pub(crate) fn read(folder: &Path) -> Self {
        let own = |name: &str| fs::read(folder.join(name)).ok();
        let own_or_base = |name: &str| own(name).unwrap_or_else(|| base(name));
        // An empty file means that the document is absent.
        let there = |name: &str| Some(own_or_base(name)).filter(|text| !text.is_empty());
        Self {
            plan: Arc::new(lower::plan(own("plan.json").expect("a plan"))),
            rules: Arc::new(PlanPolicy::new(
                own_or_base("tool-pool.json"),
                own_or_base("profile.json"),
                None,
            )),
            request: own("request.json").map(lower::request),
            index: there("mcp.index.json").map(|text| sound(lower::index(text))),
            lock: there("agents.lock").map(|text| sound(lower::lock(text))),
            catalogue: own("catalogue.json").map(|text| sound(lower::tools_snapshot(text))),
        }
    }

    pub(crate) fn context(&self) -> PlanContext<'_> {
        PlanContext {
            evaluation_context: None,
            request: self.request.as_ref(),
            index: self.index.as_ref(),
            lock: self.lock.as_ref(),
            catalogue: self.catalogue.as_ref(),
        }
    }

    /// The outcome of the plan.
    pub(crate) fn decide(&self) -> Outcome {
        self.answer(false)
    }

    /// The same, with what would make each problem go away in the report.
    pub(crate) fn decide_with_fixes(&self) -> Outcome {
        self.answer(true)
    }

    fn answer(&self, with_fixes: bool) -> Outcome {
        let context = self.context();
        let answer = authorize_plan(&self.plan, &self.rules, context);
        let findings = plan_findings(&self.plan, &self.rules, context, &answer);
        let fixes = if with_fixes {
            plan_fixes(
                &PlanDocuments::new(&self.plan, &self.rules),
                context,
                &answer,
                &findings,
            )
        } else {
            Vec::new()
        };
        let step = |number: usize| {
            let plan = self.plan.value.as_ref().expect("a plan");
            plan.steps[number].id.value.clone()
        };
        assert_eq!(answer.authorized.is_some(), findings.is_empty());
        let approvals = answer.approvals.iter();
        let approvals = approvals.map(|it| format!("approval {}", step(*it)));
        let deferred = answer.deferred();
        let deferred =
            deferred.map(|it| format!("at_run_time {} {}", it.check.name(), step(it.step)));
        let problems = findings.iter().map(|finding| {
            let pointer = match finding.diagnostic.pointer() {
                "" => "-",
                pointer => pointer,
            };
            let document = match finding.diagnostic.labels[0].place.source {
                DocumentKind::Plan => "plan",
                DocumentKind::ToolPool => "tool_pool",
                DocumentKind::Profile => "instruction_profile",
                DocumentKind::Request => "request",
                other => panic!("{other:?}"),
            };
            format!("{} {document} {pointer}", finding.diagnostic.code.name())
        });
        Outcome {
            problems: problems.collect(),
            waiting: approvals.chain(deferred).collect(),
            report: validation_report(&PlanReport {
                plan: &self.plan,
                rules: &self.rules,
                context,
                answer: &answer,
                findings: &findings,
                fixes: &fixes,
            }),
            authorized: answer.authorized.as_ref().map(authorized_plan),
        }
    }
}

/// The outcome of a plan.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// A line for each problem, as `reject` has them, in the order of the report.
    pub(crate) problems: Vec<String>,
    /// A line for each obligation and for each check that waits, as `accept` has them.
    pub(crate) waiting: Vec<String>,
    /// The validation report.
    pub(crate) report: String,
    /// What may run.
    pub(crate) authorized: Option<String>,
}

impl Outcome {
    pub(crate) fn is_allowed(&self) -> bool {
        self.authorized.is_some()
    }

    /// The lines that `expected.txt` would have.
    pub(crate) fn lines(&self) -> Vec<&str> {
        let lines = if self.is_allowed() {
            &self.waiting
        } else {
            &self.problems
        };
        let mut lines: Vec<_> = lines.iter().map(String::as_str).collect();
        lines.sort_unstable();
        lines
    }
}

pub(crate) fn sound<T>(lowered: Lowered<T>) -> T {
    match lowered {
        Ok(checked) => checked.value,
        Err(problems) => panic!("{problems:?}"),
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/plan")
}

/// A document of `base`.
pub(crate) fn base(name: &str) -> Vec<u8> {
    fs::read(root().join("base").join(name)).expect(name)
}

/// The cases of a verdict, sorted.
pub(crate) fn cases(verdict: &str) -> Vec<PathBuf> {
    let folder = root().join(verdict);
    let entries = fs::read_dir(&folder).expect("the corpus");
    let mut cases: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    cases.sort();
    cases
}

#[test]
fn every_case_has_its_verdict_and_its_problems() {
    let mut failures = Vec::new();
    let mut decided = 0;
    for verdict in ["accept", "reject"] {
        for folder in cases(verdict) {
            let name = folder.file_name().expect("a name").to_string_lossy();
            let expected = fs::read_to_string(folder.join("expected.txt")).expect("expected.txt");
            let expected: Vec<_> = expected.lines().collect();
            let outcome = Case::read(&folder).decide();
            let found = outcome.lines();
            if outcome.is_allowed() != (verdict == "accept") || found != expected {
                failures.push(format!(
                    "{verdict}/{name}\n  expected {expected:#?}\n  found {found:#?}"
                ));
            }
            decided += 1;
        }
    }
    assert!(decided >= 120, "{decided}");
    assert!(
        failures.is_empty(),
        "{} of {decided}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
