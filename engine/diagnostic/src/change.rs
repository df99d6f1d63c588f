//! Changes of JSON documents.

use agent_text::Source;

/// One change of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Of which document.
    pub source: Source,
    /// To what, as a JSON pointer into the document as it is. Of what is added behind the last item
    /// of a list, the last token is `-`.
    pub pointer: String,
    /// What is done.
    pub kind: ChangeKind,
    /// Whether more is permitted afterwards than before.
    pub widens: bool,
}

/// What is done to a part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// This JSON is put there, where nothing is.
    Add(String),
    /// It is removed.
    Remove,
    /// This JSON takes its place.
    Replace(String),
}

/// Changes that make a problem go away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// All of them, to be made together.
    pub changes: Vec<Change>,
}

impl Fix {
    /// Whether more is permitted afterwards than before.
    pub fn widens(&self) -> bool {
        self.changes.iter().any(|change| change.widens)
    }
}
