//! Input texts, and places in them.

#![forbid(unsafe_code)]

mod position;
pub mod sort;
mod spelling;

pub use position::{LineIndex, Position};
pub use spelling::{LIKENESS_LIMIT, Likeness, nearest};

/// Which input a place is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// `agents.md`.
    Manifest,
    /// `mcp.index.json`.
    Index,
    /// `agents.lock`.
    Lock,
    /// A compact explanation.
    Explanation,
    /// A task.
    Task,
    /// The configuration of tenants.
    Tenant,
    /// A snapshot of health.
    Health,
    /// What a policy is told of the circumstances.
    Context,
    /// A policy.
    Policy,
    /// The tests of a policy.
    PolicyTest,
    /// A document that is imported into an index. It may hold secrets of others, such as the
    /// environment of a server: no view shows its text.
    Import,
    /// What is said beside an imported document.
    Overlay,
    /// A plan.
    Plan,
    /// The tools that servers have at the moment.
    Catalogue,
    /// A summary of a payload.
    Summary,
    /// What a tool returned.
    Payload,
    /// What a plan answers, or a user asks.
    Request,
    /// The tools that plans may name.
    ToolPool,
    /// An instruction profile.
    Profile,
    /// The input of a step.
    StepInput,
    /// The output of a step.
    StepOutput,
    /// A document that is checked against a schema.
    Document,
}

impl Source {
    /// The file name that the input usually has.
    pub fn usual_name(self) -> &'static str {
        match self {
            Self::Manifest => "agents.md",
            Self::Index => "mcp.index.json",
            Self::Lock => "agents.lock",
            Self::Explanation => "agents.resolution.compact.json",
            Self::Task => "task.yaml",
            Self::Tenant => "tenant.yaml",
            Self::Health => "health.yaml",
            Self::Context => "context.yaml",
            Self::Policy => "policy.rego",
            Self::PolicyTest => "policy_test.rego",
            Self::Import => "server.json",
            Self::Overlay => "overlay.yaml",
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

    /// Whether a view may show lines of the text. Of a text that may hold secrets, only places
    /// are shown: a line that is at fault can have a key in it, or stand beside one.
    pub fn may_be_shown(self) -> bool {
        self != Self::Import
    }
}

/// `start` (inclusive) to `end` (exclusive), in UTF-8 bytes of the text as it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The span of two offsets. Every input is limited to less than 4 GiB, so that they fit.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end && u32::try_from(end).is_ok());
        Self {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The bytes of the span in its text.
    pub fn of(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }
}

/// A value and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

/// A span together with the positions of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The input.
    pub source: Source,
    /// The bytes.
    pub span: Span,
    /// Where it starts.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
}

/// An input text that is known to be UTF-8, with its lines numbered on first use.
#[derive(Debug, Clone)]
pub struct Text {
    source: Source,
    text: String,
    lines: std::sync::OnceLock<LineIndex>,
}

impl Text {
    /// Take a text.
    pub fn new(source: Source, text: String) -> Self {
        Self {
            source,
            text,
            lines: std::sync::OnceLock::new(),
        }
    }

    /// Which input it is.
    pub fn source(&self) -> Source {
        self.source
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The place of a span of this text.
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
