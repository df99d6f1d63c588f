//! Evidence that is there.

use super::{EVIDENCE_MIN, Quote};
use agent_model::{Claim, LeafView, Payload};
use agent_text::sort::sort_by_key;

/// What is there of some evidence.
pub(super) struct Sought<'e> {
    pub(super) evidence: &'e str,
    /// How many code points it has, without white space at its ends.
    pub(super) code_points: usize,
    /// The first whole leaf or part of a text.
    pub(super) first: Option<Quote>,
    /// How many there are.
    pub(super) count: usize,
    /// A part that does not count, because it is short or of a number.
    pub(super) partial: Option<Quote>,
}

/// Look for all evidence, as it is.
pub(super) fn sought<'e>(items: &'e [Claim], payload: &Payload) -> Vec<Sought<'e>> {
    let sought = items.iter().map(|item| Sought {
        evidence: &item.evidence.value,
        code_points: item.evidence.value.trim().chars().count(),
        first: None,
        count: 0,
        partial: None,
    });
    let mut sought: Vec<_> = sought.collect();
    // The shortest first: what is longer than a leaf is not looked for in it, and a payload may
    // have millions of leaves that are shorter than anything.
    let mut by_length: Vec<usize> = (0..sought.len()).collect();
    sort_by_key(&mut by_length, |item| sought[*item].evidence.len());
    for leaf in payload.leaves() {
        for item in &by_length {
            let item = &mut sought[*item];
            if item.evidence.len() > leaf.text().len() {
                break;
            }
            item.look_in(leaf);
        }
    }
    sought
}

impl Sought<'_> {
    /// Whether a part of a text is evidence.
    pub(super) fn is_long(&self) -> bool {
        self.code_points >= EVIDENCE_MIN
    }

    fn look_in(&mut self, leaf: LeafView<'_>) {
        let (evidence, text) = (self.evidence, leaf.text());
        let quote = |at: usize| Quote {
            leaf: leaf.number(),
            part: at..at + evidence.len(),
        };
        if leaf.is_string() && self.is_long() {
            for (at, _) in text.match_indices(evidence) {
                self.first.get_or_insert_with(|| quote(at));
                self.count += 1;
            }
        } else if text == evidence {
            self.first.get_or_insert_with(|| quote(0));
            self.count += 1;
        } else if self.partial.is_none() {
            self.partial = text.find(evidence).map(quote);
        }
    }
}
