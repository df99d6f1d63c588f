//! The value of each rule, for people who write a policy.

use super::policy::Policy;
use super::run::Program;
use agent_decide::{PolicyError, PolicyErrorKind};
use agent_text::Place;
use regorus::Value;

/// Maximum number of rules that are evaluated: each within its own budget.
const RULES: usize = 50;

/// A rule of a policy, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleValue {
    /// The name within its package.
    pub name: String,
    /// The place of its first definition's name.
    pub place: Place,
    /// The value as JSON, sets as arrays; `None` if the rule is undefined.
    pub value: Result<Option<String>, PolicyError>,
}

/// Returns the input as the policy sees it, as JSON, and the value of each rule in the order of the text.
/// Functions have no value. Evaluation ends with the first rule that uses up its budget.
pub fn rule_values(policy: &Policy, input: &str) -> Option<(String, Vec<RuleValue>)> {
    let value = Value::from_json_str(input).ok()?;
    let module = policy.module();
    let mut values: Vec<RuleValue> = Vec::new();
    for rule in &module.tree.rules {
        let Some(name) = rule.name.first() else {
            continue;
        };
        if rule.parameters.is_some() || values.iter().any(|it| it.name == *name) {
            continue;
        }
        if values.len() == RULES || values.last().is_some_and(is_exhausted) {
            break;
        }
        let query = Program::query(&module.tree.package, name);
        let (result, _) = policy
            .program()
            .evaluate(&query, value.clone(), input.len());
        let first = |found: Value| match found {
            Value::Array(found) => found.first().and_then(|it| it.to_json_str().ok()),
            _ => None,
        };
        values.push(RuleValue {
            name: name.clone(),
            place: module.text.place(rule.name_span),
            value: result.map(first),
        });
    }
    Some((value.to_json_str().ok()?, values))
}

fn is_exhausted(rule: &RuleValue) -> bool {
    let error = rule.value.as_ref().err();
    error.is_some_and(|error| error.kind == PolicyErrorKind::Budget)
}
