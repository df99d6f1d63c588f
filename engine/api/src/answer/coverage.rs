//! The part of each rule of a policy in the present decision.

use super::verdict::failure;
use agent_answer::{CoveredRule, PairDecision, PolicyCoverage};
use agent_decide::Resolution;
use agent_explain::Decision;
use agent_rego::{Policy, candidate_decisions, rules_with_body};

/// Maximum number of pairs of a requirement and a tool that are looked at: each costs an evaluation.
const PAIRS: usize = 100;

/// Maximum number of decisions that are listed.
const LISTED: usize = 20;

/// Returns the part of each rule in the decisions on tools. `first` is the number of the requirement whose decisions come
/// first.
pub fn coverage(policy: &Policy, resolution: &Resolution, first: u32) -> PolicyCoverage {
    let mut coverage = PolicyCoverage {
        rules: rules_with_body(policy)
            .into_iter()
            .map(|rule| CoveredRule {
                name: rule.name,
                place: rule.place,
                pairs: 0,
            })
            .collect(),
        pairs: 0,
        all: 0,
        decisions: Vec::new(),
    };
    let mut requirements: Vec<_> = (0..).zip(Decision::all(resolution)).collect();
    requirements.sort_by_key(|(number, _)| *number != first);
    for (_, requirement) in requirements {
        let Decision::Capability(matching, number) = requirement else {
            continue;
        };
        let asked = matching
            .whole_policy_decision(number)
            .zip(matching.policy_input(number));
        let Some((decision, input)) = asked else {
            continue;
        };
        let room = PAIRS - coverage.pairs as usize;
        let (all, decisions) = candidate_decisions(policy, &input, &decision, room);
        coverage.all += all as u32;
        for found in decisions {
            coverage.pairs += 1;
            for rule in &found.held {
                coverage.rules[*rule].pairs += 1;
            }
            if coverage.decisions.len() == LISTED {
                continue;
            }
            let rule = found.decided.map(|it| &coverage.rules[it]);
            let reason = match &decision.answer {
                Ok(allowed) => allowed.reasons.get(&found.tool).cloned(),
                Err(error) => Some(failure(error)),
            };
            coverage.decisions.push(PairDecision {
                requirement: requirement.required().name,
                rule: rule.map(|it| (it.name.clone(), it.place)),
                allowed: found.allowed,
                reason: reason.filter(|_| !found.allowed),
                tool: found.tool,
            });
        }
    }
    coverage
}
