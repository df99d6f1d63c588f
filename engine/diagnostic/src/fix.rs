//! Fixes as data: what a person or a program can do about a problem.

use agent_text::Place;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// A way to mend a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Fix {
    /// An instruction that works when it is followed literally. One of several lines is a snippet
    /// to be pasted.
    pub title: String,
    /// Who may carry it out.
    pub applicability: Applicability,
    /// Edits to be made together, ordered by document and place, without overlaps. Empty where
    /// only a person knows what to write.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// A fix that a person has to carry out.
    pub fn display(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            applicability: Applicability::Display,
            edits: Vec::new(),
        }
    }
}

/// Who may carry out a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub enum Applicability {
    /// A program may: the fix keeps what was asked for and gives the agent no more.
    Safe,
    /// A program may if it is told to: the fix gives the agent more, or removes something.
    Unsafe,
    /// A person has to: there is a choice to make, or a fact to bring about.
    Display,
}

impl Applicability {
    /// Returns the word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::Display => "display",
        }
    }
}

/// A part of a document, and the text that replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Edit {
    /// The replaced part. It is empty where text is added.
    pub place: Place,
    /// The new text. It is empty where text is removed.
    pub replacement: String,
}
