//! Problems of a plan's documents, with the changes that may fix them.

use super::{Applicability, Change, Code, Diagnostic, Fix, Label, Problems};
use agent_text::{Likeness, Span, Text};
use std::collections::BTreeSet;

/// A problem of a plan before its fixes are verified. The engine verifies a proposal by deciding
/// about the changed documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The problem.
    pub diagnostic: Diagnostic,
    /// The number of the denial that it describes. Absent for an invalid document.
    pub denial: Option<usize>,
    /// Lists of changes that may fix an invalid document. Each list is one proposal.
    pub proposals: Vec<Vec<Change>>,
}

/// The findings of one document, up to [`Problems::LIMIT`].
#[derive(Debug)]
pub struct Findings<'t> {
    text: &'t Text,
    found: Vec<Finding>,
    /// The pointers of all findings that no safe fix removes.
    pointers: BTreeSet<String>,
    /// Whether the last finding was kept. Findings past the limit are not.
    added: bool,
    likeness: Likeness,
}

impl<'t> Findings<'t> {
    /// Returns an empty list for a text.
    pub fn new(text: &'t Text) -> Self {
        Self {
            text,
            found: Vec::new(),
            pointers: BTreeSet::new(),
            added: false,
            likeness: Likeness::new(),
        }
    }

    /// Returns the text of the findings.
    pub fn text(&self) -> &'t Text {
        self.text
    }

    /// Returns the search for similar names, with its remaining budget.
    pub fn likeness(&mut self) -> &mut Likeness {
        &mut self.likeness
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns whether a safe fix removes every finding.
    pub fn are_corrected(&self) -> bool {
        self.pointers.is_empty()
    }

    /// Returns whether a finding is about the value at a pointer.
    pub fn is_about(&self, pointer: &str) -> bool {
        self.pointers.contains(pointer)
    }

    /// Returns whether the list has reached its limit, so that further findings are dropped.
    pub fn is_full(&self) -> bool {
        self.found.len() >= Problems::LIMIT
    }

    /// Adds a violation of a rule, up to [`Problems::LIMIT`] of them.
    pub fn add(&mut self, at: (Span, &str), rule: &str, label: &str, message: String, help: &str) {
        self.reasoned(None, at, rule, label, message, help);
    }

    /// Adds a violation of a rule with a code that is more exact.
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

    /// Adds a violation that one safe fix removes. The caller reads on as if it were fixed, so the value
    /// counts as sound.
    pub fn corrected(
        &mut self,
        reason: Option<Code>,
        at: (Span, &str),
        rule: &str,
        label: &str,
        message: String,
        (edited, replacement): (Span, String),
    ) {
        let is_known = self.is_about(at.1);
        self.reasoned(reason, at, rule, label, message, "");
        if !is_known {
            self.pointers.remove(at.1);
        }
        let place = self.text.place(edited);
        if let Some(last) = self.last() {
            last.diagnostic.fixes = vec![Fix::write(place, replacement)];
        }
    }

    /// Replaces the help of the last finding by a fix.
    pub fn fix(&mut self, fix: Fix) {
        if let Some(last) = self.last() {
            last.diagnostic.fixes = vec![fix];
        }
    }

    /// Adds a fact to the last finding.
    pub fn note(&mut self, note: Option<String>) {
        if let Some(last) = self.last() {
            last.diagnostic.notes.extend(note);
        }
    }

    /// Proposes changes that may fix the last finding.
    pub fn propose(&mut self, changes: Vec<Change>) {
        if let Some(last) = self.last() {
            last.proposals.push(changes);
        }
    }

    /// Adds a label at another place of the same text to the last finding.
    pub fn also(&mut self, span: Span, label: &str) {
        let place = self.text.place(span);
        if let Some(last) = self.last() {
            last.diagnostic.labels.push(Label::new(place, label));
        }
    }

    fn last(&mut self) -> Option<&mut Finding> {
        self.found.last_mut().filter(|_| self.added)
    }

    /// Returns the findings in the order of their addition.
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
    /// Returns whether the problem came with a safe fix, so that none has to be searched.
    pub fn is_corrected(&self) -> bool {
        let fix = self.diagnostic.fixes.first();
        fix.is_some_and(|fix| fix.applicability == Applicability::Safe)
    }

    /// Converts a diagnostic about unreadable text into a finding about its document.
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
    fn labels_past_the_limit_do_not_go_to_another_finding() {
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
