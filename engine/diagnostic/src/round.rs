//! Fixes that can be applied together.

use crate::{Applicability, Edit, Fix};

/// A round of fixes: at most one of each problem, and none that overlaps another. An answer to the
/// changed texts shows whether another round is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Round<'f> {
    /// The fixes, in the order of the problems. A fix whose edits others have is left out.
    pub fixes: Vec<&'f Fix>,
    /// The edits of all of them, ordered by document and place.
    pub edits: Vec<&'f Edit>,
}

impl<'f> Round<'f> {
    /// Takes the first fix of each problem that has this applicability and only edits that
    /// `may_be_made`. A fix that overlaps one before it waits for the next round.
    pub fn new(
        problems: impl IntoIterator<Item = &'f [Fix]>,
        applicability: Applicability,
        mut may_be_made: impl FnMut(&Edit) -> bool,
    ) -> Self {
        let mut round = Self::default();
        for fixes in problems {
            let fix = fixes.iter().find(|fix| {
                fix.applicability == applicability
                    && !fix.edits.is_empty()
                    && fix.edits.iter().all(&mut may_be_made)
            });
            if let Some(fix) = fix {
                round.take(fix);
            }
        }
        round
    }

    /// Takes the edits of a fix, all or none.
    fn take(&mut self, fix: &'f Fix) {
        if !fix.edits.iter().all(|edit| self.accepts(edit)) {
            return;
        }
        let before = self.edits.len();
        for edit in &fix.edits {
            let at = self.position(edit);
            if self.edits.get(at) != Some(&edit) {
                self.edits.insert(at, edit);
            }
        }
        if self.edits.len() > before {
            self.fixes.push(fix);
        }
    }

    /// Returns whether an edit fits between the taken ones, or is one of them.
    fn accepts(&self, edit: &Edit) -> bool {
        let span = edit.place.span;
        let (before, behind) = self.edits.split_at(self.position(edit));
        let here = |taken: &&&Edit| taken.place.source == edit.place.source;
        let before = before.last().filter(here);
        let behind = behind.first().filter(here);
        before.is_none_or(|taken| taken.place.span.end <= span.start)
            && behind.is_none_or(|taken| {
                let next = taken.place.span.start;
                *taken == edit || (next > span.start && next >= span.end)
            })
    }

    /// Returns the number of taken edits before the place of another edit.
    fn position(&self, edit: &Edit) -> usize {
        let of = |edit: &Edit| (edit.place.source as u8, edit.place.span.start);
        self.edits.partition_point(|taken| of(taken) < of(edit))
    }
}
