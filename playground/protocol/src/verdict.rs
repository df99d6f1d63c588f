//! The answer to a manifest and an index.

use crate::{Constraints, Diagnostic, Edit, Place, ServerName};
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// All that is known of the inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// Whether every requirement has a server or a tool. Null: an input has errors, and nothing
    /// was decided.
    pub satisfied: Option<bool>,
    /// Every problem of every input, and every requirement without a server or a tool.
    pub diagnostics: Vec<Diagnostic>,
    /// Who the agent is. Null: the manifest has errors.
    pub agent: Option<Agent>,
    /// How many servers there are. Null: the index has errors.
    pub servers: Option<u32>,
    /// How many tools they have. Null: the index has errors.
    pub tools: Option<u32>,
    /// What the manifest demands of all servers.
    pub constraints: Constraints,
    /// Each requirement and its answer: those of categories, then those of capabilities, those of
    /// the task last, each in file order. Empty where nothing was decided.
    pub requirements: Vec<Requirement>,
    /// What the definitions of the selected tools cost. Null: no capability is required, or one has
    /// no tool, or nothing was decided.
    pub tokens: Option<Tokens>,
    /// Why an agent could not be shown the selected tools: names that would not be unique. The lock
    /// is written all the same.
    pub collisions: Vec<Diagnostic>,
    /// The text of `agents.lock`. Null: there is none, because a requirement has no server.
    pub lock: Option<String>,
    /// What is to be said of an existing lock. Null: none was given, or it has errors.
    pub existing: Option<LockVerdict>,
}

/// Who an agent is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Agent {
    /// `name`
    pub name: String,
    /// `version`
    pub version: String,
}

/// One requirement and its answer. It is of a category or of a capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Requirement {
    /// The category that a server must offer. Null: it is of a capability.
    pub category: Option<String>,
    /// What a tool must be able to do. Null: it is of a category.
    pub capability: Option<Capability>,
    /// The scopes that a server must support: sorted, without duplicates.
    pub permissions: Vec<String>,
    /// Where the requirement stands, in the manifest or in the task.
    pub place: Place,
    /// How many servers there are in all; of a capability, how many tools.
    pub all: u32,
    /// The checks in their order.
    pub funnel: Vec<Stage>,
    /// What the policy said of the candidates. Null: it was not asked.
    pub policy_decision: Option<PolicyDecision>,
    /// What became of it.
    pub outcome: Outcome,
}

impl Requirement {
    /// What it is known by: the category, or the verb and the resource.
    pub fn name(&self) -> String {
        let category = self.category.clone();
        let capability = self.capability.as_ref();
        category
            .or_else(|| capability.map(|it| format!("{}:{}", it.verb, it.resource)))
            .unwrap_or_default()
    }
}

/// What a tool must be able to do.
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

/// What a policy said of the candidates of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct PolicyDecision {
    /// Why it gave no answer. Null: it gave one.
    pub error: Option<String>,
    /// Where it failed, in the policy. Null: it did not, or nobody knows.
    pub error_at: Option<Place>,
    /// Its lines that took part: sorted, from 1.
    pub lines: Vec<u32>,
}

/// What the definitions of tools cost of a context window, by the estimate: the bytes of the
/// canonical form of a definition, divided by 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Tokens {
    /// The tools that are shown from the start.
    pub tools: u32,
    /// The stubs that stand in the place of those shown on demand.
    pub stubs: u32,
    /// `token_budget` of the tenant. Null: it has none, or there is no tenant.
    pub budget: Option<u32>,
}

/// One check of the funnel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Stage {
    /// The code that a failure has, such as `MISSING_SCOPE`.
    pub code: String,
    /// The check in a word, such as `scopes`.
    pub name: String,
    /// How many servers or tools are left behind it.
    pub left: u32,
}

/// What became of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "javascript",
    derive(Tsify),
    serde(tag = "verdict", rename_all = "camelCase")
)]
#[expect(
    clippy::large_enum_variant,
    reason = "there are few, and most are of the large one"
)]
pub enum Outcome {
    /// A server was selected, or a tool.
    Selected(Selected),
    /// None is eligible.
    Unsatisfied {
        /// The rejected servers or tools that need the fewest changes, nearest first.
        nearest: Vec<NearMiss>,
    },
}

/// The server of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
#[serde(rename_all = "camelCase")]
pub struct Selected {
    /// Its name.
    pub server: ServerName,
    /// Which of its tools. Null: of a requirement of a category.
    pub tool: Option<SelectedTool>,
    /// Where it is reached.
    pub endpoint: String,
    /// The specification's hash of the selection, 64 hexadecimal digits.
    pub hash: String,
    /// The eligible one that comes next, and the rule on which it lost. Null: there is none.
    pub over: Option<crate::Eligible>,
}

/// The tool of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct SelectedTool {
    /// Its name.
    pub name: String,
    /// The digest of its definition.
    pub definition: String,
    /// What a plan that calls it must have attached: `approval`, or nothing.
    pub obligations: Vec<String>,
    /// What its definition costs, by the estimate.
    pub tokens: u32,
}

/// A rejected server or tool, and what would make it eligible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct NearMiss {
    /// The server.
    pub server: ServerName,
    /// Which of its tools. Null: of a requirement of a category.
    pub tool: Option<String>,
    /// All reasons, in the order of the checks.
    pub reasons: Vec<Reason>,
    /// What would make it eligible: on its own side first.
    pub fixes: Vec<Fix>,
}

/// Why a server or a tool is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Reason {
    /// A code of the catalogue.
    pub code: String,
    /// The predicate of a sentence about it, with the values that were compared.
    pub text: String,
}

/// The smallest set of changes on one side that makes a rejected one eligible. Verified: the
/// engine applied it and decided again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Fix {
    /// An instruction.
    pub text: String,
    /// Whether the manifest asks for less than before.
    pub widening: bool,
    /// The changes to the texts that carry it out. Null: it can't be carried out by editing, or many
    /// requirements have no server, and only the explanation of the server has them.
    pub edits: Option<Vec<Edit>>,
}

/// What is to be said of an existing lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct LockVerdict {
    /// From the existing lock to the one that would be written. Null: none would be.
    pub changes: Option<Vec<Drift>>,
    /// From the existing lock to the entries of the index. Null: the index has errors.
    pub verify: Option<Vec<Drift>>,
}

/// One named difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Drift {
    /// A code of the catalogue.
    pub code: String,
    /// The category it is about; null where it is about none.
    pub category: Option<String>,
    /// The capability it is about, `verb:resource` and the constraints; null where it is about none.
    pub capability: Option<String>,
    /// A sentence with both values.
    pub text: String,
    /// Whether the agent may use or do more than before.
    pub widening: bool,
}
