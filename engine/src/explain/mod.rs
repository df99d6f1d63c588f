//! What any view may know of a decision, and the words for it. Views arrange; they add nothing.

#[cfg(feature = "plan")]
mod call;
#[cfg(feature = "plan")]
mod call_checks;
#[cfg(feature = "plan")]
mod checks;
mod definition;
mod edit;
mod expansion;
mod grounding;
mod offer;
#[cfg(feature = "plan")]
mod plan;
#[cfg(feature = "plan")]
mod plan_checks;
#[cfg(feature = "plan")]
mod plan_fix;
#[cfg(feature = "plan")]
mod plan_proposal;
#[cfg(feature = "plan")]
mod settled;
mod story;
mod tool_story;
mod unsatisfied;
mod verdict;
mod wording;

#[cfg(feature = "plan")]
pub use call::call_denials;
#[cfg(feature = "plan")]
pub use call_checks::{CallCheck, call_checks};
#[cfg(feature = "plan")]
pub use checks::{CheckFact, CheckOutcome, Checked};
pub use definition::detailed;
#[cfg(feature = "plan")]
pub use edit::{CallFix, call_fixes};
pub use edit::{Edit, apply, edits};
pub use expansion::{denial, not_expanded, not_exposed, over_budget};
pub use grounding::{Citation, cite, requote, ungrounded, ungrounded_code, ungrounded_reason};
pub use offer::offered_at;
#[cfg(feature = "plan")]
pub use plan::{
    addresses, deferred, destination, nearest_schemas, nonconformities, plan_findings,
    query_denial, run_denial,
};
#[cfg(feature = "plan")]
pub use plan_checks::{StepCheck, plan_checks};
#[cfg(feature = "plan")]
pub use plan_fix::{
    FIX_BYTES, FIX_CHANGES, FIX_LIMIT, fix_edits, fix_words, plan_fixes, tell_fixes,
};
#[cfg(feature = "plan")]
pub use plan_proposal::plan_proposals;
#[cfg(feature = "plan")]
pub use settled::settled;
pub use story::{Check, Story, Subject, did_you_mean, story, subject};
pub use tool_story::{ToolStory, tool_story};
pub use unsatisfied::{unmatched, unsatisfied};
pub use verdict::{ServerVerdict, ToolVerdict, Verdict};
pub use wording::{
    change, check_name, drift, drift_diagnostic, fix, lost, outranked, policy_error, reason,
};
