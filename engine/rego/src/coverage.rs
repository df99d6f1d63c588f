//! The part that each rule took in the decision on each candidate, for people who write a policy.

use super::policy::{Policy, REASONS, TOOLS};
use agent_decide::{PolicyDecision, PolicyEngine as _};
use agent_syntax::json::parse_strict;
use agent_syntax::members::{items, member, string};
use agent_text::Place;

/// A rule with a body. Whether another one held is not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleWithBody {
    /// The name within its package.
    pub name: String,
    /// The place of the name.
    pub place: Place,
    /// Whether it is a function, which has no value of its own.
    pub is_function: bool,
    /// The line at which decisions record that it held.
    line: u32,
}

/// The decision on one candidate, and the rules that took part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateDecision {
    /// The id of the tool.
    pub tool: String,
    /// Whether the policy allows it.
    pub allowed: bool,
    /// The numbers of the rules that held, among those with a body.
    pub held: Vec<usize>,
    /// The number of the rule that allows or denies it; `None` if no rule allows it, and none denies it.
    pub decided: Option<usize>,
}

/// Returns the definitions of rules and functions that have a body, in the order of the text.
pub fn rules_with_body(policy: &Policy) -> Vec<RuleWithBody> {
    let module = policy.module();
    let rules = module.tree.rules.iter();
    let rules = rules.filter(|rule| !rule.bodies.is_empty());
    let rules = rules.map(|rule| RuleWithBody {
        name: rule.name.join("."),
        place: module.text.place(rule.name_span),
        is_function: rule.parameters.is_some(),
        line: module.text.place(rule.span).start.line,
    });
    rules.collect()
}

/// Returns the number of candidates of an input, and the decision on each of the first ones. A policy decides on all of them at once, so each is
/// asked about alone. Where that is decided otherwise, the policy compares candidates: then every rule that held in
/// the common decision counts.
pub fn candidate_decisions(
    policy: &Policy,
    input: &str,
    decision: &PolicyDecision,
    limit: usize,
) -> (usize, Vec<CandidateDecision>) {
    let rules = rules_with_body(policy);
    let root = parse_strict(input);
    let list = root.as_ref().and_then(|it| member(it, "candidate_tools"));
    let Some((list, candidates)) = list.and_then(|list| Some((list, items(list)?))) else {
        return (0, Vec::new());
    };
    let (start, end) = (list.span.start as usize, list.span.end as usize);
    let decisions = candidates.iter().take(limit).map(|candidate| {
        let tool = member(candidate, "id").and_then(string).unwrap_or_default();
        let allowed = decision.allows(tool);
        let own = candidate.span.of(input);
        let alone = policy.ask(&format!("{}[{own}]{}", &input[..start], &input[end..]));
        let agrees =
            alone.answer.is_ok() == decision.answer.is_ok() && alone.allows(tool) == allowed;
        let lines = if agrees {
            &alone.lines
        } else {
            &decision.lines
        };
        let held = (0..rules.len()).filter(|it| lines.contains(&rules[*it].line));
        let held: Vec<_> = held.collect();
        let deciding = if allowed { TOOLS } else { REASONS };
        let decided = held.iter().copied();
        let decided = decided.filter(|_| decision.answer.is_ok());
        let decided = decided.into_iter().find(|it| rules[*it].name == deciding);
        CandidateDecision {
            tool: tool.to_owned(),
            allowed,
            held,
            decided,
        }
    });
    (candidates.len(), decisions.collect())
}
