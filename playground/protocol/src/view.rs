//! The views that are answered when they are open.

use crate::{Fix, Place, Reason, Server, ServerName};
use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// An eligible server that was not selected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Eligible {
    /// The server.
    pub server: ServerName,
    /// The rule on which it lost against the selected one: `signed`, `id` or `version`.
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

/// A server that a check held back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallen {
    /// The server.
    pub server: ServerName,
    /// Why, by that check.
    pub reason: Reason,
}

/// A window of requirements × servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    /// How many servers fit the filter.
    pub total: u32,
    /// How many rows were passed over.
    pub offset: u32,
    /// The rows: ordered by id, then version.
    pub rows: Vec<MatrixRow>,
}

/// A server in the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixRow {
    /// The server.
    pub server: ServerName,
    /// For each requirement a set of bits: 0 to 4 for each check that is failed, in their order;
    /// 5 where it was selected. Nothing set: it is eligible.
    pub cells: Vec<u8>,
}

impl MatrixRow {
    /// The bit of a cell whose server was selected.
    pub const SELECTED: u8 = 1 << 5;

    /// The bit, in a filter, for cells without any bit.
    pub const ELIGIBLE: u8 = 1 << 6;

    /// The bits of the checks.
    pub const FAILED: u8 = (1 << 5) - 1;
}

/// What became of a server for a requirement, check by check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
pub struct Story {
    /// The number of the requirement.
    pub requirement: u32,
    /// The server.
    pub server: Server,
    /// The answer.
    pub verdict: StoryVerdict,
    /// Every check, in their order.
    pub checks: Vec<Check>,
    /// All reasons, in the order of the checks; empty where it is eligible.
    pub reasons: Vec<Reason>,
    /// What would make it eligible; empty where it is.
    pub fixes: Vec<Fix>,
}

/// The answer of a story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub enum StoryVerdict {
    /// It was selected.
    Selected,
    /// It would have done, and another one was selected, for the rule in these words.
    Eligible(String),
    /// It will not do.
    Rejected,
}

/// One check, and the values that were compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
#[tsify(missing_as_null)]
pub struct Check {
    /// The code that a failure has.
    pub code: String,
    /// The check in a word, such as `scopes`.
    pub name: String,
    /// What is asked for; null where nothing is.
    pub required: Option<String>,
    /// What the server offers.
    pub offered: String,
    /// Whether it was passed.
    pub passed: bool,
    /// Where it is asked for, in the manifest; null where nothing is.
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
    /// The category that is required.
    pub category: String,
    /// The server that is selected; null where none is eligible.
    pub now: Option<ServerName>,
    /// How many are eligible.
    pub now_eligible: u32,
    /// The server that would be selected; null where none would be eligible.
    pub then: Option<ServerName>,
    /// How many would be eligible.
    pub then_eligible: u32,
}
