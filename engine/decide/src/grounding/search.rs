//! The search for text that evidence may have meant.

use super::normalize::Normalizer;
use super::quote::{self, Quote};
use agent_model::Payload;

/// Maximum work of all searches for the evidence of one summary: a few seconds, independent of the
/// machine. A unit is a byte that is read, eight bytes that are compared, or a cell of an alignment.
pub const WORK: usize = 1 << 27;

/// A search in a payload.
pub(super) struct Search<'p> {
    pub(super) payload: &'p Payload,
    pub(super) normalizer: Normalizer,
    /// The remaining work.
    pub(super) work: usize,
}

impl Search<'_> {
    /// Extends a quote until it is evidence.
    pub(super) fn sufficient(&self, quote: Quote, whole_words: bool) -> Option<Quote> {
        quote::sufficient(self.payload.leaf(quote.leaf), quote.part, whole_words)
    }

    /// Spends work, unless too little remains.
    pub(super) fn afford(&mut self, work: usize) -> bool {
        let left = self.work.checked_sub(work);
        self.work = left.unwrap_or(self.work);
        left.is_some()
    }
}
