//! The problems of all inputs of an import.

use super::part::Origin;
use agent_diagnostic::{Code, Diagnostic, Problems, Report};
use agent_text::{Place, Source, Text};

/// Where the problems are collected, by the text that they are in.
pub(super) struct Notes<'t> {
    /// Those of the document.
    pub(super) import: Problems<'t>,
    /// Those of the overlay.
    pub(super) overlay: Problems<'t>,
    /// Those of the existing index.
    pub(super) index: Problems<'t>,
}

impl<'t> Notes<'t> {
    /// None yet.
    pub(super) fn new(import: &'t Text, overlay: &'t Text, index: &'t Text) -> Self {
        Self {
            import: Problems::new(import),
            overlay: Problems::new(overlay),
            index: Problems::new(index),
        }
    }

    fn of(&mut self, source: Source) -> &mut Problems<'t> {
        match source {
            Source::Overlay => &mut self.overlay,
            Source::Index => &mut self.index,
            _ => &mut self.import,
        }
    }

    /// Report a problem where something comes from.
    pub(super) fn report(
        &mut self,
        code: Code,
        origin: Origin,
        label: impl Into<String>,
        message: impl Into<String>,
    ) -> Report<'_, 't> {
        self.of(origin.source)
            .report(code, origin.span, label, message)
    }

    /// The place where something comes from.
    pub(super) fn place(&self, origin: Origin) -> Place {
        let problems = match origin.source {
            Source::Overlay => &self.overlay,
            Source::Index => &self.index,
            _ => &self.import,
        };
        problems.text().place(origin.span)
    }

    /// All problems, ordered by place within each text.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let mut found = self.import.finish();
        found.extend(self.overlay.finish());
        found.extend(self.index.finish());
        found
    }
}
