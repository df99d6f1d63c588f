//! Suggested fixes applied to texts.

use super::apply;
use agent_diagnostic::{Applicability, Diagnostic, Edit, Fix};
use agent_text::{DocumentKind, LineIndex};

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
    let allowed: &[Applicability] = match unsafe_too {
        false => &[Applicability::Safe],
        true => &[Applicability::Safe, Applicability::Unsafe],
    };
    let rounds = allowed.iter().map(|applicability| {
        let mut drafts: Vec<_> = documents.iter().map(Draft::new).collect();
        for diagnostic in diagnostics {
            let fixes = diagnostic.fixes.iter();
            let mut fixes = fixes.filter(|fix| fix.applicability == *applicability);
            if let Some(fix) = fixes.find(|fix| is_about(documents, fix)) {
                take(&mut drafts, &fix.edits);
            }
        }
        let mended = drafts.into_iter().filter_map(Draft::finish);
        mended.collect::<Vec<_>>()
    });
    rounds
        .into_iter()
        .find(|mended| !mended.is_empty())
        .unwrap_or_default()
}

/// Returns whether a fix has edits, and all of them are about documents that may be changed.
fn is_about(documents: &[(DocumentKind, &str)], fix: &Fix) -> bool {
    let may_be_edited = |edit: &Edit| {
        let kind = edit.place.source;
        let known = documents.iter().filter(|(known, _)| *known == kind);
        kind.may_be_edited() && known.count() == 1
    };
    !fix.edits.is_empty() && fix.edits.iter().all(may_be_edited)
}

/// Takes the edits of a fix, all or none.
fn take<'e>(drafts: &mut [Draft<'e>], edits: &'e [Edit]) {
    let fits = edits.iter().all(|edit| {
        let mut drafts = drafts.iter_mut();
        let draft = drafts.find(|draft| draft.kind == edit.place.source);
        draft.is_some_and(|draft| draft.accepts(edit))
    });
    if fits {
        for draft in drafts {
            let (kind, before) = (draft.kind, draft.edits.len());
            for edit in edits.iter().filter(|edit| edit.place.source == kind) {
                draft.insert(edit);
            }
            draft.fixes += usize::from(draft.edits.len() > before);
        }
    }
}

/// A document with the edits that were taken.
struct Draft<'e> {
    kind: DocumentKind,
    text: &'e str,
    /// The lines of the text, once an edit needs them.
    lines: Option<LineIndex>,
    /// Ordered by their start, without overlaps.
    edits: Vec<&'e Edit>,
    fixes: usize,
}

impl<'e> Draft<'e> {
    fn new(&(kind, text): &(DocumentKind, &'e str)) -> Self {
        Self {
            kind,
            text,
            lines: None,
            edits: Vec::new(),
            fixes: 0,
        }
    }

    /// Returns whether an edit was made for this text and fits between the taken ones, or is one of
    /// them.
    fn accepts(&mut self, edit: &Edit) -> bool {
        let place = &edit.place;
        let (start, end) = (place.span.start, place.span.end);
        let range = start as usize..end as usize;
        if self.text.get(range.clone()).is_none() {
            return false;
        }
        // An edit of another text has other lines, as a rule.
        let lines = self.lines.get_or_insert_with(|| LineIndex::new(self.text));
        if lines.position(self.text, range.start) != place.start
            || lines.position(self.text, range.end) != place.end
        {
            return false;
        }
        let at = self.position(edit);
        let (before, after) = self.edits.split_at(at);
        before
            .last()
            .is_none_or(|taken| taken.place.span.end <= start)
            && after.first().is_none_or(|taken| {
                let next = taken.place.span.start;
                *taken == edit || (next > start && next >= end)
            })
    }

    fn insert(&mut self, edit: &'e Edit) {
        let at = self.position(edit);
        if self.edits.get(at) != Some(&edit) {
            self.edits.insert(at, edit);
        }
    }

    /// Returns the number of taken edits that start before another edit.
    fn position(&self, edit: &Edit) -> usize {
        let start = edit.place.span.start;
        self.edits
            .partition_point(|taken| taken.place.span.start < start)
    }

    /// Returns the new text, if it differs.
    fn finish(self) -> Option<Mended> {
        let text = apply(self.text, self.edits.iter().copied());
        (text != self.text).then_some(Mended {
            kind: self.kind,
            text,
            fixes: self.fixes,
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
