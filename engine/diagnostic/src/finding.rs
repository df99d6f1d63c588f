//! Problems of the documents of a plan: with what validation reports say of them beside the
//! words.

use super::{Change, Code, Diagnostic, Label, Problems};
use agent_text::{Likeness, Span, Text};
use std::collections::BTreeSet;

/// A problem with a document of a plan. Its code is a stable one \[3\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The words. The first label is where it stands, the first help what would make it go away.
    pub diagnostic: Diagnostic,
    /// The code that says it more exactly, if there is one.
    pub reason: Option<Code>,
    /// Where it stands, as a JSON pointer. Of what is missing: that of what it is missing in.
    pub pointer: String,
    /// What decided: a rule of the profile, a keyword of a schema, or a rule of the project.
    pub rule: String,
    /// The number of the step that it is about, if it is about one.
    pub step: Option<usize>,
    /// Which of the denials of the answer it tells; none if a document is wrong by itself.
    pub denial: Option<usize>,
    /// What may make go away what is wrong with a document by itself, each a list of changes.
    pub proposals: Vec<Vec<Change>>,
}

/// The findings of one document, as many as are worth reading.
#[derive(Debug)]
pub struct Findings<'t> {
    text: &'t Text,
    found: Vec<Finding>,
    /// What they are about.
    pointers: BTreeSet<String>,
    /// Whether the one that was to be added last was, and was not one too many.
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
        self.found.push(Finding {
            diagnostic: Diagnostic {
                code: Code::MovaValidationFailed,
                message,
                labels: vec![Label {
                    place: self.text.place(span),
                    text: label.to_owned(),
                }],
                help: vec![help.to_owned()],
            },
            reason,
            pointer: pointer.to_owned(),
            rule: rule.to_owned(),
            step: None,
            denial: None,
            proposals: Vec::new(),
        });
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
            last.diagnostic.labels.push(Label {
                place,
                text: label.to_owned(),
            });
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

impl Finding {
    /// What makes a text unreadable, as a finding about the whole document.
    pub fn unreadable(diagnostic: Diagnostic) -> Self {
        let reason = Some(diagnostic.code);
        Self {
            diagnostic: Diagnostic {
                code: Code::MovaValidationFailed,
                ..diagnostic
            },
            reason,
            pointer: String::new(),
            rule: "strict JSON: one value, and nothing around it".to_owned(),
            step: None,
            denial: None,
            proposals: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Findings;
    use crate::Problems;
    use agent_text::{Source, Span, Text};

    #[test]
    fn what_is_past_the_limit_is_not_told_of_another_finding() {
        let text = Text::new(Source::Plan, "[]".to_owned());
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
