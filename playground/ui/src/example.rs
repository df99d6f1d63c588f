//! An example of a page. Tests of the worker include this file and the galleries: they use nothing
//! of a page.

use agent_answer::DocumentKind;

/// Texts by the kinds of their documents.
pub type Texts = &'static [(DocumentKind, &'static str)];

/// An example.
#[derive(Debug, PartialEq)]
pub struct Example {
    /// The title.
    pub title: &'static str,
    /// What it shows, in a sentence.
    pub shows: &'static str,
    /// The code that it leads to, or the rule that breaks a tie. Empty if there is no problem.
    pub code: &'static str,
    /// The folder of its texts, which are loaded when it is opened; empty if they are here.
    pub folder: &'static str,
    /// The texts that it has itself, or the names of their files.
    pub texts: Texts,
}

impl Example {
    /// Returns the document that matters: its first document that is not always visible, or else
    /// the first.
    pub fn document(&self, visible: DocumentKind) -> DocumentKind {
        let mut own = self.texts.iter().map(|(kind, _)| *kind);
        own.rfind(|kind| *kind != visible).unwrap_or(visible)
    }

    /// Returns the text of a document: the example's own, or else that of `basis`, or else none. `file` returns the
    /// text of a file of its folder.
    pub fn text<'t>(
        &self,
        kind: DocumentKind,
        basis: Texts,
        file: impl Fn(&str) -> &'t str,
    ) -> &'t str {
        let of = |texts: Texts| texts.iter().find(|(each, _)| *each == kind);
        match (of(self.texts), of(basis)) {
            (Some((_, name)), _) if !self.folder.is_empty() => file(name),
            (Some((_, text)), _) | (None, Some((_, text))) => text,
            (None, None) => "",
        }
    }
}
