//! A collector for the problems of one input.

use super::{Applicability, Code, Diagnostic, Edit, Fix, Label, Severity};
use agent_text::sort::sort_by_key;
use agent_text::{DocumentKind, Place, Span, Text};

/// The problems of one text, up to [`Problems::LIMIT`].
#[derive(Debug)]
pub struct Problems<'t> {
    text: &'t Text,
    found: Vec<Diagnostic>,
    errors: bool,
}

impl<'t> Problems<'t> {
    /// Maximum number of diagnostics for one input. A reader needs no more, and a hostile input
    /// must not cause gigabytes of output.
    pub const LIMIT: usize = 1_000;

    /// Returns an empty collector for a text.
    pub fn new(text: &'t Text) -> Self {
        Self {
            text,
            found: Vec::new(),
            errors: false,
        }
    }

    /// Returns the text with the problems.
    pub fn text(&self) -> &'t Text {
        self.text
    }

    /// Returns whether a problem is an error.
    pub fn has_errors(&self) -> bool {
        self.errors
    }

    /// Returns whether a problem of a code was reported at a place.
    pub fn has(&self, code: Code, span: Span) -> bool {
        let mut found = self.found.iter();
        found.any(|it| it.code == code && it.place().is_some_and(|place| place.span == span))
    }

    /// Takes back the warning of a code at a place, of which an error says more.
    pub fn retract(&mut self, code: Code, span: Span) {
        let is_it =
            |it: &Diagnostic| it.code == code && it.place().is_some_and(|at| at.span == span);
        self.found.retain(|it| !is_it(it));
    }

    /// Reports a problem at a place. The returned report accepts further labels and help, and
    /// ignores them past the limit.
    pub fn report(
        &mut self,
        code: Code,
        span: Span,
        label: impl Into<String>,
        message: impl Into<String>,
    ) -> Report<'_, 't> {
        self.errors |= code.severity() == Severity::Error;
        let problem = Diagnostic::new(code, message);
        self.add(problem, span, label.into())
    }

    /// Reports a problem at a place as a warning, whatever the severity of its code.
    pub fn warn(
        &mut self,
        code: Code,
        span: Span,
        label: impl Into<String>,
        message: impl Into<String>,
    ) -> Report<'_, 't> {
        let mut problem = Diagnostic::new(code, message);
        problem.severity = Severity::Warning;
        self.add(problem, span, label.into())
    }

    /// Only this is compiled once for all kinds of texts.
    fn add(&mut self, problem: Diagnostic, span: Span, label: String) -> Report<'_, 't> {
        if self.found.len() >= Self::LIMIT {
            return Report(None);
        }
        let place = self.text.place(span);
        self.found.push(problem.label(place, label));
        Report(self.found.last_mut().map(|last| (last, self.text)))
    }

    /// Adds an instruction to every earlier problem of a code.
    pub fn help(&mut self, code: Code, help: &str) {
        for problem in self.found.iter_mut().filter(|found| found.code == code) {
            problem.fixes.push(Fix::display(help));
        }
    }

    /// Returns all problems, ordered by place.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        sort_by_key(&mut self.found, |problem| problem.place().copied());
        self.found
    }
}

/// A problem that was just reported.
pub struct Report<'p, 't>(Option<(&'p mut Diagnostic, &'t Text)>);

impl Report<'_, '_> {
    /// Adds a label at another place of the same text.
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        if let Some((diagnostic, text)) = &mut self.0 {
            diagnostic.labels.push(Label::new(text.place(span), label));
        }
        self
    }

    /// Adds a label at a place of another text.
    pub fn also_at(mut self, place: Place, label: impl Into<String>) -> Self {
        if let Some((diagnostic, _)) = &mut self.0 {
            diagnostic.labels.push(Label::new(place, label));
        }
        self
    }

    /// Adds the fix that replaces the text of a span. A lock has no fixes: an edit of one forges
    /// what was locked.
    pub fn replace(self, title: String, span: Span, replacement: String) -> Self {
        self.replace_all(title, vec![(span, replacement)])
    }

    /// Adds the fix that replaces the texts of several spans, as [`Report::replace`] does.
    pub fn replace_all(mut self, title: String, edits: Vec<(Span, String)>) -> Self {
        if let Some((diagnostic, text)) = &mut self.0
            && text.source() != DocumentKind::Lock
        {
            let edits = edits.into_iter().map(|(span, replacement)| Edit {
                place: text.place(span),
                replacement,
            });
            diagnostic.fixes.push(Fix {
                title,
                applicability: Applicability::Safe,
                edits: edits.collect(),
            });
        }
        self
    }

    /// Adds a fact.
    pub fn note(mut self, note: Option<String>) -> Self {
        if let Some((diagnostic, _)) = &mut self.0 {
            diagnostic.notes.extend(note);
        }
        self
    }

    /// Adds an instruction.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        if let Some((diagnostic, _)) = &mut self.0 {
            diagnostic.fixes.push(Fix::display(help));
        }
        self
    }
}
