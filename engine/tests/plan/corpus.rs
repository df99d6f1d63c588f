//! The corpus of sequential plans. What is expected of each case was written by hand, from the
//! specifications.

use agent_engine::decide::{PlanContext, PlanRules, authorize_plan};
use agent_engine::explain::plan_findings;
use agent_engine::lower::{self, Examined, Lowered};
use agent_engine::model::{Index, Lock, Plan, Request, ToolCatalogue};
use agent_engine::text::Source;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that a case is decided by.
pub(crate) struct Case {
    pub(crate) plan: Arc<Examined<Plan>>,
    pub(crate) rules: Arc<PlanRules>,
    pub(crate) request: Option<Examined<Request>>,
    pub(crate) index: Option<Index>,
    pub(crate) lock: Option<Lock>,
    pub(crate) catalogue: Option<ToolCatalogue>,
}

impl Case {
    /// Read a case; what it does not have of its own is that of `base`.
    pub(crate) fn read(folder: &Path) -> Self {
        let own = |name: &str| fs::read(folder.join(name)).ok();
        let base = |name: &str| {
            own(name).unwrap_or_else(|| fs::read(root().join("base").join(name)).expect(name))
        };
        // An empty file says that there is none.
        let there = |name: &str| Some(base(name)).filter(|text| !text.is_empty());
        Self {
            plan: Arc::new(lower::plan(own("plan.json").expect("a plan"))),
            rules: Arc::new(PlanRules::new(
                base("tool-pool.json"),
                base("profile.json"),
                None,
            )),
            request: own("request.json").map(lower::request),
            index: there("mcp.index.json").map(|text| sound(lower::index(text))),
            lock: there("agents.lock").map(|text| sound(lower::lock(text))),
            catalogue: own("catalogue.json").map(|text| sound(lower::tool_catalogue(text))),
        }
    }

    pub(crate) fn context(&self) -> PlanContext<'_> {
        PlanContext {
            request: self.request.as_ref(),
            index: self.index.as_ref(),
            lock: self.lock.as_ref(),
            catalogue: self.catalogue.as_ref(),
        }
    }

    /// What is expected, as it would be written: problems, or what has to be seen to.
    fn outcome(&self) -> (bool, Vec<String>) {
        let answer = authorize_plan(&self.plan, &self.rules, self.context());
        let findings = plan_findings(&self.plan, &self.rules, self.context(), &answer);
        let step = |number: usize| {
            let plan = self.plan.value.as_ref().expect("a plan");
            plan.steps[number].id.value.clone()
        };
        let mut lines = Vec::new();
        let allowed = answer.authorized.is_some();
        if allowed {
            assert!(findings.is_empty());
            lines.extend(
                answer
                    .approvals
                    .iter()
                    .map(|it| format!("approval {}", step(*it))),
            );
            lines.extend(
                answer
                    .deferred
                    .iter()
                    .map(|it| format!("at_run_time {} {}", it.check.name(), step(it.step))),
            );
        } else {
            lines.extend(findings.iter().map(|finding| {
                let pointer = match &*finding.pointer {
                    "" => "-",
                    pointer => pointer,
                };
                let document = match finding.diagnostic.labels[0].place.source {
                    Source::Plan => "plan",
                    Source::ToolPool => "tool_pool",
                    Source::Profile => "instruction_profile",
                    Source::Request => "request",
                    other => panic!("{other:?}"),
                };
                format!("{} {document} {pointer}", finding.diagnostic.code.name())
            }));
        }
        lines.sort();
        (allowed, lines)
    }
}

fn sound<T>(lowered: Lowered<T>) -> T {
    match lowered {
        Ok(checked) => checked.value,
        Err(problems) => panic!("{problems:?}"),
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/corpus/plan")
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
            let expected: Vec<_> = expected.lines().map(str::to_owned).collect();
            let (allowed, found) = Case::read(&folder).outcome();
            if allowed != (verdict == "accept") || found != expected {
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
