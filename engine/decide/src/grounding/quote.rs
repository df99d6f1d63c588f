//! Parts of leaves that are evidence.

use super::{EVIDENCE_MIN, Quote};
use agent_model::LeafView;
use std::ops::Range;

/// A word with more characters than this is cut: not everything that has no spaces in it is a word.
const WORD: usize = 24;

/// Nobody reads more of what may have been meant than so many bytes.
const QUOTE: usize = 4_096;

/// A part of a leaf with the halves of words at its ends made whole, if they are to be, and with as
/// many more words as make it evidence; of a number the whole. None if that is more than anybody
/// reads.
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
    (part.len() <= QUOTE).then(|| Quote {
        leaf: leaf.number(),
        part,
    })
}

/// How many bytes of a word there are from the beginning of some characters on, if it is a word.
fn word(characters: impl Iterator<Item = char>) -> usize {
    let word = characters.take_while(|c| c.is_alphanumeric());
    let (count, bytes) = word.take(WORD + 1).fold((0, 0), |(count, bytes), c| {
        (count + 1, bytes + c.len_utf8())
    });
    if count > WORD { 0 } else { bytes }
}

fn snapped(text: &str, part: Range<usize>) -> Range<usize> {
    let inner = &text[part.clone()];
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let before = match is_word(inner.chars().next()) {
        true => word(text[..part.start].chars().rev()),
        false => 0,
    };
    let behind = match is_word(inner.chars().next_back()) {
        true => word(text[part.end..].chars()),
        false => 0,
    };
    part.start - before..part.end + behind
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

fn is_long(text: &str) -> bool {
    text.trim().chars().nth(EVIDENCE_MIN - 1).is_some()
}
