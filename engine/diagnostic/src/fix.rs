//! Suggested fixes as data.

use agent_text::Place;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// A suggested fix of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Fix {
    /// An instruction that works when followed literally. If it has several lines, it is a snippet
    /// to paste.
    pub title: String,
    /// Who may apply it.
    pub applicability: Applicability,
    /// Edits to make together, ordered by document and place, without overlaps. Empty if only a
    /// person knows what to write.
    pub edits: Vec<Edit>,
}

/// Maximum number of characters of a text in a title.
const SHOWN: usize = 200;

impl Fix {
    /// Returns the safe fix that writes a replacement at a place.
    pub fn write(place: Place, replacement: String) -> Self {
        let title = match replacement.char_indices().nth(SHOWN) {
            None => format!("write `{replacement}`"),
            Some((end, _)) => format!("write `{}…`", &replacement[..end]),
        };
        Self {
            title,
            applicability: Applicability::Safe,
            edits: vec![Edit { place, replacement }],
        }
    }

    /// Returns a fix that a person must apply.
    pub fn display(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            applicability: Applicability::Display,
            edits: Vec::new(),
        }
    }
}

/// Who may apply a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub enum Applicability {
    /// A program may apply it: every requirement stays, and the agent gets no more access.
    Safe,
    /// A program may apply it on request: it gives the agent more access or removes something.
    Unsafe,
    /// A person must apply it: it needs a choice, or a fact outside the documents.
    Display,
}

impl Applicability {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::Display => "display",
        }
    }
}

/// A replacement of a range of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Edit {
    /// The replaced range; empty for an insertion.
    pub place: Place,
    /// The new text; empty for a removal.
    pub replacement: String,
}
