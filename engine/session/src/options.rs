//! What a host decides about a session before it begins.

use super::limits::{PAYLOAD_MAX_BYTES, SEED_BYTES};
use super::state::ExportedState;
use agent_api::diagnostic::{Code, Diagnostic};
use agent_record::Secret;
use std::collections::BTreeSet;

/// What a client sees of tools that are locked on demand \[4, 6.1\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expansion {
    /// A stub for each server, which lists, expands and calls them.
    #[default]
    Stub,
    /// The same. Definitions that a session of 2025-11-25 expands are also added to its list.
    List,
    /// Every tool with its definition.
    None,
}

impl Expansion {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stub => "stub",
            Self::List => "list",
            Self::None => "none",
        }
    }
}

/// How a human is asked to approve a call \[4\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApprovalMode {
    /// The call waits, and the host asks.
    #[default]
    Host,
    /// The host asks. A client of 2026-07-28 gets an `input_required` result, and repeats the call; others
    /// wait.
    Retry,
    /// The client asks by a form, if it offers elicitation; otherwise as [`ApprovalMode::Host`]. A client can answer
    /// without a human.
    Elicitation,
}

impl ApprovalMode {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Retry => "retry",
            Self::Elicitation => "elicitation",
        }
    }
}

/// A server of a session without a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedServer {
    /// Its name within the session, which no other has.
    pub name: String,
    /// Its endpoint: a URL, or a package URL of a server that the host starts.
    pub endpoint: String,
}

/// Tools by the ids of their servers; `None` for every tool.
pub type Ignoring = Option<BTreeSet<(String, String)>>;

/// What a host decides about a session before it begins.
#[derive(Debug, Clone)]
pub struct Options {
    /// Random bytes, from which ids of approvals are made: at least [`SEED_BYTES`], which are used.
    pub seed: Vec<u8>,
    /// What a client sees of tools on demand.
    pub expansion: Expansion,
    /// Maximum tokens of definitions that a client gets; `None` for the tenant's `token_budget`.
    pub budget: Option<u64>,
    /// Whether the lock, the policy and the constraints refuse nothing, and what they would refuse is
    /// recorded.
    pub observe: bool,
    /// The servers of a session without a lock, which only observes. A lock names its own.
    pub servers: Vec<ObservedServer>,
    /// The tools, by the ids of their servers, whose unusable patterns the operator agrees to ignore; `None` if nobody is
    /// asked, as when a log is replayed.
    pub ignoring: Ignoring,
    /// Whether the policy may be another one than the lock's, as when two policies are compared under one lock.
    pub any_policy: bool,
    /// Whether records hold the arguments of calls. Otherwise they hold their digests.
    pub audit_arguments: bool,
    /// How a human is asked to approve a call.
    pub approval_mode: ApprovalMode,
    /// Maximum size of a result in bytes.
    pub payload_max_bytes: u64,
    /// The secrets of the host. No record holds their values, and no result with one reaches a client.
    pub secrets: Vec<Secret>,
    /// The last line of the log that the records go on in, without its end. `None` for a new log, or for the end
    /// that the state has.
    pub last_record: Option<Vec<u8>>,
    /// A state that a session exported.
    pub state: Option<ExportedState>,
}

impl Options {
    /// Returns the bytes of the seed that are used.
    ///
    /// # Errors
    /// It is shorter: ids of approvals could be guessed.
    pub(crate) fn seed(&self) -> Result<[u8; SEED_BYTES], Vec<Diagnostic>> {
        self.seed.first_chunk().copied().ok_or_else(|| {
            let text = format!(
                "the seed of the session has {} bytes; at least {SEED_BYTES} are needed",
                self.seed.len()
            );
            vec![Diagnostic::new(Code::NumberOutOfRange, text)]
        })
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: vec![0; SEED_BYTES],
            expansion: Expansion::default(),
            budget: None,
            observe: false,
            servers: Vec::new(),
            ignoring: Some(BTreeSet::new()),
            any_policy: false,
            audit_arguments: false,
            approval_mode: ApprovalMode::default(),
            payload_max_bytes: PAYLOAD_MAX_BYTES,
            secrets: Vec::new(),
            last_record: None,
            state: None,
        }
    }
}
