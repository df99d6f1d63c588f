//! Why a policy allows or denies one call: rule by rule, and value by value.

use super::coverage::{candidate_decisions, rules_with_body};
use super::difference::requirements_of;
use super::policy::Policy;
use super::rules::rule_values;
use agent_decide::{
    ExplainedCall, ExplainedRule, PolicyDecision, PolicyEngine as _, unknown_history,
};
use agent_lower::{
    Candidate, PolicyHistory, PolicyOccasion, PolicyPhase, PolicyQuestion, candidates, input,
};
use agent_model::{Context, Load, Tenant, ToolView};

/// What a policy is asked about.
#[derive(Debug, Clone, Copy)]
pub struct CallQuestion<'q> {
    /// The tool.
    pub tool: ToolView<'q>,
    /// The arguments, as JSON.
    pub arguments: &'q str,
    /// The calls before, as `input.history`.
    pub history: Option<&'q PolicyHistory>,
}

/// Returns the answers of a policy to a call: one for each requirement that the tool may be locked for.
pub fn explain_call(
    policy: &Policy,
    tenant: Option<&Tenant>,
    context: Option<&Context>,
    question: CallQuestion<'_>,
) -> Vec<ExplainedCall> {
    let candidate = Candidate::of(question.tool);
    let listed = candidates(std::slice::from_ref(&candidate));
    let required = requirements_of(question.tool, policy.may_read("requirement"));
    let explained = required.iter().map(|required| {
        let of_call = PolicyQuestion {
            phase: PolicyPhase::Call,
            requirement: required.asked(),
            load: Load::Essential,
        };
        let input = input(of_call, None, tenant, context, None, &listed);
        let input = input.text(PolicyOccasion {
            arguments: Some(question.arguments),
            history: question.history,
            ..PolicyOccasion::default()
        });
        let unknown = question.history;
        let unknown = unknown.and_then(|it| unknown_history(policy, Some(it)));
        let decision = match unknown {
            None => policy.ask(&input),
            Some(error) => PolicyDecision {
                answer: Err(error),
                lines: Vec::new(),
            },
        };
        ExplainedCall {
            tool: candidate.id(),
            requirement: required.to_string(),
            rules: rules(policy, &input, &decision),
            facts: match decision.allows(&candidate.id()) {
                true => Vec::new(),
                false => policy.facts(&input, &decision.lines),
            },
            decision,
            input,
        }
    });
    explained.collect()
}

fn rules(policy: &Policy, input: &str, decision: &PolicyDecision) -> Vec<ExplainedRule> {
    let (_, values) = rule_values(policy, input).unwrap_or_default();
    let (_, decisions) = candidate_decisions(policy, input, decision, 1);
    let of_tool = decisions.first();
    let with_body = rules_with_body(policy).into_iter().enumerate();
    let explained = with_body.map(|(number, rule)| {
        let value = values.iter().find(|it| it.name == rule.name);
        let value = value.and_then(|it| it.value.as_ref().ok()?.clone());
        ExplainedRule {
            name: rule.name,
            place: rule.place,
            is_function: rule.is_function,
            value,
            holds: of_tool.is_some_and(|it| it.held.contains(&number)),
            decides: of_tool.is_some_and(|it| it.decided == Some(number)),
        }
    });
    explained.collect()
}
