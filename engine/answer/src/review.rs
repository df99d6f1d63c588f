//! The comparison of two locks for a human who accepts or refuses the later one.

use super::resolution::Drift;
use serde::{Deserialize, Serialize};

/// What the later of two locks changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// The first difference in a sentence, as `agent diff` words it: the most important one that gives the agent
    /// more access, if there is one. `None` if the locks are the same.
    pub sentence: Option<String>,
    /// The differences that give the agent more access, the most important first.
    pub more: Vec<Drift>,
    /// The differences that do neither.
    pub other: Vec<Drift>,
    /// The differences that give the agent less access.
    pub less: Vec<Drift>,
    /// The tools whose definitions differ, by server and name; `None` if an index is missing.
    pub tools: Option<Vec<ReviewedTool>>,
    /// Number of further such tools.
    pub more_tools: u32,
    /// The differences as `agent diff --format markdown` prints them.
    pub markdown: String,
}

/// A tool whose definition the agent gets before, after, or differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewedTool {
    /// The id of its server.
    pub server: String,
    /// The name of the tool.
    pub name: String,
    /// The earlier definition, line by line; `None` if the earlier lock has no such tool.
    pub before: Option<String>,
    /// The later definition, line by line; `None` if the later lock has no such tool.
    pub after: Option<String>,
}
