//! What the worker answers.

use crate::{Eligible, Explanation, Listed, Matrix, Rejected, Supposed, Verdict};
use serde::{Deserialize, Serialize};

/// An answer. A view that was not asked for, or that there is nothing to show of, is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// That of the question.
    pub revision: u32,
    /// How long the engine took. The worker's script says it beside the answer: it has a clock.
    #[serde(skip)]
    pub milliseconds: f64,
    /// All that is known of the inputs. None: the same as in the last answer.
    pub verdict: Option<Verdict>,
    /// A window of requirements × servers.
    pub matrix: Option<Matrix>,
    /// One server, or one of its tools, and one requirement.
    pub explanation: Option<Explanation>,
    /// The servers or tools that one check of the funnel holds back.
    pub rejected: Option<Listed<Rejected>>,
    /// The eligible servers or tools of a requirement that were not selected, in order of
    /// preference.
    pub eligible: Option<Listed<Eligible>>,
    /// The verdicts under other constraints.
    pub supposed: Option<Supposed>,
    /// The text of `agents.resolution.json`, or a sentence that says why there is none.
    pub resolution: Option<Result<String, String>>,
}

/// What the engine says of itself before it is asked anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version of the engine.
    pub version: String,
    /// The words that `data.residency` may be, in the manifest.
    pub residencies: Vec<String>,
    /// The words that `data.sensitivity` may be, least first.
    pub sensitivities: Vec<String>,
    /// The checks of servers and tools, in their order.
    pub checks: Vec<CheckName>,
    /// Whether this module evaluates policies.
    pub policies: bool,
}

/// A check, and what is said of those that fail it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckName {
    /// The code that a failure has.
    pub code: String,
    /// The check in a word, such as `scopes`.
    pub name: String,
    /// The code in words.
    pub title: String,
    /// What to do about it.
    pub help: String,
}
