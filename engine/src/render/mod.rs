//! The files and the views, in bytes that are the same everywhere.

#[cfg(feature = "plan")]
mod call;
mod compact;
mod discover;
mod drifts;
mod expansion;
mod grounding;
mod lock;
mod matching;
#[cfg(feature = "plan")]
mod plan;
mod report;
mod resolution;
#[cfg(feature = "plan")]
mod schemas;
mod story;
mod styled;
mod summary;
mod tools;
mod why;

#[cfg(feature = "plan")]
pub use call::{authorized_call, call_verdict, call_verdict_json};
pub use compact::{compact, expand};
pub use discover::{discover, discover_json};
pub use drifts::{drifts, drifts_json};
pub use expansion::{
    expanded, expanded_json, exposed, exposed_json, not_expanded_json, services, services_json,
};
pub use grounding::{grounding, grounding_json};
pub use lock::lock;
pub use matching::matching;
#[cfg(feature = "plan")]
pub use plan::{PlanReport, authorized_plan, plan_answer, validation_report};
pub use report::{File, Format, report};
pub use resolution::{FULL_LIMIT, resolution};
#[cfg(feature = "plan")]
pub use schemas::{schemas, schemas_json};
pub use styled::{Part, Style};
pub use summary::{match_summary, summary, summary_json};
pub use why::{why, why_json};
