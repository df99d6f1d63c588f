//! What the engine found wrong with the inputs, and how a person gets to see it.

mod draw;
mod excerpt;

pub(crate) use draw::failure as draw_failure;

use crate::engine::{CodeEntry, Diagnostic, File, Severity, Source};

/// An input, kept because diagnostics show pieces of it.
pub(crate) struct Document {
    pub(crate) source: Source,
    /// The name under which it was given.
    pub(crate) name: String,
    pub(crate) text: Vec<u8>,
}

impl Document {
    /// Whether its lines may be shown. A document of others may hold their secrets.
    pub(crate) fn may_be_shown(&self) -> bool {
        self.source != Source::Import
    }
}

/// What was found in the inputs of a command, in the order in which it is to be reported.
#[derive(Default)]
pub(crate) struct Findings {
    documents: Vec<Document>,
    diagnostics: Vec<Diagnostic>,
}

impl Findings {
    /// Adds an input that diagnostics may point into. One of the same source is forgotten.
    pub(crate) fn add_document(&mut self, document: Document) {
        self.documents
            .retain(|known| known.source != document.source);
        self.documents.push(document);
    }

    pub(crate) fn add(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        self.diagnostics.extend(diagnostics);
    }

    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.diagnostics
            .iter()
            .filter(|it| it.severity == severity)
            .count()
    }

    /// The name of each input.
    pub(crate) fn files(&self) -> Vec<File> {
        self.documents
            .iter()
            .map(|document| File {
                source: document.source,
                path: document.name.clone(),
            })
            .collect()
    }

    /// Draws diagnostics, of these findings or others about the same inputs, with a blank line
    /// after each.
    pub(crate) fn draw<'a>(
        &self,
        diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
        catalogue: &[CodeEntry],
    ) -> String {
        diagnostics
            .into_iter()
            .map(|diagnostic| {
                let entry = catalogue.iter().find(|entry| entry.code == diagnostic.code);
                let name = entry.map_or("", |entry| &entry.name);
                draw::diagnostic(diagnostic, name, &self.documents) + "\n"
            })
            .collect()
    }
}
