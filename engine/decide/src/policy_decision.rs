//! The answer of a policy, independent of its evaluator.

use agent_text::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// An evaluator of a policy. The same [`input`](agent_lower::input) always gets the same answer.
pub trait PolicyEngine: Debug + Send + Sync {
    /// Returns the allowed candidates. A failure is an answer too.
    fn ask(&self, input: &str) -> PolicyDecision;

    /// Returns `sha256-` and the base64 of the SHA-256 of the policy's text, with each CRLF as LF.
    fn digest(&self) -> String;

    /// Returns the digest to compare with that of a lock. Older locks have the digest of the policy's bytes, which is
    /// accepted too.
    fn digest_for(&self, _locked: Option<&str>) -> String {
        self.digest()
    }

    /// Returns whether a decision may depend on a member of the input, such as `arguments`. `true` if that
    /// is not known.
    fn may_read(&self, _member: &str) -> bool {
        true
    }

    /// Returns the members of candidates that a decision on one may depend on, if it does not depend on how many others there
    /// are and which. Candidates with equal members then get the same answer. `None` if that is not known.
    fn candidate_members(&self) -> Option<&BTreeSet<String>> {
        None
    }

    /// Returns what a decision on a call depends on of the history of calls.
    fn history_use(&self) -> HistoryUse {
        HistoryUse::default()
    }

    /// Returns whether the policy decides about results.
    fn rules_results(&self) -> bool {
        false
    }

    /// Returns the fate of the result in an input. A failure is an answer too.
    fn ask_result(&self, _input: &str) -> ResultDecision {
        ResultDecision {
            answer: Ok(ResultRuling::default()),
            lines: Vec::new(),
        }
    }

    /// Returns the comparisons that decided against the only candidate of an input, if the evaluator
    /// knows them. `held` are the lines of its decision.
    fn facts(&self, _input: &str, _held: &[u32]) -> Vec<PolicyFact> {
        Vec::new()
    }
}

/// The answer of a policy to one result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultDecision {
    /// The fate of the result, or the failure, which withholds it.
    pub answer: Result<ResultRuling, PolicyError>,
    /// The lines of the policy that took part: sorted, from 1.
    pub lines: Vec<u32>,
}

/// The fate of a result: `data.switchboard.results`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultRuling {
    /// `action`
    pub action: ResultAction,
    /// `reason`
    pub reason: Option<String>,
    /// `pointers`: the JSON pointers into `structuredContent` whose values are redacted.
    pub pointers: Vec<String>,
    /// `patterns`: regular expressions whose matches are redacted.
    pub patterns: Vec<String>,
}

/// The fate of a result, the least strict first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ResultAction {
    /// The agent gets it.
    #[default]
    Allow,
    /// The agent gets the rest.
    Redact,
    /// A human decides.
    Ask,
    /// The agent does not get it.
    Withhold,
}

impl ResultAction {
    /// Returns the action of a name in policies.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "allow" => Self::Allow,
            "redact" => Self::Redact,
            "ask" => Self::Ask,
            "withhold" => Self::Withhold,
            _ => return None,
        })
    }
}

/// What a policy reads of the history of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HistoryUse {
    /// Whether it reads the history.
    pub reads: bool,
    /// Whether it reads single calls, not only labels and counts.
    pub reads_calls: bool,
    /// The window that it states, in milliseconds.
    pub window_ms: Option<u64>,
    /// The place of a rule that reads single calls and does not look at those that were folded.
    pub ignores_folded: Option<Place>,
}

/// A part of a policy that decided against a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFact {
    /// The place in the policy.
    pub place: Place,
    /// The value that it found, and what it allows instead.
    pub text: String,
}

/// The answer of a policy to one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyDecision {
    /// The allowed tools, or the failure, which denies every tool.
    pub answer: Result<Allowed, PolicyError>,
    /// The lines of the policy that took part, as far as the evaluator knows: sorted, from 1.
    pub lines: Vec<u32>,
}

impl PolicyDecision {
    /// Returns whether a tool is allowed, by its id.
    pub fn allows(&self, id: &str) -> bool {
        let allowed = self.answer.as_ref();
        allowed.is_ok_and(|allowed| allowed.tools.contains(id))
    }

    /// Returns why a tool is denied, by its id. `None` if it is allowed.
    pub fn denial(&self, id: &str) -> Option<String> {
        match &self.answer {
            Ok(allowed) if allowed.tools.contains(id) => None,
            Ok(allowed) => {
                let reason = allowed.reasons.get(id).cloned();
                Some(reason.unwrap_or_else(|| "no rule allows it".to_owned()))
            }
            Err(error) => Some(format!("the policy fails: {}", error.detail)),
        }
    }
}

/// The tools that a policy allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Allowed {
    /// `data.switchboard.allowed_tools`: ids of candidates. Other strings have no effect.
    pub tools: BTreeSet<String>,
    /// `data.switchboard.deny_reasons`, without values that are not strings.
    pub reasons: BTreeMap<String, String>,
}

/// A failure of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// The kind of failure.
    pub kind: PolicyErrorKind,
    /// The message of the evaluator.
    pub detail: String,
    /// The place in the policy, if known.
    pub place: Option<Place>,
}

/// A kind of failure of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyErrorKind {
    /// The policy used up its budget.
    Budget,
    /// It reads a history that is not known, or of which the calls that it reads were folded.
    History,
    /// The evaluation failed.
    Runtime,
    /// `allowed_tools` is not a set of strings.
    Type,
    /// `allowed_tools` is not defined.
    Undefined,
}

impl PolicyErrorKind {
    /// Every kind, in the order of the names.
    pub const ALL: [Self; 5] = [
        Self::Budget,
        Self::History,
        Self::Runtime,
        Self::Type,
        Self::Undefined,
    ];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::History => "history",
            Self::Runtime => "runtime",
            Self::Type => "type",
            Self::Undefined => "undefined",
        }
    }
}
