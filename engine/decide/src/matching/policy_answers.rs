//! The answers of a policy about the candidates of a requirement.

use crate::policy_decision::{Allowed, PolicyDecision};
use crate::rejection::Rejection;
use agent_lower::{Candidate, candidate_class};
use std::collections::{BTreeMap, BTreeSet};

/// The answers of a policy about candidates. Of those that it can't tell apart, it is asked about the first.
#[derive(Debug, Clone)]
pub(crate) struct PolicyAnswers {
    decision: PolicyDecision,
    /// The number of each candidate's class.
    classes: Vec<usize>,
    /// The id of the first candidate of each class, and whether it is allowed.
    first: Vec<(String, bool)>,
}

impl PolicyAnswers {
    /// Asks about candidates, which differ in these members. `None`: in any. The order of candidates stays, so that an error
    /// is the same for all.
    pub(super) fn ask<'i>(
        tools: &mut dyn Iterator<Item = Candidate<'i>>,
        members: Option<&BTreeSet<String>>,
        ask: impl FnOnce(&[Candidate<'i>]) -> PolicyDecision,
    ) -> Self {
        let mut numbers = BTreeMap::new();
        let mut first = Vec::new();
        let mut classes = Vec::new();
        for tool in tools {
            let new = first.len();
            let class = match members {
                Some(members) => *numbers
                    .entry(candidate_class(&tool, members))
                    .or_insert(new),
                None => new,
            };
            if class == new {
                first.push(tool);
            }
            classes.push(class);
        }
        let decision = ask(&first);
        let first = first.iter().map(Candidate::id);
        let first = first.map(|id| {
            let is_allowed = decision.allows(&id);
            (id, is_allowed)
        });
        Self {
            first: first.collect(),
            decision,
            classes,
        }
    }

    /// Returns a failure, which denies every candidate.
    pub(super) fn failed(decision: PolicyDecision) -> Self {
        Self {
            decision,
            classes: Vec::new(),
            first: Vec::new(),
        }
    }

    /// Returns the decision on the first candidate of each class.
    pub(super) fn decision(&self) -> &PolicyDecision {
        &self.decision
    }

    /// Returns whether a candidate is allowed, by its place among all.
    pub(super) fn allows(&self, candidate: usize) -> bool {
        self.of_class(candidate)
            .is_some_and(|(_, is_allowed)| *is_allowed)
    }

    /// Returns the reason against a candidate, by its place among all.
    pub(super) fn denial(&self, candidate: usize) -> Option<Rejection<'_>> {
        let first = self.of_class(candidate);
        Rejection::by_policy(&self.decision, first.map_or("", |(id, _)| id))
    }

    fn of_class(&self, candidate: usize) -> Option<&(String, bool)> {
        self.first.get(*self.classes.get(candidate)?)
    }

    /// Returns the decision as the policy gives it about all candidates, by their ids.
    pub(super) fn on_all(&self, ids: impl Iterator<Item = String>) -> PolicyDecision {
        let answer = self.decision.answer.as_ref().map(|of_first| {
            let mut allowed = Allowed::default();
            for (id, class) in ids.zip(&self.classes) {
                let (first, is_allowed) = &self.first[*class];
                if let Some(reason) = of_first.reasons.get(first) {
                    allowed.reasons.insert(id.clone(), reason.clone());
                }
                if *is_allowed {
                    allowed.tools.insert(id);
                }
            }
            allowed
        });
        PolicyDecision {
            answer: answer.map_err(Clone::clone),
            lines: self.decision.lines.clone(),
        }
    }
}
