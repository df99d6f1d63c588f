//! Evidence that was put together from two leaves.

use super::nearest::PIECE;
use super::{Quote, Search};

/// How many code points of the end or the beginning of a text are no coincidence. A whole leaf may
/// have fewer.
const NO_COINCIDENCE: usize = 4;

/// Two parts of evidence, without the white space between them.
struct Seam<'e> {
    left: &'e str,
    right: &'e str,
    ends: Vec<Quote>,
    begins: Vec<Quote>,
}

impl Search<'_> {
    /// The end of one leaf and the beginning of another that evidence was put together from. It
    /// may be the whole of either, and has to be for a number. Of long evidence nobody knows.
    pub(super) fn across(&mut self, evidence: &str) -> Option<[Quote; 2]> {
        if evidence.len() > PIECE {
            return None;
        }
        let mut seams = seams(evidence);
        if !self.afford(seams.len() * self.payload.count()) {
            return None;
        }
        for leaf in self.payload.leaves() {
            let (all, is_string) = (leaf.text(), leaf.is_string());
            let (end, begin) = (all.trim_end(), all.trim_start());
            let offset = all.len() - begin.len();
            for seam in &mut seams {
                let quote = |start: usize, text: &str| Quote {
                    leaf: leaf.number(),
                    part: start..start + text.len(),
                };
                // Two of each are enough to find two that are different.
                if seam.ends.len() < 2 && end.ends_with(seam.left) {
                    let start = end.len() - seam.left.len();
                    if counts(seam.left, all, is_string) {
                        seam.ends.push(quote(start, seam.left));
                    }
                }
                if seam.begins.len() < 2
                    && begin.starts_with(seam.right)
                    && counts(seam.right, all, is_string)
                {
                    seam.begins.push(quote(offset, seam.right));
                }
            }
        }
        let pairs = seams.into_iter().flat_map(|seam| {
            let begins = seam.begins;
            let pair = move |end: Quote| {
                let begin = begins.iter().find(|begin| begin.leaf != end.leaf)?;
                Some([end, begin.clone()])
            };
            seam.ends.into_iter().filter_map(pair)
        });
        pairs.into_iter().next()
    }
}

fn counts(part: &str, leaf: &str, is_string: bool) -> bool {
    part == leaf || is_string && part.chars().nth(NO_COINCIDENCE - 1).is_some()
}

/// Each border of a word that evidence may have been put together at.
fn seams(evidence: &str) -> Vec<Seam<'_>> {
    let mut seams: Vec<Seam<'_>> = Vec::new();
    let mut before = None;
    for (at, c) in evidence.char_indices() {
        let is_border =
            before.is_some_and(|before: char| !before.is_alphanumeric() || !c.is_alphanumeric());
        before = Some(c);
        let left = evidence[..at].trim_end();
        let right = evidence[at..].trim_start();
        let is_known = seams.last().is_some_and(|last| last.right == right);
        if is_border && !is_known && !left.is_empty() && !right.is_empty() {
            seams.push(Seam {
                left,
                right,
                ends: Vec::new(),
                begins: Vec::new(),
            });
        }
    }
    seams
}
