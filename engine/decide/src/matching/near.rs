//! The rejected tools that come nearest, and what would make them eligible.

use super::{Matching, PolicyDecisions, fixed_reasons};
use crate::counterfactual::{apply_to_constraints, apply_to_key};
use crate::{Change, Counterfactual, Rejection};
use agent_lower::Candidate;
use agent_model::{CapabilityRequirement, Constraints, Name, NonEmpty, ToolNumber, ToolView};
use agent_text::sort::sort_by;
use std::collections::BinaryHeap;

/// A policy is asked again about a supposed tool only beside this many candidates: a
/// counterfactual is not worth more time than the decision.
const ASKED_AGAIN: usize = 256;

/// A rejected tool and what would make it eligible.
#[derive(Debug, Clone)]
pub struct NearTool<'i> {
    /// The tool.
    pub tool: ToolView<'i>,
    /// Why it is rejected.
    pub reasons: NonEmpty<Rejection<'i>>,
    /// What would change that: on the side of the server first, then on that of the manifest or
    /// the task. Each was verified: it was applied, and decided again, policy and health included.
    pub fixes: Vec<Counterfactual<'i>>,
}

/// What a change is applied to.
struct Supposed<'r> {
    candidate: Candidate<'r>,
    constraints: Constraints,
    requirement: CapabilityRequirement,
}

impl Matching {
    /// A rejected tool with its reasons and what would change them. None if it is eligible.
    pub fn near<'r>(&'r self, requirement: usize, tool: ToolView<'r>) -> Option<NearTool<'r>> {
        let reasons = NonEmpty::new(self.reasons(requirement, tool))?;
        let asked = self.requirement(requirement);
        let options = [
            changes(reasons.as_slice(), |reason| on_server(asked, reason)),
            changes(reasons.as_slice(), |reason| in_manifest(reason)),
        ];
        let fixes = options
            .into_iter()
            .flatten()
            .filter_map(|changes| self.verified(requirement, tool, changes))
            .collect();
        Some(NearTool {
            tool,
            reasons,
            fixes,
        })
    }

    /// The rejected tools that need the fewest changes, nearest first; among equals in the order
    /// of views. Those that don't advertise the verb and the resource are among them only where
    /// no tool does.
    pub fn nearest(&self, requirement: usize, limit: usize) -> Vec<NearTool<'_>> {
        let answer = &self.answers[requirement];
        let limit = limit.min(self.index.tool_count());
        let mut nearest: BinaryHeap<(usize, ToolNumber)> = BinaryHeap::with_capacity(limit + 1);
        let mut keep = |cost: usize, number| {
            if cost > 0 {
                nearest.push((cost, number));
                if nearest.len() > limit {
                    nearest.pop();
                }
            }
        };
        // What fails before health is asked has the state of its server to be changed as well.
        let ailing = |cost: usize, tool: ToolView<'_>| {
            let vetoed = self.veto(tool.server()).is_some();
            usize::from(cost > 0 && vetoed && !self.is_candidate(requirement, tool))
        };
        if answer.pair.is_some() {
            for tool in self.advertising(answer) {
                let cost = self
                    .reasons(requirement, tool)
                    .iter()
                    .map(|reason| match reason {
                        Rejection::ConstraintUnmet { missing } => missing.len(),
                        // What no change of these inputs heals stands behind what some would.
                        Rejection::PolicyDenied { .. } | Rejection::PolicyError { .. } => 4,
                        _ => 1,
                    })
                    .sum();
                keep(cost + ailing(cost, tool), tool.number());
            }
        } else {
            for tool in self.index.tools() {
                let cost = 1 + self.failures(requirement, tool).len();
                keep(cost + ailing(cost, tool), tool.number());
            }
        }
        nearest
            .into_sorted_vec()
            .into_iter()
            .filter_map(|(_, number)| self.near(requirement, self.index.tool(number)))
            .collect()
    }

    /// Apply the changes and decide again; where health has a veto then, its end is one more
    /// change.
    fn verified<'r>(
        &'r self,
        number: usize,
        tool: ToolView<'r>,
        mut changes: Vec<Change<'r>>,
    ) -> Option<Counterfactual<'r>> {
        let mut supposed = Supposed {
            candidate: Candidate::of(tool),
            constraints: self.constraints.clone(),
            requirement: self.requirement(number).clone(),
        };
        for change in &changes {
            supposed.apply(*change, &self.answers[number].name);
        }
        let Supposed {
            candidate,
            constraints,
            requirement,
        } = &supposed;
        let will_do = fixed_reasons(requirement, constraints, candidate).is_empty()
            && self.would_allow(number, &supposed);
        if !will_do {
            return None;
        }
        if self.veto(tool.server()).is_some() {
            changes.push(Change::Recover);
        }
        Some(Counterfactual {
            widening: changes.iter().any(|change| change.widening()),
            changes,
        })
    }

    /// Whether the policy would let a supposed tool through beside the candidates there are.
    fn would_allow(&self, number: usize, supposed: &Supposed<'_>) -> bool {
        if !self.evaluation_context.is_governed() {
            return true;
        }
        let others = &self.answers[number].candidates;
        if others.len() > ASKED_AGAIN {
            return false;
        }
        let own = supposed.candidate.tool.number();
        let before = others.partition_point(|other| *other < own);
        let mut tools: Vec<_> = others
            .iter()
            .map(|other| Candidate::of(self.index.tool(*other)))
            .collect();
        if others.get(before) == Some(&own) {
            tools[before] = supposed.candidate.clone();
        } else {
            tools.insert(before, supposed.candidate.clone());
        }
        match self
            .evaluation_context
            .ask(Some(&supposed.requirement), &tools)
        {
            PolicyDecisions::None => true,
            policy_decisions @ PolicyDecisions::Given(_) => policy_decisions
                .against(|| supposed.candidate.id())
                .is_none(),
        }
    }
}

