//! The evaluation of a policy, rule by rule.

use super::requirement::requirement as decision;
use super::verdict::failure;
use agent_answer::{PolicyEvaluation, PolicyRule};
use agent_decide::Resolution;
use agent_explain::Decision;
use agent_rego::{Policy, RuleValue, rule_values};

/// Maximum number of bytes of an input that are shown.
const INPUT: usize = 100_000;

/// Maximum number of bytes of a rule's value that are shown.
const VALUE: usize = 4_000;

/// Evaluates a policy again for a requirement, rule by rule. Returns `None` if it was not asked about the
/// requirement.
pub fn evaluation(
    policy: &Policy,
    resolution: &Resolution,
    requirement: u32,
) -> Option<PolicyEvaluation> {
    let Decision::Capability(matching, number) = decision(resolution, requirement)? else {
        return None;
    };
    let (input, values) = rule_values(policy, &matching.policy_input(number)?)?;
    let rule = |RuleValue { name, place, value }| {
        let (value, error) = match value {
            Ok(value) => (value, None),
            Err(error) => (None, Some(failure(&error))),
        };
        PolicyRule {
            name,
            place,
            value: value.map(|value| cut(value, VALUE)),
            error,
        }
    };
    Some(PolicyEvaluation {
        requirement,
        input_bytes: input.len() as u32,
        input: cut(input, INPUT),
        rules: values.into_iter().map(rule).collect(),
    })
}

/// Cuts a text after a number of bytes.
fn cut(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate(text.floor_char_boundary(bytes));
        text.push('…');
    }
    text
}
