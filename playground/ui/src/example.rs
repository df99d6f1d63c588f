//! An example of a page. Tests of the worker include this file and the galleries: they use nothing
//! of a page.

use agent_answer::DocumentKind;

/// Texts by the kinds of their documents.
pub type Texts = &'static [(DocumentKind, &'static str)];

/// An example.
#[derive(Debug)]
pub struct Example {
    /// The title: what it demonstrates.
    pub title: &'static str,
    /// The code that it leads to, or the rule that breaks a tie. Empty if there is no problem.
    pub code: &'static str,
    /// The texts that it has itself.
    pub texts: Texts,
}

impl Example {
    /// Returns the text of a document: the example's own, or else that of `basis`, or else none.
    pub fn text(&self, kind: DocumentKind, basis: Texts) -> &'static str {
        let mut texts = self.texts.iter().chain(basis);
        let text = texts.find(|(each, _)| *each == kind);
        text.map_or("", |(_, text)| text)
    }
}
