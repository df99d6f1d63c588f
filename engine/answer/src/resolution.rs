//! The answer to a manifest and an index.

use crate::{Code, Diagnostic, Eligible, Fix, NearMiss, Place, Rejected, ServerName};
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// The answer to a manifest and an index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// Whether every requirement has a server or a tool; null if an input has errors, so that nothing
    /// was decided.
    pub satisfied: Option<bool>,
    /// Every problem of every input, and every requirement without a server or a tool.
    pub diagnostics: Vec<Diagnostic>,
    /// The agent; null if the manifest has errors.
    pub agent: Option<Agent>,
    /// Number of servers; null if the index has errors.
    pub servers: Option<u32>,
    /// Number of tools; null if the index has errors.
    pub tools: Option<u32>,
    /// The constraints of the manifest.
    pub constraints: Constraints,
    /// The requirements and their answers: those of categories, then those of capabilities, those of
    /// the task last, each in file order. Empty if nothing was decided.
    pub requirements: Vec<Requirement>,
    /// Estimated tokens of the selected tools; null if no capability is required, a requirement has
    /// no tool, or nothing was decided.
    pub tokens: Option<Tokens>,
    /// Names of selected tools that an agent would see twice. They do not prevent the lock.
    pub collisions: Vec<Diagnostic>,
    /// The text of `agents.lock`; null if a requirement has no server or tool.
    pub lock: Option<String>,
    /// The comparison with an existing lock; null if there is no readable one.
    pub existing: Option<LockVerdict>,
}

/// The name and version of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Agent {
    /// `name`
    pub name: String,
    /// `version`
    pub version: String,
}

/// The constraints of a manifest that decide about servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
#[serde(rename_all = "camelCase")]
pub struct Constraints {
    /// `data.residency`; null if absent.
    pub residency: Option<String>,
    /// `data.sensitivity`; null if absent.
    pub sensitivity: Option<String>,
    /// `trust.requireSigned`; false if absent.
    pub require_signed: bool,
}

/// A requirement of a category or of a capability, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    /// The category that a server must offer; null for a capability requirement.
    pub category: Option<String>,
    /// The capability that a tool must have; null for a category requirement.
    pub capability: Option<Capability>,
    /// The scopes that a server must support: sorted, without duplicates.
    pub permissions: Vec<String>,
    /// The tools that are locked alone: sorted, without duplicates; empty for every tool of the server.
    pub only: Vec<String>,
    /// What a gateway passes on from the server in addition to its tools: `prompts`, `resources` or
    /// both.
    pub serve: Vec<String>,
    /// The place of the requirement in the manifest or the task.
    pub place: Place,
    /// Number of candidates.
    pub all: u32,
    /// The checks in order.
    pub funnel: Vec<Stage>,
    /// The policy's decision on the candidates; null if the policy did not decide.
    pub policy_decision: Option<PolicyDecision>,
    /// The answer.
    pub outcome: Outcome,
}

impl Requirement {
    /// Returns the category, or the verb and the resource.
    pub fn name(&self) -> String {
        let category = self.category.clone();
        let capability = self.capability.as_ref();
        category
            .or_else(|| capability.map(|it| format!("{}:{}", it.verb, it.resource)))
            .unwrap_or_default()
    }
}

/// A required capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Capability {
    /// `verb`
    pub verb: String,
    /// `resource`
    pub resource: String,
    /// `constraints`: sorted, without duplicates.
    pub constraints: Vec<String>,
    /// `load`: `essential` or `on_demand`.
    pub load: String,
}

/// A policy's decision on the candidates of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
#[serde(rename_all = "camelCase")]
pub struct PolicyDecision {
    /// The reason why the policy gave no answer; null if it gave one.
    pub error: Option<String>,
    /// The place of the error in the policy; null without an error, or if its place is unknown.
    pub error_at: Option<Place>,
    /// The lines of the policy that took part: sorted, from 1.
    pub lines: Vec<u32>,
}

/// Estimated tokens: the bytes of the canonical form of the definitions, divided by 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Tokens {
    /// The tools that are loaded at the start.
    pub tools: u32,
    /// The stubs of tools that are loaded on demand.
    pub stubs: u32,
    /// `token_budget` of the tenant; null if it is not set.
    pub budget: Option<u32>,
}

