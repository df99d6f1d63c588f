//! The steps in the text of a plan, which may be refused.

use agent_diagnostic::{Change, ChangeKind};
use agent_json_schema::child;
use agent_lower::Validated;
use agent_model::Plan;
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value};
use agent_text::DocumentKind;
use std::collections::BTreeSet;

/// Returns the `step_id` of each step of a plan.
pub(super) fn step_ids(plan: &Validated<Plan>) -> Vec<Option<String>> {
    if let Some(plan) = &plan.value {
        let ids = plan.steps.iter().map(|step| &step.id.value);
        return ids.map(|id| (!id.is_empty()).then(|| id.clone())).collect();
    }
    let root = parse_value(&mut Reader::new(plan.text.as_str())).ok();
    let nodes = root.iter().flat_map(steps);
    nodes.map(|step| string(child(step, "step_id"))).collect()
}

fn string(node: Option<&Node<'_>>) -> Option<String> {
    match &node?.value {
        Value::String(text) => Some(text.clone().into_owned()),
        _ => None,
    }
}

fn steps<'n, 'a>(root: &'n Node<'a>) -> &'n [Node<'a>] {
    let plan = child(root, "plan").and_then(|plan| child(plan, "steps"));
    match plan.map(|steps| &steps.value) {
        Some(Value::Sequence(steps)) => steps,
        _ => &[],
    }
}

/// Returns the changes that remove a step and those that take their inputs from it, or `None` if no
/// step would be left.
pub(super) fn without_step(root: &Node<'_>, number: usize) -> Option<Vec<Change>> {
    let steps = steps(root);
    let mut gone = vec![number];
    let mut names = BTreeSet::from_iter(string(child(steps.get(number)?, "step_id")));
    for (later, step) in steps.iter().enumerate().skip(number + 1) {
        let from = child(step, "input_from").and_then(|from| child(from, "step"));
        if string(from).is_some_and(|from| names.contains(&from)) {
            gone.push(later);
            names.extend(string(child(step, "step_id")));
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
