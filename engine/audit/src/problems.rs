//! The problems of a folder.

use super::folder::{File, Folder};
use agent_api::diagnostic::{Code, Diagnostic, Fix, Label, Problems};
use agent_api::text::Span;
use agent_api::text::sort::sort_by_key;

/// The problems of a folder, up to [`Problems::LIMIT`].
#[derive(Debug)]
pub(crate) struct Found {
    list: Vec<Diagnostic>,
}

/// A place in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'f> {
    pub(crate) file: &'f File,
    pub(crate) span: Span,
}

impl<'f> At<'f> {
    pub(crate) fn new(file: &'f File, span: Span) -> Self {
        Self { file, span }
    }

    /// Returns the beginning of a file.
    pub(crate) fn start(file: &'f File) -> Self {
        Self::new(file, file.start())
    }

    fn label(self, text: &str) -> Label {
        Label::new(self.file.text.place(self.span), text)
    }
}

impl Found {
    pub(crate) fn new(folder: &Folder) -> Self {
        let mut found = Self { list: Vec::new() };
        found.extend(folder.problems().iter().cloned());
        found
    }

    /// Reports a problem, with the usual remedy of its code.
    pub(crate) fn report(&mut self, code: Code, at: Option<At<'_>>, label: &str, message: String) {
        self.report_both(code, at, label, None, "", message);
    }

    /// Reports a problem of two places.
    pub(crate) fn report_both(
        &mut self,
        code: Code,
        at: Option<At<'_>>,
        label: &str,
        other: Option<At<'_>>,
        other_label: &str,
        message: String,
    ) {
        let mut problem = Diagnostic::new(code, message);
        problem.labels.extend(at.map(|it| it.label(label)));
        problem.labels.extend(other.map(|it| it.label(other_label)));
        problem.fixes = vec![Fix::display(code.help())];
        self.extend([problem]);
    }

    pub(crate) fn extend(&mut self, problems: impl IntoIterator<Item = Diagnostic>) {
        let rest = Problems::LIMIT.saturating_sub(self.list.len());
        self.list.extend(problems.into_iter().take(rest));
    }

    /// Returns the problems, ordered by file and place. Those without a place come first.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        sort_by_key(&mut self.list, |problem| {
            problem.place().map(|place| (place.number, place.span))
        });
        self.list
    }
}
