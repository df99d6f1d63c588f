//! What a policy was asked, and what each of its rules makes of it.

use crate::Place;
use serde::{Deserialize, Serialize};

/// The evaluation of a policy for one requirement, rule by rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyEvaluation {
    /// The number of the requirement.
    pub requirement: u32,
    /// The input as JSON; cut off if it is large.
    pub input: String,
    /// Number of bytes of the whole input.
    pub input_bytes: u32,
    /// The rules in the order of the policy. Functions have no value.
    pub rules: Vec<PolicyRule>,
}

/// A rule of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRule {
    /// Its name within its package.
    pub name: String,
    /// The place of the name.
    pub place: Place,
    /// Its value as JSON, cut off if it is large; null if it is undefined.
    pub value: Option<String>,
    /// The reason why it has no value; null if it has one, or is undefined.
    pub error: Option<String>,
}
