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
    /// The first values of the input, by their JSON pointers: the text of a string, the JSON of another value.
    pub values: Vec<(String, String)>,
    /// The rules in the order of the policy. Functions have no value.
    pub rules: Vec<PolicyRule>,
    /// The same rules for the input with an edited value; null if none was edited, or it is not there.
    pub tried: Option<Vec<PolicyRule>>,
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

/// The part of each rule of a policy in the decisions on tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyCoverage {
    /// The definitions of rules and functions with a body, in the order of the policy.
    pub rules: Vec<CoveredRule>,
    /// Number of pairs of a requirement and a tool that were looked at.
    pub pairs: u32,
    /// Number of pairs that the policy decided.
    pub all: u32,
    /// The first decisions, beginning with those for the chosen requirement.
    pub decisions: Vec<PairDecision>,
}

/// A rule and its part in decisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredRule {
    /// Its name within its package.
    pub name: String,
    /// The place of the name.
    pub place: Place,
    /// Number of pairs for which it held.
    pub pairs: u32,
}

/// The decision of a policy on a tool for a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairDecision {
    /// The requirement.
    pub requirement: String,
    /// The id of the tool.
    pub tool: String,
    /// Whether it is allowed. An error of the policy allows nothing.
    pub allowed: bool,
    /// The policy's own reason; the error, if it failed.
    pub reason: Option<String>,
    /// The name and the place of the rule that decided, if one did.
    pub rule: Option<(String, Place)>,
}
