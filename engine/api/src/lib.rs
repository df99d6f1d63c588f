//! The questions that the engine answers.
//!
//! Each question has one recipe, and it is here: inputs, decision with its trace, diagnostics with
//! their fixes, and what the renderings need. Callers (the component, the browser's worker, tests,
//! benchmarks) add nothing to an answer, and can't: the functions that decide are not exported.
//!
//! | question | answered by |
//! |---|---|
//! | what does each requirement get? | [`resolve`], [`match_tools`] |
//! | which tools does the agent see? | [`expose`], [`services`], [`expand`] |
//! | may a plan run? | [`PlanAnswer`], and [`plan`] for its run |
//! | may a program connect to a destination? | [`network`] |
//! | may an agent call a locked tool, and does it get the result? | [`served`] |
//! | may a call be made, and what did it end with? | [`CallAnswer`], [`complete`] |
//! | does a summary quote its payload? | [`GroundingAnswer`] |
//! | what differs between locks, or from the index? | [`compare`], [`verify`] |
//! | how is a live server added to an index, and compared with it? | [`add`], [`refresh`] |
//! | which tools of an index can no agent call? | [`unusable_tools`] |
//! | what may a new agent require? | [`first_manifest`] |
//! | what do refused documents hide from each other? | [`together()`] |
//! | what do the documents become with the suggested fixes? | [`mend`] |
//! | why does a policy allow or deny a call? | [`policy::explain_policy_call`] |
//! | which secrets would a link hold? | [`redact`] |
//!
//! The engine reads no clock, no file, no environment and no randomness: the same inputs give the
//! same bytes on every host. The numbers in brackets, such as \[0, 2.1\], name a specification and
//! its section.

#![forbid(unsafe_code)]

pub mod answer;
mod call;
mod captured;
mod expansion;
mod grounding;
mod lock;
pub mod network;
pub mod plan;
#[cfg(feature = "policy")]
mod policy_call;
mod redaction;
mod resolution;
pub mod served;
#[cfg(feature = "repair")]
mod together;
#[cfg(not(feature = "repair"))]
#[path = "alone.rs"]
mod together;

pub use agent_explain::{CLIENT_LIMITS, Mended, client_limits, mend, unusable_tools};
pub use agent_import::{first_manifest, import};
pub use agent_render::VERSION;
pub use call::{CallAnswer, complete};
pub use captured::{Refreshed, add, refresh};
pub use expansion::{Refusal, expand, expand_verified, expose, services};
pub use grounding::GroundingAnswer;
pub use lock::{LockText, UnreadableLock, compare, unreadable_lock, verify, verify_definitions};
pub use plan::PlanAnswer;
pub use redaction::{Redaction, redact};
pub use resolution::{match_tools, resolve};
pub use together::together;

pub use agent_diagnostic as diagnostic;
pub use agent_import as documents;
pub use agent_model as model;
pub use agent_render as render;
pub use agent_text as text;

/// Reads inputs, and digests what was read.
pub mod lower {
    #[cfg(feature = "history")]
    pub use agent_lower::is_label;
    pub use agent_lower::{
        CALL, Checked, Concealed, EXPAND, LIST_SERVICES, LocalTime, Lowered, Notation, PLAN_LIMIT,
        PolicyHistory, PolicyOccasion, StoredDefinition, ToolEntry, Validated, bytes_digest,
        call_plan, concealed, concealed_in, context, contradictions, definition, definition_digest,
        digest, health, index, integrity, live_context, lock, locked_digest, manifest,
        misses_history, misses_lookalikes, payload, plan, request, stored_definitions, summarised,
        summary, task, tenant, tools_snapshot,
    };
}

/// The values of decisions.
pub mod decide {
    pub use agent_decide::{
        AuthorizedCall, AuthorizedPlan, CallContext, CallResult, CallVerdict, CapabilityFunnel,
        Change, Counterfactual, Difference, Drift, EvaluationContext, Expand, Expanded,
        ExplainedCall, Exposed, Failures, Funnel, Grounding, HistoryUse, LockState, Matching,
        NearMiss, NearTool, NotExpanded, Outcome, PlanContext, PlanPolicy, PolicyDecision,
        PolicyEngine, PolicyError, PolicyErrorKind, Preference, QueryDenial, Quote, Reason,
        Rejection, Resolution, ResultRuling, RunDenial, ServerUse, Services, StepCheck, TieBreak,
        Verdict, hash, token_estimate,
    };
}

/// The words for decisions.
pub mod explain {
    pub use agent_explain::{
        CallReason, Candidate, CandidateCheck, CandidateExplanation, CheckFact, CheckRecord,
        CheckState, Citation, Decision, EntryDifference, Former, LostOn, RejectedCandidate,
        Subject, Verdict, apply, check_name, cite, concealed_definition, denial, detailed,
        did_you_mean, drift, drift_diagnostic, edits, explain_server, explain_tool, fix, lost,
        matching_diagnostics, nearest_schemas, nonconformities, offered_at, over_budget,
        policy_error, reason, requote, resolution_diagnostics, subject, supposition,
        ungrounded_code, ungrounded_reason, unmatched, unsatisfied,
    };
}

/// The schemas of the project.
pub mod schema {
    pub use agent_json_schema::{Json, Library, LibrarySchema};
}

/// Policies in Rego.
#[cfg(feature = "policy")]
pub mod policy {
    pub use super::policy_call::{AskedCall, explain_policy_call};
    pub use agent_rego::{
        AskedTool, HistoryFinding, HistoryRules, HistoryWant, Policy, PolicyDifference, PolicySide,
        REDACTED, Redactions, TestOutcome, TestVerdict, Tested, Vocabulary, WrittenPolicy,
        asked_tools, never_allows, policy_difference, policy_remarks, read, test, unused_rules,
        vocabulary, written_policy,
    };
}
