//! Suggested fixes applied to texts.

use super::apply;
use agent_diagnostic::{Applicability, Diagnostic, Edit, Fix, Round};
use agent_text::{DocumentKind, LineIndex, Place};

/// A text with fixes applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// The document.
    pub kind: DocumentKind,
    /// The new text.
    pub text: String,
    /// The number of fixes that changed the text.
    pub fixes: usize,
}

/// Applies the fixes of diagnostics about some documents, and returns the changed texts in the order
/// of the documents.
///
/// Of each diagnostic it applies one fix: the first safe one or, if `unsafe_too` and no diagnostic
/// has a safe fix left to apply, the first unsafe one. A fix that overlaps an applied one waits for
/// the next round: the caller decides about the new texts and calls again, until nothing changes. So
/// an unsafe fix never replaces a safe one, and never follows a problem that a safe one solves.
///
/// Locks, policies and their tests, and imported documents stay as they are. So does a document
/// whose kind appears twice, because an edit names only the kind.
pub fn mend(
    documents: &[(DocumentKind, &str)],
    diagnostics: &[Diagnostic],
    unsafe_too: bool,
) -> Vec<Mended> {
    let mut drafts: Vec<_> = documents.iter().map(Draft::new).collect();
    let problems = || diagnostics.iter().map(|it| &*it.fixes);
    let mut round = Round::new(problems(), Applicability::Safe, |edit| {
        accepts(&mut drafts, edit)
    });
    if unsafe_too && round.edits.is_empty() {
        round = Round::new(problems(), Applicability::Unsafe, |edit| {
            accepts(&mut drafts, edit)
        });
    }
    let mended = drafts.iter().map(|draft| draft.mended(&round));
    mended.flatten().collect()
}

/// Returns whether an edit was made for one of these documents, which may be changed.
fn accepts(drafts: &mut [Draft<'_>], edit: &Edit) -> bool {
    let kind = edit.place.source;
    let mut drafts = drafts.iter_mut().filter(|draft| draft.kind == kind);
    match (drafts.next(), drafts.next()) {
        (Some(draft), None) => kind.may_be_edited() && draft.accepts(&edit.place),
        _ => false,
    }
}

/// A document.
struct Draft<'t> {
    kind: DocumentKind,
    text: &'t str,
    /// The lines of the text, once an edit needs them.
    lines: Option<LineIndex>,
}