/// The changes for all reasons. None where one of them has none.
fn changes<'r>(
    reasons: &[Rejection<'r>],
    of: impl Fn(&Rejection<'r>) -> Option<Vec<Change<'r>>>,
) -> Option<Vec<Change<'r>>> {
    let changes: Option<Vec<_>> = reasons.iter().map(of).collect();
    Some(changes?.concat())
}

/// What the server would have to change for a reason to vanish.
fn on_server<'r>(
    requirement: &'r CapabilityRequirement,
    reason: &Rejection<'r>,
) -> Option<Vec<Change<'r>>> {
    match reason {
        Rejection::MissingCapability { .. } => {
            Some(vec![Change::Advertise(&requirement.capability)])
        }
        Rejection::ConstraintUnmet { missing } => Some(
            missing
                .iter()
                .map(|tag| Change::AddConstraint(tag))
                .collect(),
        ),
        Rejection::ResidencyMismatch { required, .. } => {
            Some(vec![Change::AddResidency(*required)])
        }
        Rejection::SensitivityExceeded { required, .. } => {
            Some(vec![Change::RaiseSensitivity(*required)])
        }
        Rejection::UnsignedNotAllowed { .. } => Some(vec![Change::Sign]),
        // It is verified whether that is all, and said then.
        Rejection::HealthVeto { .. } => Some(Vec::new()),
        _ => None,
    }
}

/// What the manifest or the task would have to relax for a reason to vanish.
fn in_manifest<'r>(reason: &Rejection<'r>) -> Option<Vec<Change<'r>>> {
    match reason {
        Rejection::ConstraintUnmet { missing } => Some(
            missing
                .iter()
                .map(|tag| Change::DropConstraint(tag))
                .collect(),
        ),
        Rejection::ResidencyMismatch { .. } => Some(vec![Change::DropResidency]),
        Rejection::SensitivityExceeded { offered, .. } => {
            Some(vec![Change::LowerSensitivity(*offered)])
        }
        Rejection::UnsignedNotAllowed { .. } => Some(vec![Change::AllowUnsigned]),
        Rejection::ForbiddenAction { label } => Some(vec![Change::AllowAction(label)]),
        _ => None,
    }
}

impl<'r> Supposed<'r> {
    /// Apply a change; `pair` is what is required, as `verb:resource`.
    fn apply(&mut self, change: Change<'r>, pair: &'r str) {
        let Self {
            candidate,
            constraints,
            requirement,
        } = self;
        match change {
            Change::Advertise(capability) => {
                let tags = capability.constraints.iter().map(Name::as_str).collect();
                candidate.advertised.push((pair, tags));
                sort_by(&mut candidate.advertised, Ord::cmp);
            }
            Change::AddConstraint(tag) => {
                // The block that was told: the one that lacks least, and of equally near ones the
                // one that lacks what is smallest.
                let required = &requirement.capability.constraints;
                let nearest = candidate
                    .advertised
                    .iter_mut()
                    .filter(|(advertised, _)| *advertised == pair)
                    .min_by_key(|(_, tags)| {
                        let lacking: Vec<_> = required
                            .iter()
                            .map(Name::as_str)
                            .filter(|tag| tags.binary_search(tag).is_err())
                            .map(str::to_owned)
                            .collect();
                        (lacking.len(), lacking)
                    });
                if let Some((_, tags)) = nearest
                    && let Err(place) = tags.binary_search(&tag)
                {
                    tags.insert(place, tag);
                }
            }
            Change::DropConstraint(tag) => {
                let required = &mut requirement.capability.constraints;
                required.retain(|required| required.as_str() != tag);
            }
            change => {
                candidate.constraint_key = apply_to_key(change, candidate.constraint_key);
                apply_to_constraints(change, constraints);
            }
        }
    }
}
