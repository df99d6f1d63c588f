//! The nearest rejected tools, and the changes that make them eligible.

use super::capability::missing;
use super::context::question;
use super::decision::{Matching, fixed_reasons};
use crate::counterfactual::{Change, Counterfactual, apply, insert, smallest, suggestions};
use crate::rejection::Rejection;
use agent_lower::{Candidate, concealed};
use agent_model::{CapabilityRequirement, Constraints, Name, NonEmpty, ToolView};
use agent_text::sort::sort_by;

/// Maximum number of other candidates with which a policy is evaluated again for a supposed tool:
/// a counterfactual must not cost more than the decision.
const EVALUATED_AGAIN: usize = 256;

/// A rejected tool and the changes that make it eligible.
#[derive(Debug, Clone)]
pub struct NearTool<'i> {
    /// The tool.
    pub tool: ToolView<'i>,
    /// The reasons against it.
    pub reasons: NonEmpty<Rejection<'i>>,
    /// Alternative fixes: on the side of the server first, then on that of the manifest or the
    /// task. Each was verified by a second decision, policy and health included.
    pub fixes: Vec<Counterfactual<'i>>,
}

/// The inputs of a decision with changes applied.
struct Supposed<'r> {
    candidate: Candidate<'r>,
    constraints: Constraints,
    requirement: CapabilityRequirement,
}

impl Matching {
    /// Returns a rejected tool with its reasons and fixes, or `None` if it is eligible.
    pub fn near<'r>(&'r self, requirement: usize, tool: ToolView<'r>) -> Option<NearTool<'r>> {
        let reasons = NonEmpty::new(self.reasons(requirement, tool))?;
        let required = Change::Advertise(&self.requirement(requirement).capability);
        let fixes = suggestions(reasons.as_slice(), required)
            .filter_map(|changes| self.verified(requirement, tool, changes))
            .collect();
        Some(NearTool {
            tool,
            reasons,
            fixes,
        })
    }

    /// Returns the rejected tools that need the fewest changes, nearest first; among equals in the
    /// order of views. Tools that don't advertise the verb and the resource count only if no tool
    /// does.
    pub fn nearest(&self, requirement: usize, limit: usize) -> Vec<NearTool<'_>> {
        // The health of a tool's server counts too if the tool failed before health was consulted.
        let with_health = |cost: usize, tool: ToolView<'_>| {
            let vetoed = self.veto(tool.server()).is_some();
            let candidates = self.candidates(requirement);
            let unseen = vetoed && candidates.binary_search(&tool.number()).is_err();
            (cost > 0).then(|| (cost + usize::from(unseen), tool.number()))
        };
        let cost = |reason: &Rejection<'_>| match reason {
            Rejection::ConstraintUnmet { missing } => missing.len(),
            // No change of these inputs removes them, so they count more.
            Rejection::HiddenText { .. }
            | Rejection::PolicyDenied { .. }
            | Rejection::PolicyError { .. } => 4,
            _ => 1,
        };
        let nearest = match self.advertising(requirement) {
            Some(tools) => {
                let costs = tools.filter_map(|tool| {
                    let reasons = self.reasons(requirement, tool);
                    with_health(reasons.iter().map(cost).sum(), tool)
                });
                smallest(costs, limit)
            }
            None => {
                let costs = self.index().tools().filter_map(|tool| {
                    with_health(1 + self.failures(requirement, tool).len(), tool)
                });
                smallest(costs, limit)
            }
        };
        let nearest = nearest.into_iter();
        nearest
            .filter_map(|(_, number)| self.near(requirement, self.index().tool(number)))
            .collect()
    }

    /// Applies the changes and decides again. If health vetoes then, recovery is one more change.
    fn verified<'r>(
        &'r self,
        number: usize,
        tool: ToolView<'r>,
        mut changes: Vec<Change<'r>>,
    ) -> Option<Counterfactual<'r>> {
        let mut supposed = Supposed {
            candidate: Candidate::of(tool),
            constraints: self.constraints().clone(),
            requirement: self.requirement(number).clone(),
        };
        for change in &changes {
            supposed.apply(*change, self.pair(number));
        }
        let Supposed {
            candidate,
            constraints,
            requirement,
        } = &supposed;
        let fixed = fixed_reasons(requirement, constraints, candidate);
        if !fixed.is_empty() || concealed(tool).is_some() || !self.would_allow(number, supposed) {
            return None;
        }
        if self.veto(tool.server()).is_some() {
            changes.push(Change::Recover);
        }
        Some(Counterfactual::new(changes))
    }

    /// Returns whether the policy would allow a supposed tool among the other candidates.
    fn would_allow(&self, number: usize, supposed: Supposed<'_>) -> bool {
        if !self.evaluation_context().has_policy() {
            return true;
        }
        let others = self.candidates(number);
        if others.len() > EVALUATED_AGAIN {
            return false;
        }
        let own = supposed.candidate.tool.number();
        let before = others.partition_point(|other| *other < own);
        let tool = |other| Candidate::of(self.index().tool(other));
        let mut tools: Vec<_> = others.iter().copied().map(tool).collect();
        if others.get(before) == Some(&own) {
            tools[before] = supposed.candidate;
        } else {
            tools.insert(before, supposed.candidate);
        }
        let question = question(&supposed.requirement);
        let answers = self
            .evaluation_context()
            .policy_answers(question, &mut tools.into_iter());
        answers.is_none_or(|answers| answers.allows(before))
    }
}

impl<'r> Supposed<'r> {
    /// Applies a change; `pair` is the required `verb:resource`.
    fn apply(&mut self, change: Change<'r>, pair: &'r str) {
        let Self {
            candidate,
            constraints,
            requirement,
        } = self;
        match change {
            Change::Advertise(capability) => {
                let tags = capability.constraints.iter().map(Name::as_str).collect();
                let advertised = candidate.supposed();
                advertised.push((pair, tags));
                sort_by(advertised, Ord::cmp);
            }
            Change::AddConstraint(tag) => {
                // The block that the reason is about; see `capability_failure`.
                let blocks = candidate.supposed().iter_mut();
                let nearest = blocks
                    .filter(|(advertised, _)| *advertised == pair)
                    .map(|(_, tags)| (missing(&requirement.capability, tags), tags))
                    .min_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
                if let Some((_, tags)) = nearest {
                    insert(tags, tag);
                }
            }
            Change::DropConstraint(tag) => {
                let required = &mut requirement.capability.constraints;
                required.retain(|required| required.as_str() != tag);
            }
            change => apply(change, constraints, &mut candidate.constraint_key),
        }
    }
}
