//! The answer to a manifest and an index.

use crate::{Constraints, Diagnostic, Edit, Place, ServerName};
use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// All that is known of the inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
#[tsify(missing_as_null)]
pub struct Verdict {
    /// Whether every requirement has a server. Null: an input has errors, and nothing was
    /// decided.
    pub satisfied: Option<bool>,
    /// Every problem of every input, and every requirement without a server.
    pub diagnostics: Vec<Diagnostic>,
    /// Who the agent is. Null: the manifest has errors.
    pub agent: Option<Agent>,
    /// How many servers there are. Null: the index has errors.
    pub servers: Option<u32>,
    /// What the manifest demands of all servers.
    pub constraints: Constraints,
    /// Each requirement and its answer, in file order; empty where nothing was decided.
    pub requirements: Vec<Requirement>,
    /// The text of `agents.lock`. Null: there is none, because a requirement has no server.
    pub lock: Option<String>,
    /// What is to be said of an existing lock. Null: none was given, or it has errors.
    pub existing: Option<LockVerdict>,
}

/// Who an agent is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct Agent {
    /// `name`
    pub name: String,
    /// `version`
    pub version: String,
}

/// One requirement and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct Requirement {
    /// The category that a server must offer.
    pub category: String,
    /// The scopes that it must support: sorted, without duplicates.
    pub permissions: Vec<String>,
    /// Where the requirement stands in the manifest.
    pub place: Place,
    /// How many servers there are in all.
    pub all: u32,
    /// The five checks in their order.
    pub funnel: Vec<Stage>,
    /// What became of it.
    pub outcome: Outcome,
}

/// One check of the funnel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct Stage {
    /// The code that a failure has, such as `MISSING_SCOPE`.
    pub code: String,
    /// The check in a word, such as `scopes`.
    pub name: String,
    /// How many servers are left behind it.
    pub left: u32,
}

/// What became of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(tag = "verdict", rename_all = "camelCase")]
pub enum Outcome {
    /// A server was selected.
    Selected(Selected),
    /// No server is eligible.
    Unsatisfied {
        /// The rejected servers that need the fewest changes, nearest first.
        nearest: Vec<Near>,
    },
}

/// The server of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
#[tsify(missing_as_null)]
pub struct Selected {
    /// Its name.
    pub server: ServerName,
    /// Where it is reached.
    pub endpoint: String,
    /// The specification's hash of the selection, 64 hexadecimal digits.
    pub hash: String,
    /// The eligible server that comes next, and the rule on which it lost. Null: there is none.
    pub over: Option<crate::Eligible>,
}

/// A rejected server, and what would make it eligible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct Near {
    /// The server.
    pub server: ServerName,
    /// All reasons, in the order of the checks.
    pub reasons: Vec<Reason>,
    /// What would make it eligible: on its own side first.
    pub fixes: Vec<Fix>,
}

/// Why a server is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct Reason {
    /// A code of the catalogue.
    pub code: String,
    /// The predicate of a sentence about the server, with the values that were compared.
    pub text: String,
}

/// The smallest set of changes on one side that makes a rejected server eligible. Verified: the
/// engine applied it and decided again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct Fix {
    /// An instruction.
    pub text: String,
    /// Whether the manifest asks for less than before.
    pub widening: bool,
    /// The changes to the texts that carry it out. Null: it can't be carried out by editing, or many
    /// requirements have no server, and only the story of the server has them.
    pub edits: Option<Vec<Edit>>,
}

/// What is to be said of an existing lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct LockVerdict {
    /// From the existing lock to the one that would be written. Null: none would be.
    pub changes: Option<Vec<Drift>>,
    /// From the existing lock to the entries of the index. Null: the index has errors.
    pub verify: Option<Vec<Drift>>,
}

/// One named difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[tsify(missing_as_null)]
pub struct Drift {
    /// A code of the catalogue.
    pub code: String,
    /// The category it is about; null where it is about none.
    pub category: Option<String>,
    /// A sentence with both values.
    pub text: String,
    /// Whether the agent may use or do more than before.
    pub widening: bool,
}
