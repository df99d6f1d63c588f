//! Input texts and their places.
//!
//! The feature `serde` serialises places in full. The feature `javascript` gives them the form of the
//! JavaScript API instead, which counts columns as editors do and can't be read back.

#![forbid(unsafe_code)]

mod hexadecimal;
mod hidden;
pub mod link_form;
mod list;
mod position;
mod secret;
pub mod sort;
mod spelling;

pub use hexadecimal::hexadecimal;
pub use hidden::{Hidden, TextForm, code_point, has_hidden, hidden, is_hidden, visible_text};
pub use list::listed;
pub use position::{LineIndex, Position};
pub use secret::{REDACTED, Secret, credential, scheme_len, secrets};
pub use spelling::{
    KEYWORD, LIKENESS_LIMIT, Likeness, hidden_difference, is_part, misspelt, nearest, spelled,
    unmistakable, visible,
};

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

macro_rules! document_kinds {
    ($($(#[$doc:meta])* $kind:ident $usual_name:literal)*) => {
        /// The kind of an input.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
        #[cfg_attr(feature = "javascript", derive(Tsify))]
        #[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
        pub enum DocumentKind {
            $($(#[$doc])* $kind,)*
        }

        impl DocumentKind {
            /// Every kind, in order.
            pub const ALL: [Self; 23] = [$(Self::$kind,)*];

            /// Returns the usual file name of the input.
            pub fn usual_name(self) -> &'static str {
                match self { $(Self::$kind => $usual_name,)* }
            }
        }
    };
}

document_kinds! {
    /// `agents.md`.
    Manifest "agents.md"
    /// `mcp.index.json`.
    Index "mcp.index.json"
    /// `agents.lock`.
    Lock "agents.lock"
    /// A task.
    Task "task.yaml"
    /// The configuration of tenants.
    Tenant "tenant.yaml"
    /// A health snapshot.
    Health "health.yaml"
    /// The context of a policy.
    Context "context.yaml"
    /// A policy.
    Policy "policy.rego"
    /// The tests of a policy.
    PolicyTest "policy_test.rego"
    /// A document to import into an index. It may contain secrets of others, such as the environment
    /// of a server, so no view shows its text.
    Import "server.json"
    /// Manual additions to an imported document.
    Overlay "overlay.yaml"
    /// A plan of one call.
    Call "call.json"
    /// A plan of several steps.
    Plan "plan.json"
    /// The servers' present tools.
    Catalogue "catalogue.json"
    /// A summary of a payload.
    Summary "summary.json"
    /// A tool's result.
    Payload "payload.json"
    /// The request that a plan answers.
    Request "request.json"
    /// The tools that plans may name.
    ToolPool "tool-pool.json"
    /// An instruction profile.
    Profile "profile.json"
    /// The input of a step.
    StepInput "input.json"
    /// The output of a step.
    StepOutput "output.json"
    /// A document to check against a schema.
    Document "document.json"
    /// A file that a run left. If it contains a secret, no view must show it.
    Evidence "run_summary.json"
}

impl DocumentKind {
    /// Returns the name of the input's text in links and in the storage of browsers. Links stay in use, so a name never
    /// changes.
    pub fn field(self) -> String {
        let mut name = format!("{self:?}");
        name[..1].make_ascii_lowercase();
        name
    }

    /// Returns whether a view may show lines of the text. For a text that may contain secrets, views
    /// show only places, because a faulty line may contain a key or adjoin one.
    pub fn may_be_shown(self) -> bool {
        !matches!(self, Self::Import | Self::Evidence)
    }

    /// Returns whether a fix may change the text. A lock and a policy bind the author of the other
    /// documents, an imported document belongs to another author, and evidence is never edited.
    pub fn may_be_edited(self) -> bool {
        !matches!(
            self,
            Self::Lock | Self::Policy | Self::PolicyTest | Self::Import | Self::Evidence
        )
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
    /// The number of the input among those of its kind, from 0.
    #[cfg_attr(feature = "javascript", serde(skip))]
    pub number: u32,
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
    number: u32,
    text: String,
    lines: std::sync::OnceLock<LineIndex>,
}

impl Text {
    /// Returns a text of an input.
    pub fn new(source: DocumentKind, text: String) -> Self {
        Self {
            source,
            number: 0,
            text,
            lines: std::sync::OnceLock::new(),
        }
    }

    /// Sets the number of the input among those of its kind.
    #[must_use]
    pub fn numbered(mut self, number: u32) -> Self {
        self.number = number;
        self
    }

    /// Returns the number of the input among those of its kind.
    pub fn number(&self) -> u32 {
        self.number
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
            number: self.number,
            span,
            start: lines.position(&self.text, span.start as usize),
            end: lines.position(&self.text, span.end as usize),
        }
    }
}
