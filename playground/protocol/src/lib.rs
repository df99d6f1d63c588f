//! What the page of the playground and the engine's worker say to each other.
//!
//! The page sends a [`Request`]: texts that were changed, and the views that are open. The worker
//! sends an [`Answer`] to each, of the same revision. Every value is made for being shown: places
//! are lines and columns, reasons have their words, and nothing has to be decided by whoever
//! receives it. Between the two values are [bytes](to_bytes).
//!
//! The page of [plans] and its worker have a conversation of their own.
//!
//! With the feature `javascript` the same types, as TypeScript, are those of the JavaScript API.

mod answer;
mod bytes;
mod diagnostic;
#[cfg(feature = "javascript")]
mod javascript;
pub mod plans;
mod request;
mod server;
mod verdict;
mod view;

pub use answer::{About, Answer, CheckName};
pub use bytes::{from_bytes, to_bytes};
pub use diagnostic::{Diagnostic, DocumentKind, Edit, Label, Place, Point, Severity};
#[cfg(feature = "javascript")]
pub use javascript::{EvaluationContext, Inputs, link};
pub use request::{
    Constraints, ExplanationRequest, Filter, ListRequest, MatrixRequest, RejectedRequest, Request,
    Texts, Wanted,
};
pub use server::{Server, ServerName};
pub use verdict::{
    Agent, Capability, Drift, Fix, LockVerdict, NearMiss, Outcome, PolicyDecision, Reason,
    Requirement, Selected, SelectedTool, Stage, Tokens, Verdict,
};
pub use view::{
    CandidateVerdict, Check, Eligible, Explanation, HealthSwitch, Listed, Matrix, MatrixRow,
    Rejected, Supposed, SupposedRequirement, ToolEntry,
};