impl<'t> Draft<'t> {
    fn new(&(kind, text): &(DocumentKind, &'t str)) -> Self {
        Self {
            kind,
            text,
            lines: None,
        }
    }

    /// Returns whether a place is one of this text. In another text it has other lines, as a rule.
    fn accepts(&mut self, place: &Place) -> bool {
        let range = place.span.start as usize..place.span.end as usize;
        if self.text.get(range.clone()).is_none() {
            return false;
        }
        let lines = self.lines.get_or_insert_with(|| LineIndex::new(self.text));
        lines.position(self.text, range.start) == place.start
            && lines.position(self.text, range.end) == place.end
    }

    /// Returns the text after the edits of a round, if it differs.
    fn mended(&self, round: &Round<'_>) -> Option<Mended> {
        let is_here = |edit: &&Edit| edit.place.source == self.kind;
        let text = apply(self.text, round.edits.iter().copied().filter(is_here));
        let fixes = round.fixes.iter();
        let is_about = |fix: &&&Fix| fix.edits.iter().any(|edit| is_here(&edit));
        (text != self.text).then(|| Mended {
            kind: self.kind,
            text,
            fixes: fixes.filter(is_about).count(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Mended, mend};
    use Applicability::{Display, Safe, Unsafe};
    use DocumentKind::{Index, Lock, Manifest, Policy, Task};
    use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix};
    use agent_text::{DocumentKind, Span, Text};

    /// Returns the fix that replaces each `(document, old text)` by a new text.
    fn fix(applicability: Applicability, edits: &[((DocumentKind, &str), &str, &str)]) -> Fix {
        let edits = edits.iter().map(|&((kind, text), old, new)| {
            let start = text.find(old).unwrap();
            let span = Span::new(start, start + old.len());
            Edit {
                place: Text::new(kind, text.to_owned()).place(span),
                replacement: new.to_owned(),
            }
        });
        Fix {
            title: "fix it".to_owned(),
            applicability,
            edits: edits.collect(),
        }
    }

    fn problem(fixes: impl IntoIterator<Item = Fix>) -> Diagnostic {
        let mut problem = Diagnostic::new(Code::UnknownKey, "a problem");
        problem.fixes.extend(fixes);
        problem
    }

    fn texts(mended: Vec<Mended>) -> Vec<(DocumentKind, String, usize)> {
        let mended = mended.into_iter();
        mended.map(|it| (it.kind, it.text, it.fixes)).collect()
    }

    #[test]
    fn only_bytes_of_edits_change() {
        let text = (Task, "# note\r\nnme: x\r\nkind: y\r\n");
        let problems = [
            problem([fix(Safe, &[(text, "kind", "sort")])]),
            problem([fix(Safe, &[(text, "nme", "name")])]),
        ];
        let mended = texts(mend(&[text], &problems, false));
        let expected = "# note\r\nname: x\r\nsort: y\r\n".to_owned();
        assert_eq!(mended, [(Task, expected, 2)]);
    }

    #[test]
    fn each_problem_gets_its_first_safe_fix() {
        let text = (Task, "a b");
        let fixes = [
            fix(Display, &[]),
            fix(Unsafe, &[(text, "a", "unsafe")]),
            fix(Safe, &[(text, "a", "first")]),
            fix(Safe, &[(text, "b", "second")]),
        ];
        for unsafe_too in [false, true] {
            let mended = texts(mend(&[text], &[problem(fixes.clone())], unsafe_too));
            assert_eq!(mended, [(Task, "first b".to_owned(), 1)]);
        }
    }

    #[test]
    fn unsafe_fixes_wait_for_safe_ones() {
        let text = (Task, "a b");
        let problems = [
            problem([fix(Unsafe, &[(text, "b", "unsafe")])]),
            problem([fix(Safe, &[(text, "a", "safe")])]),
        ];
        let mended = texts(mend(&[text], &problems, true));
        assert_eq!(mended, [(Task, "safe b".to_owned(), 1)]);
        assert!(mend(&[text], &problems[..1], false).is_empty());
        let mended = texts(mend(&[text], &problems[..1], true));
        assert_eq!(mended, [(Task, "a unsafe".to_owned(), 1)]);
    }

    #[test]
    fn a_display_fix_is_never_applied() {
        let text = (Task, "a");
        let problems = [problem([fix(Display, &[(text, "a", "b")])])];
        assert!(mend(&[text], &problems, true).is_empty());
    }

    #[test]
    fn locks_and_policies_stay() {
        let documents = [(Lock, "a"), (Policy, "a"), (Task, "a")];
        let [lock, policy, task] = documents;
        let problems = [
            problem([fix(Safe, &[(lock, "a", "b")])]),
            problem([fix(Safe, &[(task, "a", "c"), (policy, "a", "b")])]),
        ];
        assert!(mend(&documents, &problems, true).is_empty());
    }

    #[test]
    fn a_fix_of_several_documents_is_whole() {
        let (manifest, index) = ((Manifest, "one"), (Index, "two"));
        let both = problem([fix(Safe, &[(manifest, "one", "1"), (index, "two", "2")])]);
        let mended = texts(mend(&[manifest, index], std::slice::from_ref(&both), false));
        let changed = [(Manifest, "1".to_owned(), 1), (Index, "2".to_owned(), 1)];
        assert_eq!(mended, changed);
        // The index is unknown, or another text.
        assert!(mend(&[manifest], std::slice::from_ref(&both), false).is_empty());
        assert!(mend(&[manifest, (Index, "é")], &[both], false).is_empty());
    }

    #[test]
    fn overlaps_wait_and_equal_edits_are_one() {
        let text = (Task, "abcdef");
        let problems = [
            problem([fix(Safe, &[(text, "bc", "1")])]),
            problem([fix(Safe, &[(text, "cd", "2"), (text, "f", "3")])]),
            problem([fix(Safe, &[(text, "bc", "1"), (text, "e", "4")])]),
            problem([fix(Safe, &[(text, "b", "5")])]),
            problem([fix(Safe, &[(text, "ab", "6")])]),
        ];
        let mended = texts(mend(&[text], &problems, false));
        assert_eq!(mended, [(Task, "a1d4f".to_owned(), 2)]);
    }

    #[test]
    fn edits_of_another_text_are_refused() {
        let task = problem([fix(Safe, &[((Task, "a\nbc"), "bc", "d")])]);
        let task = std::slice::from_ref(&task);
        assert!(mend(&[(Task, "a bc")], task, false).is_empty());
        assert!(mend(&[(Task, "a")], task, false).is_empty());
        // The end has the same line and column, the start has another.
        let across = problem([fix(Safe, &[((Task, "a\nbcd\ne"), "bcd\ne", "f")])]);
        assert!(mend(&[(Task, "abc\nd\ne")], &[across], false).is_empty());
        // An edit names a kind, and two documents have it.
        assert!(mend(&[(Task, "a\nbc"), (Task, "other")], task, false).is_empty());
    }
}
