//! Problems of the documents of a plan, with the changes that may mend them.

use super::{Change, Code, Diagnostic, Label, Problems};
use agent_text::{Likeness, Span, Text};
use std::collections::BTreeSet;

/// A problem of a plan, on its way to being one that is shown: its fixes are proposals, which are
/// verified by deciding again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The problem.
    pub diagnostic: Diagnostic,
    /// The number of the denial that it words; none for a document that is wrong by itself.
    pub denial: Option<usize>,
    /// Changes that may mend a document that is wrong by itself, each list a proposal.
    pub proposals: Vec<Vec<Change>>,
}

/// The findings of one document, up to [`Problems::LIMIT`].
#[derive(Debug)]
pub struct Findings<'t> {
    text: &'t Text,
    found: Vec<Finding>,
    /// The pointers of all findings.
    pointers: BTreeSet<String>,
    /// Whether the last finding was added. Past the limit it was not.
    added: bool,
    likeness: Likeness,
}

impl<'t> Findings<'t> {
    /// None yet.
    pub fn new(text: &'t Text) -> Self {
        Self {
            text,
            found: Vec::new(),
            pointers: BTreeSet::new(),
            added: false,
            likeness: Likeness::new(),
        }
    }

    /// The text that they are about.
    pub fn text(&self) -> &'t Text {
        self.text
    }

    /// What is spelled nearly alike.
    pub fn likeness(&mut self) -> &mut Likeness {
        &mut self.likeness
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether one of them is about what a pointer leads to.
    pub fn is_about(&self, pointer: &str) -> bool {
        self.pointers.contains(pointer)
    }

    /// Whether there are so many that others may have been left out.
    pub fn is_full(&self) -> bool {
        self.found.len() >= Problems::LIMIT
    }

    /// Add that a document is not what it has to be, by a rule. Past
    /// [`Problems::LIMIT`] nothing is added.
    pub fn add(&mut self, at: (Span, &str), rule: &str, label: &str, message: String, help: &str) {
        self.reasoned(None, at, rule, label, message, help);
    }

    /// The same, with the code that says it more exactly.
    pub fn reasoned(
        &mut self,
        reason: Option<Code>,
        (span, pointer): (Span, &str),
        rule: &str,
        label: &str,
        message: String,
        help: &str,
    ) {
        self.added = !self.is_full();
        if !self.added {
            return;
        }
        self.pointers.insert(pointer.to_owned());
        let mut diagnostic = Diagnostic::new(Code::MovaValidationFailed, message).help(help);
        diagnostic.reason = reason;
        diagnostic.rule = Some(rule.to_owned());
        diagnostic.labels.push(Label {
            pointer: Some(pointer.to_owned()),
            ..Label::new(self.text.place(span), label)
        });
        self.found.push(diagnostic.into());
    }

    /// Propose changes by which the finding that was added last may go away.
    pub fn propose(&mut self, changes: Vec<Change>) {
        if let Some(last) = self.last() {
            last.proposals.push(changes);
        }
    }

    /// Point at another place of the same text in the finding that was added last.
    pub fn also(&mut self, span: Span, label: &str) {
        let place = self.text.place(span);
        if let Some(last) = self.last() {
            last.diagnostic.labels.push(Label::new(place, label));
        }
    }

    fn last(&mut self) -> Option<&mut Finding> {
        self.found.last_mut().filter(|_| self.added)
    }

    /// All of them, in the order in which they were found.
    pub fn finish(self) -> Vec<Finding> {
        self.found
    }
}

impl From<Diagnostic> for Finding {
    fn from(diagnostic: Diagnostic) -> Self {
        Self {
            diagnostic,
            denial: None,
            proposals: Vec::new(),
        }
    }
}

impl Finding {
    /// Makes a finding about the whole document of the reason why its text can't be read.
    pub fn unreadable(mut diagnostic: Diagnostic) -> Self {
        diagnostic.reason = Some(diagnostic.code);
        diagnostic.code = Code::MovaValidationFailed;
        diagnostic.rule = Some("strict JSON: one value, and nothing around it".to_owned());
        diagnostic.into()
    }
}

#[cfg(test)]
mod tests {
    use super::Findings;
    use crate::Problems;
    use agent_text::{DocumentKind, Span, Text};

    #[test]
    fn what_is_past_the_limit_is_not_told_of_another_finding() {
        let text = Text::new(DocumentKind::Plan, "[]".to_owned());
        let mut findings = Findings::new(&text);
        for _ in 0..Problems::LIMIT + 2 {
            findings.add((Span::new(0, 1), ""), "a rule", "here", "no".into(), "help");
            findings.also(Span::new(1, 2), "there");
            findings.propose(Vec::new());
        }
        let found = findings.finish();
        assert_eq!(found.len(), Problems::LIMIT);
        for finding in found {
            assert_eq!(finding.diagnostic.labels.len(), 2);
            assert_eq!(finding.proposals.len(), 1);
        }
    }
}
