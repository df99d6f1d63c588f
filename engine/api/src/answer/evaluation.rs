//! The evaluation of a policy, rule by rule.

use super::requirement::requirement as decision;
use super::verdict::failure;
use agent_answer::{PolicyEvaluation, PolicyRule};
use agent_decide::Resolution;
use agent_explain::Decision;
use agent_rego::{InputValue, Policy, RuleValue, input_values, rule_values, with_value};

/// Maximum number of bytes of an input that are shown.
const INPUT: usize = 100_000;

/// Maximum number of bytes of a rule's value that are shown.
const VALUE: usize = 4_000;

/// Maximum number of values of an input that can be edited.
const VALUES: usize = 200;

/// Evaluates a policy again for a requirement, rule by rule. Returns `None` if it was not asked about the
/// requirement. `edit`: the JSON pointer of a value of the input, and another text for it.
pub fn evaluation(
    policy: &Policy,
    resolution: &Resolution,
    requirement: u32,
    edit: Option<(&str, &str)>,
) -> Option<PolicyEvaluation> {
    let Decision::Capability(matching, number) = decision(resolution, requirement)? else {
        return None;
    };
    let asked = matching.policy_input(number)?;
    let (input, rules) = rules(policy, &asked)?;
    let edited = edit.and_then(|(pointer, text)| with_value(&asked, pointer, text));
    let values = input_values(&asked, VALUES).into_iter();
    let values = values.map(|InputValue { pointer, text }| (pointer, cut(text, VALUE)));
    Some(PolicyEvaluation {
        requirement,
        input_bytes: input.len() as u32,
        input: cut(input, INPUT),
        values: values.collect(),
        rules,
        tried: edited.and_then(|input| Some(self::rules(policy, &input)?.1)),
    })
}

/// Returns the input as the policy sees it, and the value of each rule.
fn rules(policy: &Policy, input: &str) -> Option<(String, Vec<PolicyRule>)> {
    let (input, values) = rule_values(policy, input)?;
    let values = values.into_iter().map(|RuleValue { name, place, value }| {
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
    });
    Some((input, values.collect()))
}

/// Cuts a text after a number of bytes.
fn cut(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate(text.floor_char_boundary(bytes));
        text.push('…');
    }
    text
}
