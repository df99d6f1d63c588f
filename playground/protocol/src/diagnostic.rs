//! Problems, and places in the inputs.

use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// Which input a place is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
#[serde(rename_all = "camelCase")]
pub enum DocumentKind {
    /// `agents.md`.
    Manifest,
    /// `mcp.index.json`.
    Index,
    /// `agents.lock`.
    Lock,
    /// A task.
    Task,
    /// The configuration of tenants.
    Tenant,
    /// A snapshot of health.
    Health,
    /// A policy.
    Policy,
    /// The context of a policy.
    Context,
    /// A plan of one call.
    Call,
    /// A plan of several steps.
    Plan,
    /// The tools that a plan may name.
    ToolPool,
    /// What a plan may use.
    Profile,
    /// What a plan answers.
    Request,
    /// The tools that servers have at the moment.
    Catalogue,
    /// A summary of a payload.
    Summary,
    /// What a tool returned.
    Payload,
}

impl DocumentKind {
    /// All of them, by their numbers.
    pub const ALL: [Self; 16] = [
        Self::Manifest,
        Self::Index,
        Self::Lock,
        Self::Task,
        Self::Tenant,
        Self::Health,
        Self::Policy,
        Self::Context,
        Self::Call,
        Self::Plan,
        Self::ToolPool,
        Self::Profile,
        Self::Request,
        Self::Catalogue,
        Self::Summary,
        Self::Payload,
    ];
}

/// A point of a text, as editors count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Point {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in UTF-16 code units.
    pub column: u32,
}

/// A part of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Place {
    /// The input.
    pub source: DocumentKind,
    /// Where it starts.
    pub start: Point,
    /// Where it ends; exclusive.
    pub end: Point,
}

/// How much a diagnostic weighs. Only errors change an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// The input is refused.
    Error,
    /// The input is accepted, but it may not say what its author thinks.
    Warning,
    /// Nothing is wrong; it may be worth knowing.
    Note,
}

/// A place, and what is to be said about it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Label {
    /// Where.
    pub place: Place,
    /// A few words; may be empty.
    pub text: String,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Diagnostic {
    /// A code of the catalogue, such as `MISSING_FIELD`.
    pub code: String,
    /// How much it weighs.
    pub severity: Severity,
    /// One sentence that names the offending value.
    pub message: String,
    /// The first is where the problem is, the others are what it is in conflict with.
    pub labels: Vec<Label>,
    /// What to do, most useful first.
    pub help: Vec<String>,
}

/// One change to an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Edit {
    /// What is replaced; empty where something is put in.
    pub place: Place,
    /// By what.
    pub replacement: String,
}
