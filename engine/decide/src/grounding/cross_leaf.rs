//! Evidence that joins the end of one leaf with the beginning of another.

use super::nearest::PIECE;
use super::quote::Quote;
use super::search::Search;

/// Minimum number of code points of a side that is not a whole leaf; fewer may match by chance.
const SIDE_MIN: usize = 4;

/// A split of evidence in two, without the white space between the sides, and their matches.
struct Split<'e> {
    left: &'e str,
    right: &'e str,
    ends: Vec<Quote>,
    begins: Vec<Quote>,
}

impl Search<'_> {
    /// Finds the end of one leaf and the beginning of another that together are the evidence. Either
    /// may be a whole leaf, and a number must be. Evidence above [`PIECE`] bytes is not searched.
    pub(super) fn across(&mut self, evidence: &str) -> Option<[Quote; 2]> {
        if evidence.len() > PIECE {
            return None;
        }
        let mut splits = splits(evidence);
        if !self.afford(splits.len() * self.payload.count()) {
            return None;
        }
        for leaf in self.payload.leaves() {
            let (all, is_string) = (leaf.text(), leaf.is_string());
            let (end, begin) = (all.trim_end(), all.trim_start());
            let offset = all.len() - begin.len();
            for split in &mut splits {
                let quote = |start: usize, text: &str| Quote {
                    leaf: leaf.number(),
                    part: start..start + text.len(),
                };
                // Two matches of each side suffice for a pair in different leaves.
                if split.ends.len() < 2
                    && end.ends_with(split.left)
                    && counts(split.left, all, is_string)
                {
                    let start = end.len() - split.left.len();
                    split.ends.push(quote(start, split.left));
                }
                if split.begins.len() < 2
                    && begin.starts_with(split.right)
                    && counts(split.right, all, is_string)
                {
                    split.begins.push(quote(offset, split.right));
                }
            }
        }
        let pairs = splits.into_iter().flat_map(|split| {
            let begins = split.begins;
            let pair = move |end: Quote| {
                let begin = begins.iter().find(|begin| begin.leaf != end.leaf)?;
                Some([end, begin.clone()])
            };
            split.ends.into_iter().filter_map(pair)
        });
        pairs.into_iter().next()
    }
}

fn counts(part: &str, leaf: &str, is_string: bool) -> bool {
    part == leaf || is_string && part.chars().nth(SIDE_MIN - 1).is_some()
}

/// Returns the splits of evidence at the borders of words.
fn splits(evidence: &str) -> Vec<Split<'_>> {
    let mut splits: Vec<Split<'_>> = Vec::new();
    let mut before = None;
    for (at, c) in evidence.char_indices() {
        let is_border =
            before.is_some_and(|before: char| !before.is_alphanumeric() || !c.is_alphanumeric());
        before = Some(c);
        let left = evidence[..at].trim_end();
        let right = evidence[at..].trim_start();
        let is_known = splits.last().is_some_and(|last| last.right == right);
        if is_border && !is_known && !left.is_empty() && !right.is_empty() {
            splits.push(Split {
                left,
                right,
                ends: Vec::new(),
                begins: Vec::new(),
            });
        }
    }
    splits
}
