//! Problems in an input: their place, their reason and their fixes.

#![forbid(unsafe_code)]

mod change;
mod code;
mod finding;
mod fix;
mod problems;
mod round;

pub use change::{Change, ChangeKind, ChangeSet};
pub use code::Code;
pub use finding::{Finding, Findings};
pub use fix::{Applicability, Edit, Fix};
pub use problems::{Problems, Report};
pub use round::Round;

use agent_text::{DocumentKind, Place};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// The severity of a diagnostic. Only errors change a decision or an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub enum Severity {
    /// The input is refused.
    Error,
    /// The input is accepted, but may not mean what its author intends.
    Warning,
    /// Additional information; nothing is wrong.
    Note,
}

impl Severity {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A place with a short text about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Label {
    /// The characters that the text is about.
    pub place: Place,
    /// The JSON pointer of the value there, in JSON documents. A missing member has the pointer of
    /// the object that lacks it.
    pub pointer: Option<String>,
    /// A short text without a final stop.
    pub text: String,
}

impl Label {
    /// Returns a label without a pointer.
    pub fn new(place: Place, text: impl Into<String>) -> Self {
        Self {
            place,
            pointer: None,
            text: text.into(),
        }
    }
}

/// One problem. Every layer uses this form, from the parser to the views.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify), tsify(missing_as_null))]
pub struct Diagnostic {
    /// The kind of problem.
    pub code: Code,
    /// The severity of the code.
    pub severity: Severity,
    /// The exact reason, if `code` is one of the coarse stable codes of \[3\].
    pub reason: Option<Code>,
    /// The rule that decided: a rule of a profile, a schema keyword, or a rule of the project.
    pub rule: Option<String>,
    /// The number of the plan's step with the problem, from 0.
    pub step: Option<usize>,
    /// One sentence that names the offending value, without a final stop.
    pub message: String,
    /// The place of the problem first, then the places it conflicts with.
    pub labels: Vec<Label>,
    /// Facts that help to understand the problem.
    pub notes: Vec<String>,
    /// The suggested fixes, most useful first.
    pub fixes: Vec<Fix>,
    /// The input that the document belongs in, if it was given as another one.
    pub belongs_in: Option<DocumentKind>,
}

impl Diagnostic {
    /// Returns a problem without labels, notes and fixes.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            reason: None,
            rule: None,
            step: None,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            fixes: Vec::new(),
            belongs_in: None,
        }
    }

    /// Adds a label.
    #[must_use]
    pub fn label(mut self, place: Place, text: impl Into<String>) -> Self {
        self.labels.push(Label::new(place, text));
        self
    }

    /// Adds an instruction for a person.
    #[must_use]
    pub fn help(mut self, title: impl Into<String>) -> Self {
        self.fixes.push(Fix::display(title));
        self
    }

    /// Returns the problem's own place.
    pub fn place(&self) -> Option<&Place> {
        self.labels.first().map(|label| &label.place)
    }

    /// Returns the JSON pointer of the problem's own place, or `""` without one.
    pub fn pointer(&self) -> &str {
        let pointer = self.labels.first().and_then(|it| it.pointer.as_deref());
        pointer.unwrap_or_default()
    }
}
