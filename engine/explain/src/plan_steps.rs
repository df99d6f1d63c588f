//! The steps of the text of a plan, which may not be a valid plan.

use agent_diagnostic::{Change, ChangeKind};
use agent_json_schema::child;
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value};
use agent_text::DocumentKind;
use std::collections::BTreeSet;

/// Returns the `step_id` of a step as a string literal, or else its number.
pub(super) fn step_name(root: &Node<'_>, number: usize) -> String {
    let id = steps(root).get(number).and_then(|it| string(it, "step_id"));
    id.map_or_else(|| number.to_string(), |id| format!("{id:?}"))
}

/// Returns the changes that remove a step, and those that take their inputs from it. `None` if no
/// step would be left.
pub(super) fn without_step(plan: &str, number: usize) -> Option<Vec<Change>> {
    let root = parse_value(&mut Reader::new(plan)).ok()?;
    let steps = steps(&root);
    let mut gone = vec![number];
    let mut names = BTreeSet::from_iter(string(steps.get(number)?, "step_id"));
    for (later, step) in steps.iter().enumerate().skip(number + 1) {
        let from = child(step, "input_from").and_then(|from| string(from, "step"));
        if from.is_some_and(|from| names.contains(from)) {
            gone.push(later);
            names.extend(string(step, "step_id"));
        }
    }
    let changes = gone.iter().map(|number| Change {
        source: DocumentKind::Plan,
        pointer: format!("/plan/steps/{number}"),
        kind: ChangeKind::Remove,
        widens: false,
    });
    (gone.len() < steps.len()).then(|| changes.collect())
}

fn steps<'n, 'a>(root: &'n Node<'a>) -> &'n [Node<'a>] {
    let plan = child(root, "plan").and_then(|plan| child(plan, "steps"));
    match plan.map(|steps| &steps.value) {
        Some(Value::Sequence(steps)) => steps,
        _ => &[],
    }
}

fn string<'n>(node: &'n Node<'_>, key: &str) -> Option<&'n str> {
    match &child(node, key)?.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}
