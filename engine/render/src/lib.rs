//! The files and the views. Their bytes are the same on every machine.

#![forbid(unsafe_code)]

mod call;
mod candidate;
mod compact;
mod definitions;
mod discover;
mod drifts;
mod entry_differences;
mod expansion;
mod explanation;
mod grounding;
mod json;
mod lock;
mod plan;
mod policy_call;
mod report;
mod requirement;
mod resolution;
mod schemas;
mod styled;
mod summary;
mod why;

pub use call::{authorized_call, call_verdict, call_verdict_json};
pub use compact::compact;
pub use definitions::{definition_lines, definitions};
pub use discover::{discover, discover_json, discover_tools, discover_tools_json};
pub use drifts::{drifts, drifts_json, drifts_markdown};
pub use entry_differences::{entry_differences, entry_differences_json};
pub use expansion::{
    expanded, expanded_json, exposed, exposed_json, not_expanded_json, services, services_json,
};
pub use grounding::{grounding, grounding_json};
pub use lock::lock;
pub use plan::{PlanReport, authorized_plan, plan_answer, step_approval, validation_report};
pub use policy_call::{policy_call, policy_call_json};
pub use report::{File, Format, VERSION, report};
pub use resolution::{FULL_LIMIT, matching, resolution, resolution_beginning};
pub use schemas::{schemas, schemas_json};
pub use styled::{Style, StyledSpan};
pub use summary::{match_summary, summary, summary_json};
pub use why::{why, why_json};
