//! What a policy says of the candidates for a requirement.

use crate::text::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// Whatever can be asked which candidates are allowed. What evaluates it is not known here.
pub trait PolicyEngine: Debug + Send + Sync {
    /// Ask once, with a JSON text. It has to give the same ruling for the same text, whatever was
    /// asked before.
    fn ask(&self, input: &str) -> Ruling;
}

/// The answer of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// What is allowed, or why that is not known, in which case nothing is.
    pub answer: Result<Allowed, PolicyError>,
    /// The lines of the policy that led to it, from 1, in order.
    pub lines: Vec<u32>,
}

/// What a policy allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Allowed {
    /// The ids of the candidates that are allowed. There may be others in it.
    pub tools: BTreeSet<String>,
    /// Why a candidate is not, by its id. There may be others in it.
    pub reasons: BTreeMap<String, String>,
}

/// Why a policy has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// What kind of reason.
    pub kind: PolicyErrorKind,
    /// One sentence, without a final stop.
    pub detail: String,
    /// Where in the policy, as far as that is known.
    pub place: Option<Place>,
}

/// Kinds of reasons for which a policy has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicyErrorKind {
    /// Its evaluation failed.
    Runtime,
    /// It leaves the answer undefined.
    Undefined,
    /// Its answer is of another type.
    Type,
    /// Its evaluation is more work than it may be.
    Budget,
}

impl PolicyErrorKind {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Undefined => "undefined",
            Self::Type => "type",
            Self::Budget => "budget",
        }
    }
}
