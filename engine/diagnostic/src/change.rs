//! Proposed changes of JSON documents; a later layer turns them into text edits.

use agent_text::DocumentKind;

/// One change of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The document.
    pub source: DocumentKind,
    /// A JSON pointer into the unchanged document. The last token `-` means the end of a list.
    pub pointer: String,
    /// The kind of change.
    pub kind: ChangeKind,
    /// Whether the change gives the agent more access.
    pub widens: bool,
}

/// The kind of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// Adds this JSON.
    Add(String),
    /// Removes the value.
    Remove,
    /// Replaces the value by this JSON.
    Replace(String),
}

/// Changes to make together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    /// The changes.
    pub changes: Vec<Change>,
}

impl ChangeSet {
    /// Returns whether the changes give the agent more access.
    pub fn widens(&self) -> bool {
        self.changes.iter().any(|change| change.widens)
    }

    /// Returns whether a change removes a value.
    pub fn removes(&self) -> bool {
        let mut kinds = self.changes.iter().map(|change| &change.kind);
        kinds.any(|kind| *kind == ChangeKind::Remove)
    }
}
