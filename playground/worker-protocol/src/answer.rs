//! The worker's reply.

use agent_answer::{Code, Eligible, Explanation, Listed, Matrix, Rejected, Supposed, Verdict};
use serde::{Deserialize, Serialize};

/// An answer. A view that was not requested, or that has nothing to show, is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The answer to manifest and index. None: the same as in the last answer.
    pub verdict: Option<Verdict>,
    /// Whether the larger module has more to say of the verdict.
    pub is_partial: bool,
    /// A window of requirements × servers.
    pub matrix: Option<Matrix>,
    /// One candidate of one requirement.
    pub explanation: Option<Explanation>,
    /// The candidates that one check of the funnel rejects.
    pub rejected: Option<Listed<Rejected>>,
    /// The eligible candidates of a requirement that were not selected, in order of preference.
    pub eligible: Option<Listed<Eligible>>,
    /// The [policy at work](crate::PolicyView), as bytes: the first module of the engine has no code for it.
    pub policy: Option<Vec<u8>>,
    /// The verdicts under other constraints.
    pub supposed: Option<Supposed>,
    /// The number of satisfied requirements for each sensitivity under each residency; of both, none is
    /// first. None also if a policy would be asked too often.
    pub counts: Option<Vec<u32>>,
    /// The text of `agents.resolution.json` or its beginning, or the reason why it is not written.
    pub resolution: Option<Result<Explained, String>>,
    /// All problems as SARIF.
    pub report: Option<String>,
}

/// A text of `agents.resolution.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explained {
    /// The text, or its beginning.
    pub text: String,
    /// Whether the text is whole.
    pub is_whole: bool,
}

/// The properties of an engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version.
    pub version: String,
    /// The values of `data.residency`.
    pub residencies: Vec<String>,
    /// The values of `data.sensitivity`, least first.
    pub sensitivities: Vec<String>,
    /// The codes of the checks of servers and tools, in order.
    pub checks: Vec<Code>,
    /// Whether this module evaluates policies.
    pub policies: bool,
}
