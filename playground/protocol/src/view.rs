//! The views that are answered when they are open.

use crate::{Edit, Fix, Place, Reason, Server, ServerName};
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// An eligible server or tool that was not selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
#[serde(rename_all = "camelCase")]
pub struct Eligible {
    /// The server.
    pub server: ServerName,
    /// Which of its tools. Null: of a requirement of a category.
    pub tool: Option<String>,
    /// The rule on which it lost against the selected one: `signed`, `id` or `version`; of a
    /// capability, `priority`, `id`, `version` or `tool`.
    pub lost_on: String,
    /// The rule in words.
    pub text: String,
}

/// The beginning of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed<T> {
    /// The number of the requirement.
    pub requirement: u32,
    /// How many there are in all.
    pub total: u32,
    /// The first of them.
    pub items: Vec<T>,
}

/// A server or a tool that a check held back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// The server.
    pub server: ServerName,
    /// Which of its tools, of a requirement of a capability.
    pub tool: Option<String>,
    /// Why, by that check.
    pub reason: Reason,
}

/// A window of requirements × servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// How many rows fit the filter.
    pub total: u32,
    /// How many rows were passed over.
    pub offset: u32,
    /// The rows: ordered by id, then version, then tool.
    pub rows: Vec<MatrixRow>,
}

/// A server or a tool in the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixRow {
    /// The server.
    pub server: ServerName,
    /// Which of its tools, where each has a row.
    pub tool: Option<String>,
    /// For each requirement a set of bits: one for each check that is failed, in their order, and
    /// one where it was selected. Nothing set: it is eligible. Where servers have rows, those of a
    /// capability say it of the server's best tool; where tools have them, there are no others.
    pub cells: Vec<u16>,
}

impl MatrixRow {
    /// How many checks there are.
    pub const CHECKS: usize = 11;

    /// The bit of a cell whose server or tool was selected.
    pub const SELECTED: u16 = 1 << Self::CHECKS;

    /// The bit, in a filter, for cells without any bit.
    pub const ELIGIBLE: u16 = 1 << (Self::CHECKS + 1);

    /// The bits of the checks.
    pub const FAILED: u16 = (1 << Self::CHECKS) - 1;
}

/// What became of a server, or of one of its tools, for a requirement, check by check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Explanation {
    /// The number of the requirement.
    pub requirement: u32,
    /// The server.
    pub server: Server,
    /// Which of its tools. Null: it is of a requirement of a category, or the server has none.
    pub tool: Option<ToolEntry>,
    /// The server's other tools, by name; empty for a requirement of a category.
    pub others: Vec<String>,
    /// The answer.
    pub verdict: CandidateVerdict,
    /// Every check, in their order.
    pub checks: Vec<Check>,
    /// All reasons, in the order of the checks; empty where it is eligible.
    pub reasons: Vec<Reason>,
    /// What would make it eligible; empty where it is.
    pub fixes: Vec<Fix>,
    /// How its server does, and what would change that. Null: for a requirement of a category.
    pub health: Option<HealthSwitch>,
}

/// A tool in the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct ToolEntry {
    /// The key under which it stands.
    pub name: String,
    /// `description`
    pub description: Option<String>,
    /// What it advertises, as `verb:resource` and the constraints.
    pub advertised: Vec<String>,
    /// What its definition costs, by the estimate.
    pub tokens: u32,
    /// Where it stands.
    pub place: Place,
}

/// How a server does, and the change of the snapshot that has it do otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct HealthSwitch {
    /// How it does. Null: the snapshot doesn't know it, or there is none.
    pub status: Option<String>,
    /// Whether there is a snapshot.
    pub considered: bool,
    /// What it would be switched to: `HEALTHY` or `UNHEALTHY`.
    pub to: String,
    /// The changes to the snapshot; empty where they can't be made.
    pub edits: Vec<Edit>,
}

/// The verdict on a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
#[serde(rename_all = "camelCase")]
pub enum CandidateVerdict {
    /// It was selected.
    Selected,
    /// It would have done, and another one was selected, for the rule in these words.
    Eligible(String),
    /// It will not do.
    Rejected,
}

/// One check, and the values that were compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// The code that a failure has.
    pub code: String,
    /// The check in a word, such as `scopes`.
    pub name: String,
    /// What is asked for; null where nothing is.
    pub required: Option<String>,
    /// What is offered.
    pub offered: String,
    /// Whether it was passed.
    pub passed: bool,
    /// Where it is asked for; null where nothing is, or where that stands nowhere.
    pub asked_at: Option<Place>,
    /// Where the value stands in the index; null where it can't be said.
    pub offered_at: Option<Place>,
}

/// The verdicts under other constraints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supposed {
    /// A requirement each, in file order.
    pub requirements: Vec<SupposedRequirement>,
}

/// A requirement as it is and as it would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupposedRequirement {
    /// The category or the capability that is required.
    pub name: String,
    /// Whether it is a capability.
    pub tools: bool,
    /// The server that is selected; null where none is eligible.
    pub now: Option<ServerName>,
    /// Which of its tools, of a requirement of a capability.
    pub now_tool: Option<String>,
    /// How many are eligible.
    pub now_eligible: u32,
    /// The server that would be selected; null where none would be eligible.
    pub then: Option<ServerName>,
    /// Which of its tools.
    pub then_tool: Option<String>,
    /// How many would be eligible.
    pub then_eligible: u32,
}
