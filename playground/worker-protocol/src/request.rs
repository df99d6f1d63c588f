//! The page's questions.

use agent_answer::{Constraints, Filter, ServerName};
use serde::{Deserialize, Serialize};

/// The open views of the page. The answer has a member of the same name for each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// A window of requirements × servers.
    pub matrix: Option<MatrixRequest>,
    /// One candidate of one requirement.
    pub explanation: Option<ExplanationRequest>,
    /// The candidates that one check of the funnel rejects.
    pub rejected: Option<RejectedRequest>,
    /// The eligible candidates of a requirement.
    pub eligible: Option<ListRequest>,
    /// The number of a requirement for which the policy is evaluated rule by rule.
    pub policy: Option<u32>,
    /// A value of the policy's input to try: its JSON pointer, a space, and another value. Blank without one.
    pub tried: String,
    /// Other constraints.
    pub supposed: Option<Constraints>,
    /// The number of satisfied requirements under every residency and sensitivity, where signatures are
    /// required as supposed, or as in the manifest.
    pub counts: bool,
    /// The text of `agents.resolution.json`, and the number of bytes after which it may end.
    pub resolution: Option<u32>,
    /// All problems as SARIF. The first module of the engine has no code for it.
    pub report: bool,
}

/// A window of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixRequest {
    /// The filter of the rows.
    pub filter: Filter,
    /// Number of rows before the window.
    pub offset: u32,
    /// Maximum number of rows in the window.
    pub limit: u32,
}

/// A candidate of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplanationRequest {
    /// The number of the requirement.
    pub requirement: u32,
    /// The server.
    pub server: ServerName,
    /// The tool; without one, the best tool of the server for a capability requirement.
    pub tool: Option<String>,
}

/// The candidates that one check of the funnel rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedRequest {
    /// The number of the requirement.
    pub requirement: u32,
    /// The number of the check in the requirement's funnel, from 0.
    pub check: u8,
    /// Maximum number of items.
    pub limit: u32,
}

/// A list of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRequest {
    /// The number of the requirement.
    pub requirement: u32,
    /// Maximum number of items.
    pub limit: u32,
}
