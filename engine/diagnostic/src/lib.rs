//! Problems in an input, with their place, their reason and what to do about them.

#![forbid(unsafe_code)]

mod change;
mod code;
mod finding;
mod problems;

pub use change::{Change, ChangeKind, Fix};
pub use code::Code;
pub use finding::{Finding, Findings};
pub use problems::{Problems, Report};

use agent_text::Place;

/// How much a diagnostic weighs. Only errors change an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The input is refused.
    Error,
    /// The input is accepted, but it may not say what its author thinks.
    Warning,
    /// Nothing is wrong; it may be worth knowing.
    Note,
}

impl Severity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A place, and what is to be said about it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// A few words, without a final stop.
    pub text: String,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of problem; its severity follows from it.
    pub code: Code,
    /// One sentence that names the offending value, without a final stop.
    pub message: String,
    /// The first is where the problem is, the others are what it is in conflict with.
    pub labels: Vec<Label>,
    /// What to do, most useful first. A help of several lines is a snippet to be pasted.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// How much it weighs.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}
