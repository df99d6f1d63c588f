//! Verbatim matches of evidence.

use super::quote::{EVIDENCE_MIN, Quote, is_whole_text};
use agent_model::{Claim, LeafView, Payload};
use agent_text::sort::sort_by_key;

/// The matches of one piece of evidence in a payload.
pub(super) struct EvidenceMatch<'e> {
    pub(super) evidence: &'e str,
    /// Its number of code points, without white space at its ends.
    pub(super) code_points: usize,
    /// The first match: a whole leaf, or a part of a text that is long enough.
    pub(super) first: Option<Quote>,
    /// The number of matches.
    pub(super) count: usize,
    /// A match that does not count: the evidence is too short, or the leaf is a number.
    pub(super) partial: Option<Quote>,
}

/// Matches all evidence verbatim.
pub(super) fn matches<'e>(items: &'e [Claim], payload: &Payload) -> Vec<EvidenceMatch<'e>> {
    let matches = items.iter().map(|item| EvidenceMatch {
        evidence: &item.evidence.value,
        code_points: item.evidence.value.trim().chars().count(),
        first: None,
        count: 0,
        partial: None,
    });
    let mut matches: Vec<_> = matches.collect();
    // The shortest first: a leaf is not searched for longer evidence, and a payload may have millions
    // of leaves that are shorter than any evidence.
    let mut by_length: Vec<usize> = (0..matches.len()).collect();
    sort_by_key(&mut by_length, |item| matches[*item].evidence.len());
    for leaf in payload.leaves() {
        for item in &by_length {
            let item = &mut matches[*item];
            if item.evidence.len() > leaf.text().len() {
                break;
            }
            item.search(leaf);
        }
    }
    matches
}

impl EvidenceMatch<'_> {
    /// Returns whether a part of a text suffices.
    pub(super) fn is_long(&self) -> bool {
        self.code_points >= EVIDENCE_MIN
    }

    fn search(&mut self, leaf: LeafView<'_>) {
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
        } else if text == evidence && (!leaf.is_string() || is_whole_text(evidence)) {
            self.first.get_or_insert_with(|| quote(0));
            self.count += 1;
        } else if self.partial.is_none() {
            self.partial = text.find(evidence).map(quote);
        }
    }
}
