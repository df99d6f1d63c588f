//! Decisions in words: explanations, messages and fixes. The views arrange them and add nothing.

#![forbid(unsafe_code)]

mod call;
mod call_checks;
mod call_outcome;
mod checks;
mod client_limits;
mod concealed;
mod decision;
mod definition;
mod edit;
mod entry_difference;
mod expansion;
mod explanation;
mod fallback;
mod grounding;
mod input;
mod located;
mod locked_policy;
mod meant;
mod message;
mod misnamed;
#[cfg(feature = "repair")]
mod misspelt_keys;
mod network;
mod offer;
mod plan;
mod plan_checks;
mod plan_documents;
mod plan_fix;
mod plan_proposal;
mod plan_reason;
mod plan_tree;
mod run;
mod schema;
mod served;
mod subject;
mod unsatisfied;
mod unused_selectors;
mod wording;

pub use call::call_denials;
pub use call_checks::call_checks;
pub use call_outcome::{call_problems, payload_denial, step_payload};
pub use checks::{CheckFact, CheckRecord, CheckState};
pub use client_limits::{CLIENT_LIMITS, ClientLimits, client_limits};
pub use concealed::{concealed_definition, left_out_definition, unusable_tools};
pub use decision::{Candidate, Decision, LostOn, RejectedCandidate, Required};
pub use definition::{Former, changes as definition_changes, definitions, detailed, detailed_by};
pub use edit::{Mended, adopt, apply, call_fixes, edits, mend, relaxing};
pub use entry_difference::{EntryDifference, entry_differences};
pub use expansion::{denial, not_expanded, not_exposed, over_budget};
pub use explanation::{
    CandidateCheck, CandidateExplanation, Verdict, explain_server, explain_tool,
};
pub use grounding::{
    Citation, cite, grounded, requote, ungrounded, ungrounded_code, ungrounded_reason,
};
pub use located::located;
pub use locked_policy::policy_mismatch;
pub use misnamed::{matching_diagnostics, resolution_diagnostics};
pub use network::network_denial;
pub use offer::offered_at;
pub use plan::plan_findings;
pub use plan_checks::plan_checks;
pub use plan_documents::PlanDocuments;
pub use plan_fix::{plan_diagnostics, plan_fixes};
pub use plan_proposal::plan_proposals;
pub use run::{addresses, deferred, query_denial, run_denial};
pub use schema::{nearest_schemas, nonconformities};
pub use served::{CallReason, call_reasons};
pub use subject::{Subject, did_you_mean, subject};
pub use unsatisfied::{unmatched, unsatisfied};
pub use unused_selectors::plan_warnings;
pub use wording::{
    check_name, drift, drift_diagnostic, drift_subject, fix, lost, policy_error, policy_failure,
    reason, supposition,
};
