//! The tests of a policy: a module beside it, whose rules named `test_…` must hold.

use super::module::SourceModule;
use super::run::Program;
use agent_diagnostic::{Code, Diagnostic, Label, Problems};
use agent_text::{DocumentKind, Place, Span, Text};
use regorus::Value;
use std::collections::BTreeSet;

/// The result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestVerdict {
    /// It held.
    Passed,
    /// It did not hold, or its evaluation failed.
    Failed,
    /// It is named `todo_test_…`, and was not evaluated.
    Skipped,
}

impl TestVerdict {
    /// Returns the stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestOutcome {
    /// The name of its rule.
    pub name: String,
    /// The result.
    pub verdict: TestVerdict,
    /// The reason, in one sentence without a final stop. Empty if the test passed.
    pub detail: String,
    /// The place of the test.
    pub place: Place,
    /// The place at which the evaluation failed, if it did.
    pub cause: Option<Place>,
    /// The diagnostic of a failed test.
    pub problem: Option<Diagnostic>,
}

/// All tests of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// The outcome of each test, in the order of the text.
    pub outcomes: Vec<TestOutcome>,
    /// A note for each body of a rule of the policy that held in no test, at the lines of the body.
    pub unreached: Vec<Diagnostic>,
}

/// Reads a policy and its tests, and evaluates each test within its own budget. The tests are in the
/// package of the policy, or in one whose name adds `_test`. They set an input by `with input as`.
///
/// # Errors
/// Returns every problem of the two texts that prevents an evaluation.
pub fn test(policy: Vec<u8>, tests: Vec<u8>) -> Result<Tested, Vec<Diagnostic>> {
    let policy = SourceModule::read(DocumentKind::Policy, policy, &[])?;
    let tests = SourceModule::read(DocumentKind::PolicyTest, tests, &[&policy.tree])?;
    check_package(&policy, &tests)?;
    let program = Program::new(vec![policy, tests], &[])?;
    let SourceModule { text, tree } = program.module(1);
    let mut outcomes: Vec<TestOutcome> = Vec::new();
    let mut reached = BTreeSet::new();
    for rule in &tree.rules {
        let [name] = &*rule.name else {
            continue;
        };
        let skipped = name.starts_with("todo_test_");
        let known = outcomes.iter().any(|outcome| outcome.name == *name);
        if known || !(skipped || name.starts_with("test_")) {
            continue;
        }
        let mut outcome = TestOutcome {
            name: name.clone(),
            verdict: TestVerdict::Passed,
            detail: String::new(),
            place: text.place(rule.name_span),
            cause: None,
            problem: None,
        };
        if skipped {
            outcome.verdict = TestVerdict::Skipped;
            outcome.detail = "it is still to do".to_owned();
        } else {
            let (result, held) =
                program.evaluate(&Program::query(&tree.package, name), Value::Undefined, 0);
            let of_policy = held.into_iter().filter(|(module, _)| *module == 0);
            reached.extend(of_policy.map(|(_, body)| body.query));
            match result {
                Ok(value) if holds(&value) => {}
                Ok(_) => outcome.fail(text, rule.name_span, "it does not hold".to_owned()),
                Err(error) => {
                    outcome.cause = error.place;
                    let kind = error.kind.name();
                    let detail = format!("it can't be evaluated ({kind}): {}", error.detail);
                    outcome.fail(text, rule.name_span, detail);
                }
            }
        }
        outcomes.push(outcome);
    }
    let unreached = unreached(program.module(0), &reached);
    Ok(Tested {
        outcomes,
        unreached,
    })
}

/// Returns a note for each body that is not among those that held in a test.
fn unreached(policy: &SourceModule, reached: &BTreeSet<Span>) -> Vec<Diagnostic> {
    let SourceModule { text, tree } = policy;
    let mut problems = Problems::new(text);
    for rule in &tree.rules {
        let queries = rule.bodies.iter().filter_map(|it| it.query.as_ref());
        for query in queries.filter(|it| !reached.contains(&it.span)) {
            let place = text.place(query.span);
            let name = rule.name.join(".");
            let message = match (place.start.line, place.end.line) {
                (line, end) if line == end => {
                    format!("line {line} of the rule `{name}` held in no test")
                }
                (line, end) => {
                    format!("lines {line} to {end} of the rule `{name}` held in no test")
                }
            };
            problems.report(Code::PolicyRuleUnused, query.span, "not tested", message);
        }
    }
    problems.finish()
}

impl TestOutcome {
    fn fail(&mut self, text: &Text, span: Span, detail: String) {
        let mut problems = Problems::new(text);
        let message = format!("the test `{}` failed: {detail}", self.name);
        problems.report(Code::PolicyTestFailed, span, "failed", message);
        self.problem = problems.finish().pop().map(|mut problem| {
            let cause = self.cause.map(|place| Label::new(place, "this is why"));
            problem.labels.extend(cause);
            problem
        });
        self.verdict = TestVerdict::Failed;
        self.detail = detail;
    }
}

fn check_package(policy: &SourceModule, tests: &SourceModule) -> Result<(), Vec<Diagnostic>> {
    let package = &tests.tree.package;
    let beside = package.last().is_some_and(|last| last.ends_with("_test"));
    if beside || *package == policy.tree.package {
        return Ok(());
    }
    let mut problems = Problems::new(&tests.text);
    let message =
        "tests must be in the package of the policy, or in one whose name ends with `_test`";
    let package = policy.tree.package.join(".");
    let at = tests.tree.package_span;
    problems
        .report(Code::PolicySyntax, at, "neither of these", message)
        .help(format!("write `package {package}_test`"));
    Err(problems.finish())
}

fn holds(found: &Value) -> bool {
    matches!(found, Value::Array(found) if found.first() == Some(&Value::from(true)))
}
