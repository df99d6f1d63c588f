//! What any view may know of a decision, and the words for it. Views arrange; they add nothing.

#![forbid(unsafe_code)]

mod call;
mod call_checks;
mod call_outcome;
mod checks;
mod definition;
mod edit;
mod expansion;
mod grounding;
mod offer;
mod plan;
mod plan_checks;
mod plan_documents;
mod plan_fix;
mod plan_proposal;
mod plan_tree;
mod story;
mod tool_story;
mod unsatisfied;
mod verdict;
mod wording;

pub use call::call_denials;
pub use call_checks::call_checks;
pub use call_outcome::call_problems;
pub use checks::{CheckFact, CheckState, Checked};
pub use definition::detailed;
pub use edit::{apply, call_fixes, edits};
pub use expansion::{denial, not_expanded, not_exposed, over_budget};
pub use grounding::{Citation, cite, requote, ungrounded, ungrounded_code, ungrounded_reason};
pub use offer::offered_at;
pub use plan::{
    addresses, deferred, destination, nearest_schemas, nonconformities, plan_findings,
    query_denial, run_denial,
};
pub use plan_checks::plan_checks;
pub use plan_documents::PlanDocuments;
pub use plan_fix::{FIX_BYTES, FIX_CHANGES, FIX_LIMIT, fix_words, plan_diagnostics, plan_fixes};
pub use plan_proposal::plan_proposals;
pub use story::{Check, Story, Subject, did_you_mean, story, subject};
pub use tool_story::{ToolStory, tool_story};
pub use unsatisfied::{unmatched, unsatisfied};
pub use verdict::{ServerVerdict, ToolVerdict, Verdict};
pub use wording::{
    change, check_name, drift, drift_diagnostic, fix, lost, outranked, policy_error, reason,
};
