//! The tests of a policy: a module beside it, whose rules named `test_…` have to hold.

use super::parse;
use super::run::{Part, Program};
use super::tree::Module;
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_text::{Place, Source, Text};
use regorus::Value;

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestVerdict {
    /// It held.
    Passed,
    /// It did not hold, or could not be evaluated.
    Failed,
    /// It is named `todo_test_…`, and was not evaluated.
    Skipped,
}

impl TestVerdict {
    /// The stable name.
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
    /// How it ended.
    pub verdict: TestVerdict,
    /// Why, in one sentence without a final stop. Empty where it passed.
    pub detail: String,
    /// Where the test is.
    pub place: Place,
    /// Where it could not be evaluated, if that is why it failed.
    pub cause: Option<Place>,
    /// The problem that a failed test is.
    pub problem: Option<Diagnostic>,
}

/// Read a policy and its tests, and evaluate each test within a budget of its own. The tests stand
/// in the package of the policy, or in one of that name with `_test` behind it; `with input as` is
/// how they give an input.
///
/// # Errors
/// Every problem of the two texts for which nothing could be evaluated.
pub fn test(policy: Vec<u8>, tests: Vec<u8>) -> Result<Vec<TestOutcome>, Vec<Diagnostic>> {
    let (text, module) = parse(Source::Policy, policy, &[])?;
    let (test_text, test_module) = parse(Source::PolicyTest, tests, &[&module])?;
    check_package(&test_text, &module, &test_module)?;
    let program = Program::new(&[
        Part {
            text: &text,
            module: &module,
        },
        Part {
            text: &test_text,
            module: &test_module,
        },
    ])?;
    let mut outcomes: Vec<TestOutcome> = Vec::new();
    for rule in &test_module.rules {
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
            place: test_text.place(rule.name_span),
            cause: None,
            problem: None,
        };
        if skipped {
            outcome.verdict = TestVerdict::Skipped;
            outcome.detail = "it is still to do".to_owned();
        } else {
            let query = query(&test_module, name);
            let evaluated = program.evaluate(&[&text, &test_text], &query, (Value::Undefined, 0));
            match evaluated.result {
                Ok(value) if holds(&value) => {}
                Ok(_) => outcome.fail(&test_text, rule.name_span, "it does not hold".to_owned()),
                Err(error) => {
                    outcome.cause = error.place;
                    let kind = error.kind.name();
                    let detail = format!("it can't be evaluated ({kind}): {}", error.detail);
                    outcome.fail(&test_text, rule.name_span, detail);
                }
            }
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

impl TestOutcome {
    fn fail(&mut self, text: &Text, span: agent_text::Span, detail: String) {
        let mut problems = Problems::new(text);
        let message = format!("the test `{}` failed: {detail}", self.name);
        problems.report(Code::PolicyTestFailed, span, "failed", message);
        self.problem = problems.finish().pop().map(|mut problem| {
            problem.labels.extend(
                self.cause
                    .map(|place| agent_diagnostic::Label::new(place, "this is why")),
            );
            problem
        });
        self.verdict = TestVerdict::Failed;
        self.detail = detail;
    }
}

fn check_package(text: &Text, policy: &Module, tests: &Module) -> Result<(), Vec<Diagnostic>> {
    let beside = tests
        .package
        .last()
        .is_some_and(|last| last.ends_with("_test"));
    if beside || tests.package == policy.package {
        return Ok(());
    }
    let mut problems = Problems::new(text);
    problems
        .report(
            Code::PolicySyntax,
            tests.package_span,
            "neither",
            "tests stand in the package of the policy, or in one whose name ends with `_test`",
        )
        .help(format!("write `package {}_test`", policy.package.join(".")));
    Err(problems.finish())
}

/// Ask for a rule. In an array, so that what is undefined is no error.
fn query(module: &Module, name: &str) -> String {
    let mut path = "data".to_owned();
    for part in module.package.iter().map(|part| &**part).chain([name]) {
        // A string always is JSON.
        let part = Value::from(part).to_json_str().unwrap_or_default();
        path.push_str(&format!("[{part}]"));
    }
    format!("[x | x := {path}]")
}

fn holds(found: &Value) -> bool {
    match found {
        Value::Array(found) => found.first() == Some(&Value::from(true)),
        _ => false,
    }
}
