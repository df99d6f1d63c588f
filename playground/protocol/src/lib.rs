//! What the page of the playground and the engine's worker say to each other.
//!
//! The page sends an [`Ask`]: texts that were changed, and the views that are open. The worker
//! sends an [`Answer`] to each, of the same revision. Every value is made for being shown: places
//! are lines and columns, reasons have their words, and nothing has to be decided by whoever
//! receives it. Between the two values are [bytes](to_bytes).
//!
//! The page of [plans] and its worker have a conversation of their own.
//!
//! With the feature `javascript` the same types, as TypeScript, are those of the JavaScript API.

mod answer;
mod ask;
mod bytes;
mod diagnostic;
#[cfg(feature = "javascript")]
mod javascript;
pub mod plans;
mod server;
mod verdict;
mod view;

pub use answer::{About, Answer, CheckName};
pub use ask::{Ask, Constraints, FallenAsk, Filter, ListAsk, MatrixAsk, StoryAsk, Texts, Wanted};
pub use bytes::{from_bytes, to_bytes};
pub use diagnostic::{Diagnostic, Edit, Label, Place, Point, Severity, Source};
#[cfg(feature = "javascript")]
pub use javascript::{Circumstances, Inputs, link};
pub use server::{Server, ServerName};
pub use verdict::{
    Agent, Capability, Drift, Fix, LockVerdict, Near, Outcome, Reason, Requirement, Ruling,
    Selected, SelectedTool, Stage, Tokens, Verdict,
};
pub use view::{
    Check, Eligible, Fallen, HealthSwitch, Listed, Matrix, MatrixRow, Story, StoryVerdict,
    Supposed, SupposedRequirement, ToolEntry,
};
