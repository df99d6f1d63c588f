//! What a host decides about a run before it begins.

use agent_api::model::DriverKind;
use agent_record::Secret;
use core::fmt;

/// What a host decides about a run before it begins.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The name of the run and of its folder: `[a-z0-9][a-z0-9_-]*`, at most 64 characters. No other
    /// run of the request may have it.
    pub run_id: String,
    /// Random bytes, from which names of evidence are made.
    pub random: [u8; 32],
    /// The sandbox in which this host starts programs, such as `bubblewrap`.
    pub sandbox_tier: String,
    /// The handlers of this host: the built-in ones, and those that its operator admits.
    pub handlers: Vec<Handler>,
    /// Digests that the caller approves.
    pub approvals: Vec<String>,
    /// The secrets that actions may name. Their values appear in nothing that the run emits.
    pub secrets: Vec<Secret>,
    /// What the run is for.
    pub mode: Mode,
    /// Whether [`Mode::Ask`] asks the planner for a summary of the payload.
    pub asks_for_summary: bool,
    /// Whether the documents are those of evidence that does not verify. The episode of the decision says so.
    pub is_unverified: bool,
}

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Decide on the plan and carry it out.
    #[default]
    CarryOut,
    /// Decide on the plan, and record the decision.
    Decide,
    /// Decide on the plan and describe its effects. Nothing is stored.
    Preview,
    /// Answer a query with one call of one tool \[1\].
    Ask,
}

/// A handler that this host has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handler {
    /// Its kind.
    pub driver_kind: DriverKind,
    /// Its digest: `sha256-` and base64.
    pub digest: String,
    /// Whether it executes the bindings of its kind that name no handler.
    pub is_builtin: bool,
}

/// Options that no run can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidRunId;

impl Options {
    /// Checks the run id.
    ///
    /// # Errors
    /// No folder can have it.
    pub(crate) fn check(&self) -> Result<(), InvalidRunId> {
        if is_run_id(&self.run_id) {
            Ok(())
        } else {
            Err(InvalidRunId)
        }
    }
}

impl fmt::Display for InvalidRunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a run id has 1 to 64 of `a-z`, `0-9`, `_` and `-`, and begins with a letter or digit",
        )
    }
}

fn is_run_id(text: &str) -> bool {
    let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut bytes = text.bytes();
    bytes.next().is_some_and(fits)
        && text.len() <= 64
        && bytes.all(|c| fits(c) || matches!(c, b'_' | b'-'))
}
