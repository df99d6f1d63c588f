//! The tool for each requirement of a capability \[4, 5\].

mod capability;
mod context;
mod decision;
mod near;
mod policy_answers;

pub(super) use capability::capability_failure;
pub use context::EvaluationContext;
pub use decision::{CapabilityFunnel, Matching, Preference, hash};
pub use near::NearTool;