/// A check of the funnel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Stage {
    /// The code of a failure.
    pub code: Code,
    /// The check in a word, such as `scopes`.
    pub name: String,
    /// Number of candidates that pass this check and those before it.
    pub left: u32,
    /// The candidates that fail this check and pass those before it; empty if the requirement has more than
    /// [`Stage::NAMED`] candidates.
    pub lost: Vec<Rejected>,
}

impl Stage {
    /// Maximum number of candidates of a requirement whose funnel names those that it loses.
    pub const NAMED: u32 = 6;
}

/// The answer to a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "javascript",
    derive(Tsify),
    serde(tag = "verdict", rename_all = "camelCase")
)]
#[allow(
    clippy::large_enum_variant,
    reason = "there are few, and most are of the large one"
)]
pub enum Outcome {
    /// A server or a tool was selected.
    Selected(Selected),
    /// No candidate is eligible.
    Unsatisfied {
        /// The rejected candidates that need the fewest changes, nearest first.
        nearest: Vec<NearMiss>,
    },
}

/// The selected candidate of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Selected {
    /// The server.
    pub server: ServerName,
    /// The tool; null for a category requirement.
    pub tool: Option<SelectedTool>,
    /// The URL of the server.
    pub endpoint: String,
    /// What the import of the server found in no source: `data`, for the rating of its data, and `tools`.
    pub unknown: Vec<String>,
    /// The hash of the selection, 64 hexadecimal digits.
    pub hash: String,
    /// The next eligible candidate and the tie-break that it lost; null without another candidate.
    pub over: Option<Eligible>,
    /// The eligible tool that is locked as a fallback, and the tie-break that it lost; null without a
    /// fallback.
    pub fallback: Option<Eligible>,
}

/// The tool of a capability requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct SelectedTool {
    /// The name of the tool.
    pub name: String,
    /// The digest of the definition.
    pub definition: String,
    /// The obligations of a plan that calls the tool: `approval`, or none.
    pub obligations: Vec<String>,
    /// Estimated tokens of the definition.
    pub tokens: u32,
    /// The other tools of its server that are selected with it, ordered by name.
    pub also: Vec<String>,
}

/// The comparison with an existing lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct LockVerdict {
    /// The drifts from the existing lock to the new one; null if there is no new one.
    pub changes: Option<Vec<Drift>>,
    /// The drifts from the existing lock to the index; null if the index has errors.
    pub verify: Option<Vec<Drift>>,
}

/// One named difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Drift {
    /// The code of the difference.
    pub code: Code,
    /// The category; null if the difference is not about one.
    pub category: Option<String>,
    /// The capability, as `verb:resource` and constraints; null if the difference is not about one.
    pub capability: Option<String>,
    /// A sentence with both values.
    pub text: String,
    /// The differences of a changed definition, as sentences; empty if one of its texts is not known.
    pub details: Vec<String>,
    /// The places of the earlier value in the lock and of the present one in the index, if known.
    pub places: Vec<Place>,
    /// Whether the difference gives the agent more access.
    pub widening: bool,
}

/// The answers under other constraints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supposed {
    /// One for each requirement, in file order.
    pub requirements: Vec<SupposedRequirement>,
    /// The fix that gives the manifest these constraints; null if it has them, or no edit can be made. It
    /// is unsafe if they admit servers that those of the manifest refuse.
    pub adopt: Option<Fix>,
}

/// The answers to a requirement under the manifest's constraints and under others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupposedRequirement {
    /// The category or the capability.
    pub name: String,
    /// Whether it is a capability.
    pub tools: bool,
    /// The selected server; null if none is eligible.
    pub now: Option<ServerName>,
    /// The selected tool, for a capability requirement.
    pub now_tool: Option<String>,
    /// Number of eligible candidates.
    pub now_eligible: u32,
    /// The server under the other constraints; null if none is eligible.
    pub then: Option<ServerName>,
    /// The tool under the other constraints.
    pub then_tool: Option<String>,
    /// Number of eligible candidates under the other constraints.
    pub then_eligible: u32,
    /// The nearest candidate under the other constraints, if none is eligible.
    pub nearest: Option<NearMiss>,
}
