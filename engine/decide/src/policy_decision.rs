//! What a policy answers, whoever evaluates it.

use super::assess::Rejection;
use agent_text::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

/// Something that answers what [`input`](agent_lower::input) asks: the same answer to the same
/// input, always.
pub trait PolicyEngine: Debug + Send + Sync {
    /// Which of the candidates are allowed. Never fails: that there is no answer is one.
    fn ask(&self, input: &str) -> PolicyDecision;
}

/// The answer of a policy to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyDecision {
    /// What is allowed, or why nothing is.
    pub answer: Result<Allowed, PolicyError>,
    /// The lines of the policy that took part, as far as the evaluator can tell: sorted, from 1.
    pub lines: Vec<u32>,
}

/// What a policy allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Allowed {
    /// `data.switchboard.allowed_tools`: ids of candidates, and perhaps others that mean nothing.
    pub tools: BTreeSet<String>,
    /// `data.switchboard.deny_reasons`, where it is a string.
    pub reasons: BTreeMap<String, String>,
}

/// Why a policy gave no answer, which denies everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// What kind of failure it was.
    pub kind: PolicyErrorKind,
    /// What the evaluator says of it.
    pub detail: String,
    /// Where in the policy, if that is known.
    pub place: Option<Place>,
}

/// A kind of failure of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyErrorKind {
    /// It has used up its budget.
    Budget,
    /// It failed.
    Runtime,
    /// `allowed_tools` is something else than a set of strings.
    Type,
    /// `allowed_tools` is not defined.
    Undefined,
}

impl PolicyErrorKind {
    /// Every kind, in the order of the words.
    pub const ALL: [Self; 4] = [Self::Budget, Self::Runtime, Self::Type, Self::Undefined];

    /// The word for it in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Runtime => "runtime",
            Self::Type => "type",
            Self::Undefined => "undefined",
        }
    }
}

/// What a policy says of the tools that it was asked about.
#[derive(Debug, Clone)]
pub(super) enum PolicyDecisions {
    /// Nobody was asked.
    None,
    /// It was asked.
    Given(Arc<PolicyDecision>),
}

impl PolicyDecisions {
    /// Why a policy doesn't let a tool through. None if it does.
    pub(super) fn against(&self, id: impl FnOnce() -> String) -> Option<Rejection<'_>> {
        match &self.policy_decision()?.answer {
            Err(error) => Some(Rejection::PolicyError { reason: error.kind }),
            Ok(allowed) => {
                let id = id();
                (!allowed.tools.contains(&id)).then(|| Rejection::PolicyDenied {
                    reason: allowed.reasons.get(&id).map(String::as_str),
                })
            }
        }
    }

    /// What it said. None if it was not asked.
    pub(super) fn policy_decision(&self) -> Option<&PolicyDecision> {
        match self {
            Self::None => None,
            Self::Given(policy_decision) => Some(policy_decision),
        }
    }
}
