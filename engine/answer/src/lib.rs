//! Answers of the engine as data, without anything that decides.
//!
//! `agent-api` makes these values, and the pages of the playground and programs in JavaScript show
//! them: places have lines and columns, reasons have their words. A page links this crate alone.

#![forbid(unsafe_code)]

mod candidate;
mod evaluation;
mod grounding;
#[cfg(feature = "javascript")]
mod javascript;
mod matrix;
mod plan;
mod resolution;
mod review;
mod server;

pub use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix, Label, Round, Severity};
pub use agent_text::{
    DocumentKind, Place, Position, Span, link_form, secrets, spelled, unmistakable, visible,
};
pub use candidate::{
    CandidateVerdict, Check, Eligible, Explanation, HealthSwitch, Listed, NearMiss, Reason,
    Rejected, ToolEntry,
};
pub use evaluation::{CoveredRule, PairDecision, PolicyCoverage, PolicyEvaluation, PolicyRule};
pub use grounding::{Claim, Evidence, Grounding, NearQuote, Piece, Quote};
#[cfg(feature = "javascript")]
pub use javascript::{EvaluationContext, Inputs, link};
pub use matrix::{Filter, Matrix, MatrixRow};
pub use plan::{
    Authorized, DecidedAgainst, Fact, InputFrom, PlanDecision, PlanProblem, PlanVerdict, Step,
    StepCheck, StepOutcome,
};
pub use resolution::{
    Agent, Capability, Constraints, Drift, LockVerdict, Outcome, PolicyDecision, Requirement,
    Selected, SelectedTool, Stage, Supposed, SupposedRequirement, Tokens, Verdict,
};
pub use review::{Review, ReviewedTool};
pub use server::{Server, ServerName};
