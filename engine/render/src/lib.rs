//! The files and the views, in bytes that are the same everywhere.

#![forbid(unsafe_code)]

mod call;
mod compact;
mod discover;
mod drifts;
mod expansion;
mod grounding;
mod lock;
mod matching;
mod plan;
mod report;
mod resolution;
mod schemas;
mod story;
mod styled;
mod summary;
mod tools;
mod why;

pub use call::{authorized_call, call_verdict, call_verdict_json};
pub use compact::compact;
pub use discover::{discover, discover_json};
pub use drifts::{drifts, drifts_json};
pub use expansion::{
    expanded, expanded_json, exposed, exposed_json, not_expanded_json, services, services_json,
};
pub use grounding::{grounding, grounding_json};
pub use lock::lock;
pub use matching::matching;
pub use plan::{PlanReport, authorized_plan, plan_answer, validation_report};
pub use report::{File, Format, report};
pub use resolution::{FULL_LIMIT, resolution};
pub use schemas::{schemas, schemas_json};
pub use styled::{Style, StyledSpan};
pub use summary::{match_summary, summary, summary_json};
pub use why::{why, why_json};

/// The version of the engine, which is that of its WIT package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
