//! The corpus of sequential plans. What is expected of each case was written by hand, from the
//! specifications.

use agent_decide::{PlanContext, PlanPolicy, authorize_plan};
use agent_explain::{PlanDocuments, plan_findings, plan_fixes};
use agent_lower as lower;
use agent_lower::{Lowered, Validated};
use agent_model::{Index, Lock, Plan, Request, ToolsSnapshot};
use agent_render::{PlanReport, authorized_plan, validation_report};
use agent_tests::corpus;
use agent_tests::plan::PlanInputs;
use agent_text::DocumentKind;
use std::collections::BTreeMap;
use std::fs;
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
    /// Reads a case of the corpus.
    pub(crate) fn read(case: &corpus::Case) -> Self {
        let inputs = PlanInputs::of(case);
        Self {
            plan: Arc::new(lower::plan(inputs.plan)),
            rules: Arc::new(PlanPolicy::new(inputs.tool_pool, inputs.profile, None)),
            request: inputs.request.map(lower::request),
            index: inputs.index.map(|text| sound(lower::index(text))),
            lock: inputs.lock.map(|text| sound(lower::lock(text))),
            catalogue: inputs
                .catalogue
                .map(|text| sound(lower::tools_snapshot(text))),
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

/// Returns a document of `base`.
pub(crate) fn base(name: &str) -> Vec<u8> {
    corpus::Case::named("plan/base").input(name).expect(name)
}

/// Returns the case of a plan that may run.
pub(crate) fn accepted(name: &str) -> corpus::Case {
    corpus::Case::named(&format!("plan/accept/{name}"))
}

/// Returns the cases of a verdict, sorted.
pub(crate) fn cases(verdict: &str) -> Vec<corpus::Case> {
    corpus::cases(&format!("plan/{verdict}"))
}

/// Reads the lines that are expected of each case of a verdict: below its name, and indented.
fn expected(verdict: &str) -> BTreeMap<String, Vec<String>> {
    let path = corpus::corpus()
        .join("plan")
        .join(verdict)
        .join("expected.txt");
    let text = fs::read_to_string(path).expect("expected.txt");
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut case = String::new();
    for line in text.lines() {
        if let Some(line) = line.strip_prefix("  ") {
            let lines = expected.get_mut(&case).expect("a case before its lines");
            lines.push(line.to_owned());
        } else {
            case = format!("plan/{verdict}/{line}");
            let twice = expected.insert(case.clone(), Vec::new());
            assert!(twice.is_none(), "{case} appears twice");
        }
    }
    expected
}

#[test]
fn every_case_has_its_verdict_and_its_problems() {
    let mut failures = corpus::Failures::default();
    let mut decided = 0;
    for verdict in ["accept", "reject"] {
        let mut expected = expected(verdict);
        for case in cases(verdict) {
            let name = case.name();
            let Some(expected) = expected.remove(&name) else {
                failures.add(&name, "expected.txt does not have it");
                continue;
            };
            let outcome = Case::read(&case).decide();
            let found = outcome.lines();
            if outcome.is_allowed() != (verdict == "accept") || found != expected {
                failures.add(&name, format!("expected {expected:#?}\n  found {found:#?}"));
            }
            decided += 1;
        }
        for name in expected.keys() {
            failures.add(name, "expected.txt has it, and there is no such case");
        }
    }
    assert!(decided >= 120, "{decided}");
    failures.finish();
}
