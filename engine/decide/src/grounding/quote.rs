//! Parts of leaves that are evidence.

use agent_model::{LeafNumber, LeafView};
use std::ops::Range;

/// Minimum number of code points of evidence that is a part of a text, without white space at its
/// ends.
pub const EVIDENCE_MIN: usize = 8;

/// Minimum number of code points of evidence that is a whole text.
pub const WHOLE_MIN: usize = 2;

/// Maximum number of characters of a word; a longer run of letters is cut.
const WORD: usize = 24;

/// Maximum bytes of suggested evidence.
const QUOTE: usize = 4_096;

/// A part of a leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// The leaf.
    pub leaf: LeafNumber,
    /// The bytes of its text.
    pub part: Range<usize>,
}

/// Extends a part of a leaf with more words until it is evidence, and with `whole_words` to the ends
/// of its words. A number is taken as a whole. Returns `None` above [`QUOTE`] bytes.
pub(super) fn sufficient(
    leaf: LeafView<'_>,
    part: Range<usize>,
    whole_words: bool,
) -> Option<Quote> {
    let text = leaf.text();
    let part = match (leaf.is_string(), whole_words) {
        (true, true) => grown(text, snapped(text, part)),
        (true, false) => grown(text, part),
        (false, _) => 0..text.len(),
    };
    // A text that is too short even as a whole is no evidence.
    let suffices = !leaf.is_string() || is_long(&text[part.clone()]) || is_whole_text(text);
    (suffices && part.len() <= QUOTE).then(|| Quote {
        leaf: leaf.number(),
        part,
    })
}

/// Returns the bytes of the word at the beginning of some characters, or 0 if it is too long.
fn word(characters: impl Iterator<Item = char>) -> usize {
    let word = characters.take_while(|c| c.is_alphanumeric());
    let (count, bytes) = word.take(WORD + 1).fold((0, 0), |(count, bytes), c| {
        (count + 1, bytes + c.len_utf8())
    });
    if count > WORD { 0 } else { bytes }
}

fn snapped(text: &str, part: Range<usize>) -> Range<usize> {
    let inner = &text[part.clone()];
    let (mut start, mut end) = (part.start, part.end);
    if inner.starts_with(char::is_alphanumeric) {
        start -= word(text[..start].chars().rev());
    }
    if inner.ends_with(char::is_alphanumeric) {
        end += word(text[end..].chars());
    }
    start..end
}

fn grown(text: &str, mut part: Range<usize>) -> Range<usize> {
    while part.len() <= QUOTE && !is_long(&text[part.clone()]) {
        let (before, behind) = (&text[..part.start], &text[part.end..]);
        if let Some(c) = behind.chars().next() {
            part.end += c.len_utf8();
        } else if let Some(c) = before.chars().next_back() {
            part.start -= c.len_utf8();
        } else {
            break;
        }
        part = snapped(text, part);
    }
    part
}

/// Returns whether a whole text is evidence.
pub(super) fn is_whole_text(text: &str) -> bool {
    text.chars().nth(WHOLE_MIN - 1).is_some()
}

fn is_long(text: &str) -> bool {
    text.trim().chars().nth(EVIDENCE_MIN - 1).is_some()
}
