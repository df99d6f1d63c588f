//! JSON Schema from outside: the official test suite, hostile schemas, and the verdicts of another
//! implementation.

// The documentation quotes the number of passed cases, and the durations.
#![allow(clippy::print_stdout)]

mod hostile;
mod older;
mod other;
mod suite;
mod words;

use agent_json_schema::{Budget, Documents, Draft, OverBudget, Refused, Schema, Violation};
use agent_syntax::Node;
use agent_syntax::json::{Reader, parse_value};

/// Returns the tree of a JSON text.
fn tree(text: &str) -> Node<'_> {
    parse_value(&mut Reader::new(text)).unwrap_or_else(|e| panic!("{e:?}: {text:.200}"))
}

/// The reason why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Failure {
    Refused(Refused),
    OverBudget(OverBudget),
}

/// The violations by an instance, and the steps of the check.
type Outcome = (Result<Vec<Violation>, Failure>, u64);

fn check_trees(draft: Draft, schema: &Node<'_>, instance: &Node<'_>) -> Outcome {
    let (documents, mut budget) = (Documents::new(), Budget::new());
    let found = match Schema::compile(schema, &documents, draft, &mut budget) {
        Ok(schema) => schema
            .check(instance, &mut budget)
            .map_err(Failure::OverBudget),
        Err(Refused::OverBudget(over)) => Err(Failure::OverBudget(over)),
        Err(refused) => Err(Failure::Refused(refused)),
    };
    (found, budget.spent())
}

fn check_by(draft: Draft, schema: &str, instance: &str) -> Outcome {
    check_trees(draft, &tree(schema), &tree(instance))
}

/// Returns the violations by an instance, by draft 2020-12.
fn check(schema: &str, instance: &str) -> Result<Vec<Violation>, Failure> {
    check_by(Draft::Draft202012, schema, instance).0
}
