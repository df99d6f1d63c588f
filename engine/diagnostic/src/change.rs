//! Changes of JSON documents, before they are edits of texts.

use agent_text::DocumentKind;

/// One change of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The document.
    pub source: DocumentKind,
    /// A JSON pointer into the document as it is. The last token `-` is the place behind the last
    /// item of a list.
    pub pointer: String,
    /// The kind of change.
    pub kind: ChangeKind,
    /// Whether the agent may do more afterwards than before.
    pub widens: bool,
}

/// The kind of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// This JSON is added where nothing is.
    Add(String),
    /// The value is removed.
    Remove,
    /// This JSON replaces the value.
    Replace(String),
}

/// Changes to be made together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    /// All of them.
    pub changes: Vec<Change>,
}

impl ChangeSet {
    /// Returns whether the agent may do more afterwards than before.
    pub fn widens(&self) -> bool {
        self.changes.iter().any(|change| change.widens)
    }

    /// Returns whether a value is removed.
    pub fn removes(&self) -> bool {
        let mut kinds = self.changes.iter().map(|change| &change.kind);
        kinds.any(|kind| *kind == ChangeKind::Remove)
    }
}
