//! Input texts and their places.
//!
//! The feature `serde` serialises places in full. The feature `javascript` gives them the form of the
//! JavaScript API instead, which counts columns as editors do and can't be read back.

#![forbid(unsafe_code)]

mod position;
pub mod sort;
mod spelling;

pub use position::{LineIndex, Position};
pub use spelling::{LIKENESS_LIMIT, Likeness, nearest};

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
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
    /// A health snapshot.
    Health,
    /// The context of a policy.
    Context,
    /// A policy.
    Policy,
    /// The tests of a policy.
    PolicyTest,
    /// A document to import into an index. It may contain secrets of others, such as the environment
    /// of a server, so no view shows its text.
    Import,
    /// Manual additions to an imported document.
    Overlay,
    /// A plan of one call.
    Call,
    /// A plan of several steps.
    Plan,
    /// The servers' present tools.
    Catalogue,
    /// A summary of a payload.
    Summary,
    /// A tool's result.
    Payload,
    /// The request that a plan answers.
    Request,
    /// The tools that plans may name.
    ToolPool,
    /// An instruction profile.
    Profile,
    /// The input of a step.
    StepInput,
    /// The output of a step.
    StepOutput,
    /// A document to check against a schema.
    Document,
}

impl DocumentKind {
    /// Every kind, in order.
    pub const ALL: [Self; 22] = [
        Self::Manifest,
        Self::Index,
        Self::Lock,
        Self::Task,
        Self::Tenant,
        Self::Health,
        Self::Context,
        Self::Policy,
        Self::PolicyTest,
        Self::Import,
        Self::Overlay,
        Self::Call,
        Self::Plan,
        Self::Catalogue,
        Self::Summary,
        Self::Payload,
        Self::Request,
        Self::ToolPool,
        Self::Profile,
        Self::StepInput,
        Self::StepOutput,
        Self::Document,
    ];

    /// Returns the usual file name of the input.
    pub fn usual_name(self) -> &'static str {
        match self {
            Self::Manifest => "agents.md",
            Self::Index => "mcp.index.json",
            Self::Lock => "agents.lock",
            Self::Task => "task.yaml",
            Self::Tenant => "tenant.yaml",
            Self::Health => "health.yaml",
            Self::Context => "context.yaml",
            Self::Policy => "policy.rego",
            Self::PolicyTest => "policy_test.rego",
            Self::Import => "server.json",
            Self::Overlay => "overlay.yaml",
            Self::Call => "call.json",
            Self::Plan => "plan.json",
            Self::Catalogue => "catalogue.json",
            Self::Summary => "summary.json",
            Self::Payload => "payload.json",
            Self::Request => "request.json",
            Self::ToolPool => "tool-pool.json",
            Self::Profile => "profile.json",
            Self::StepInput => "input.json",
            Self::StepOutput => "output.json",
            Self::Document => "document.json",
        }
    }

    /// Returns whether a view may show lines of the text. For a text that may contain secrets, views
    /// show only places, because a faulty line may contain a key or adjoin one.
    pub fn may_be_shown(self) -> bool {
        self != Self::Import
    }
}

/// The bytes from `start` (inclusive) to `end` (exclusive) of an unchanged UTF-8 text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// Returns the span of two offsets. They fit because every input is limited to less than 4 GiB.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end && u32::try_from(end).is_ok());
        Self {
            start: start as u32,
            end: end as u32,
        }
    }

    /// Returns the bytes of the span in its text.
    pub fn of(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }
}

/// A value with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The place of the value.
    pub span: Span,
}

/// A span with the positions of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Place {
    /// The input.
    pub source: DocumentKind,
    /// The bytes of the text.
    #[cfg_attr(feature = "javascript", serde(skip))]
    pub span: Span,
    /// The position of the start.
    pub start: Position,
    /// The position of the end.
    pub end: Position,
}

/// An input text in UTF-8, whose lines are numbered on first use.
#[derive(Debug, Clone)]
pub struct Text {
    source: DocumentKind,
    text: String,
    lines: std::sync::OnceLock<LineIndex>,
}

impl Text {
    /// Returns a text of an input.
    pub fn new(source: DocumentKind, text: String) -> Self {
        Self {
            source,
            text,
            lines: std::sync::OnceLock::new(),
        }
    }

    /// Returns the kind of the input.
    pub fn source(&self) -> DocumentKind {
        self.source
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the place of a span of this text.
    pub fn place(&self, span: Span) -> Place {
        let lines = self.lines.get_or_init(|| LineIndex::new(&self.text));
        Place {
            source: self.source,
            span,
            start: lines.position(&self.text, span.start as usize),
            end: lines.position(&self.text, span.end as usize),
        }
    }
}
