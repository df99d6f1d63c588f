//! Candidates of a requirement: servers for a category, tools for a capability.

use crate::{Code, Edit, Fix, Place, Server, ServerName};
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// An eligible candidate that was not selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
#[serde(rename_all = "camelCase")]
pub struct Eligible {
    /// The server.
    pub server: ServerName,
    /// The tool; null for a category requirement.
    pub tool: Option<String>,
    /// The tie-break that the candidate lost: `signed`, `id` or `version`; for a capability
    /// `priority`, `id`, `version` or `tool`.
    pub lost_on: String,
    /// The tie-break in words.
    pub text: String,
}

/// A rejected candidate with the changes that would make it eligible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct NearMiss {
    /// The server.
    pub server: ServerName,
    /// The tool; null for a category requirement.
    pub tool: Option<String>,
    /// All reasons, in the order of the checks.
    pub reasons: Vec<Reason>,
    /// Verified sets of changes of the manifest or the task, which give the agent more access.
    pub fixes: Vec<Fix>,
    /// What would have to be true of the server, as predicates of sentences about it. Its entry and its
    /// health state facts, so this is no fix.
    pub suppositions: Vec<String>,
}

/// A reason of a rejection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Reason {
    /// The code of the failed check.
    pub code: Code,
    /// The predicate of a sentence about the candidate, with the compared values.
    pub text: String,
}

/// The start of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed<T> {
    /// The number of the requirement.
    pub requirement: u32,
    /// Number of items in all.
    pub total: u32,
    /// The first items.
    pub items: Vec<T>,
}

/// A candidate that a check of the funnel rejects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Rejected {
    /// The server.
    pub server: ServerName,
    /// The tool; null for a category requirement.
    pub tool: Option<String>,
    /// The reason that the check gives.
    pub reason: Reason,
}

/// The verdict on one candidate for one requirement, check by check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Explanation {
    /// The number of the requirement.
    pub requirement: u32,
    /// The server.
    pub server: Server,
    /// The tool; null for a category requirement, or if the server has no tools.
    pub tool: Option<ToolEntry>,
    /// The server's other tools, by name; empty for a category requirement.
    pub others: Vec<String>,
    /// The verdict.
    pub verdict: CandidateVerdict,
    /// Every check, in order.
    pub checks: Vec<Check>,
    /// All reasons of a rejection, in the order of the checks.
    pub reasons: Vec<Reason>,
    /// The changes that would make a rejected candidate eligible, as in [`NearMiss::fixes`].
    pub fixes: Vec<Fix>,
    /// What would have to be true of a rejected candidate, as in [`NearMiss::suppositions`].
    pub suppositions: Vec<String>,
    /// The health of the server, and the edit that changes it; null for a category requirement.
    pub health: Option<HealthSwitch>,
}

/// A tool in the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct ToolEntry {
    /// The name of the tool.
    pub name: String,
    /// `description`
    pub description: Option<String>,
    /// The advertised capabilities, as `verb:resource` and constraints.
    pub advertised: Vec<String>,
    /// Estimated tokens of the definition.
    pub tokens: u32,
    /// The place of the tool in the index.
    pub place: Place,
}

/// The health of a server, and the edit of the snapshot that switches it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct HealthSwitch {
    /// The status; null if no snapshot lists the server.
    pub status: Option<String>,
    /// Whether a health snapshot was given.
    pub considered: bool,
    /// The status after the switch: `HEALTHY` or `UNHEALTHY`.
    pub to: String,
    /// The edits of the snapshot; empty if none can make the switch.
    pub edits: Vec<Edit>,
}

/// The verdict on a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
#[serde(rename_all = "camelCase")]
pub enum CandidateVerdict {
    /// Selected.
    Selected,
    /// Eligible, but another candidate was selected by this tie-break.
    Eligible(String),
    /// Not eligible.
    Rejected,
}

/// A check and the values that it compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// The code of a failure.
    pub code: Code,
    /// The check in a word, such as `scopes`.
    pub name: String,
    /// The required value; null if nothing is required.
    pub required: Option<String>,
    /// The offered value.
    pub offered: String,
    /// Whether the candidate passed.
    pub passed: bool,
    /// The place of the requirement; null if no document contains it.
    pub asked_at: Option<Place>,
    /// The place of the offer in the index; null if no value there decides the check.
    pub offered_at: Option<Place>,
}
