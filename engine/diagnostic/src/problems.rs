//! Where the problems of one input are collected.

use super::{Code, Diagnostic, Fix, Label, Severity};
use agent_text::sort::sort_by_key;
use agent_text::{Span, Text};

/// The problems of one text, as many as are worth reading.
#[derive(Debug)]
pub struct Problems<'t> {
    text: &'t Text,
    found: Vec<Diagnostic>,
    errors: bool,
}

impl<'t> Problems<'t> {
    /// At most this many diagnostics are kept for one input; nobody reads more, and a hostile
    /// input must not be answered by gigabytes.
    pub const LIMIT: usize = 1_000;

    /// None yet.
    pub fn new(text: &'t Text) -> Self {
        Self {
            text,
            found: Vec::new(),
            errors: false,
        }
    }

    /// The text that the problems are in.
    pub fn text(&self) -> &'t Text {
        self.text
    }

    /// Whether there is an error among them.
    pub fn has_errors(&self) -> bool {
        self.errors
    }

    /// Report a problem at a place. The answer is the diagnostic, for more labels and help; past
    /// the limit it is none.
    pub fn report(
        &mut self,
        code: Code,
        span: Span,
        label: impl Into<String>,
        message: impl Into<String>,
    ) -> Report<'_, 't> {
        self.errors |= code.severity() == Severity::Error;
        if self.found.len() >= Self::LIMIT {
            return Report(None);
        }
        let place = self.text.place(span);
        self.found
            .push(Diagnostic::new(code, message).label(place, label));
        Report(self.found.last_mut().map(|last| (last, self.text)))
    }

    /// Say what to do about every problem of a code that was found so far.
    pub fn help(&mut self, code: Code, help: &str) {
        for problem in self.found.iter_mut().filter(|found| found.code == code) {
            problem.fixes.push(Fix::display(help));
        }
    }

    /// All problems, ordered by place.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        sort_by_key(&mut self.found, |problem| problem.place().copied());
        self.found
    }
}

/// A problem that has just been reported.
pub struct Report<'p, 't>(Option<(&'p mut Diagnostic, &'t Text)>);

impl Report<'_, '_> {
    /// Point at another place of the same text.
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        if let Some((diagnostic, text)) = &mut self.0 {
            diagnostic.labels.push(Label::new(text.place(span), label));
        }
        self
    }

    /// Say what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        if let Some((diagnostic, _)) = &mut self.0 {
            diagnostic.fixes.push(Fix::display(help));
        }
        self
    }
}
