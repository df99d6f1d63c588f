//! The problems that the engine finds in inputs, and their drawing for people.

mod draw;
mod excerpt;

pub use draw::failure as draw_failure;

use crate::contract::catalogue::CodeEntry;
use crate::contract::diagnostic::{Diagnostic, DocumentKind, Label, Severity};
use crate::contract::view::File;

/// An input, kept so that diagnostics can show its lines.
pub struct Document {
    /// The kind under which diagnostics point into it.
    pub source: DocumentKind,
    /// Its number among the inputs of its kind, from 0.
    pub number: u32,
    /// The name that the user gave.
    pub name: String,
    /// The bytes of the input.
    pub text: Vec<u8>,
}

impl Document {
    /// Returns whether its lines may be shown. An imported document may contain secrets.
    fn may_be_shown(&self) -> bool {
        !matches!(self.source, DocumentKind::Import | DocumentKind::Evidence)
    }

    /// Returns whether a label points into it.
    fn contains(&self, label: &Label) -> bool {
        let span = &label.place.span;
        (span.source, span.number) == (self.source, self.number)
    }
}

/// The problems in the inputs of a command, in the order of the report.
#[derive(Default)]
pub struct Findings {
    documents: Vec<Document>,
    diagnostics: Vec<Diagnostic>,
}

impl Findings {
    /// Adds an input that diagnostics may point into. It replaces an input of the same kind and number.
    pub fn add_document(&mut self, document: Document) {
        self.documents
            .retain(|known| (known.source, known.number) != (document.source, document.number));
        self.documents.push(document);
    }

    /// Returns the text of the last input of a kind.
    #[must_use]
    pub fn text(&self, source: DocumentKind) -> Option<&[u8]> {
        let mut documents = self.documents.iter();
        let document = documents.find(|document| document.source == source);
        document.map(|document| &*document.text)
    }

    /// Adds problems to the end of the report.
    pub fn add(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        self.diagnostics.extend(diagnostics);
    }

    /// Replaces all problems.
    pub fn replace(&mut self, diagnostics: Vec<Diagnostic>) {
        self.diagnostics = diagnostics;
    }

    /// Returns all problems.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the number of problems of a severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics
            .iter()
            .filter(|it| it.severity == severity)
            .count()
    }

    /// Returns the name of each input.
    #[must_use]
    pub fn files(&self) -> Vec<File> {
        self.documents
            .iter()
            .map(|document| File {
                source: document.source,
                number: document.number,
                path: document.name.clone(),
            })
            .collect()
    }

    /// Draws diagnostics about these inputs, with a blank line after each.
    pub fn draw<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        catalogue: &[CodeEntry],
    ) -> String {
        diagnostics
            .into_iter()
            .map(|diagnostic| {
                let name = |code| {
                    let entry = catalogue.iter().find(|entry| entry.code == code);
                    entry.map_or("", |entry| &*entry.name)
                };
                draw::diagnostic(diagnostic, name, &self.documents) + "\n"
            })
            .collect()
    }
}
