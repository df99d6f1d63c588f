//! The text of a payload that is most similar to evidence that is absent.
//!
//! One pass finds the windows with the most groups of characters in common with the evidence; then
//! the best are aligned with it. Both compare normalized texts.

use super::normalize::{Difference, differences};
use super::quote::Quote;
use super::search::Search;
use agent_model::LeafNumber;
use agent_text::sort::sort_by_key;
use std::collections::VecDeque;
use std::ops::Range;

/// Maximum bytes of evidence to search as a whole. Of longer evidence, a piece of this size around the
/// end of its longest verbatim beginning is searched.
pub const PIECE: usize = 1_024;

/// Number of characters in a group: few enough to find a number with other separators of thousands.
const GROUP: usize = 3;

/// Maximum number of windows to align.
const WINDOWS: usize = 8;

/// Number of bits in the hash of a group.
const BITS: u32 = 14;

/// A text is near if at most one in this many characters differs.
const ALIKE: usize = 2;

/// A text similar to the evidence.
pub(super) struct NearMiss {
    pub(super) quote: Quote,
    /// The differences from the whole evidence; none if it differs in anything else.
    pub(super) differences: Vec<Difference>,
}

/// An aligned text, ordered by its distance from the evidence. The place in the payload only breaks
/// ties, because members of objects have no order.
type Aligned = (usize, usize, Vec<Difference>, (LeafNumber, usize, usize));

impl Search<'_> {
    /// Finds the text most similar to some evidence, if any and if the work is affordable.
    pub(super) fn nearest(&mut self, evidence: &str) -> Option<NearMiss> {
        let piece = match evidence.len() > PIECE {
            true => self.piece(evidence)?,
            false => evidence,
        };
        let mut characters = Vec::new();
        self.normalizer.normalize(piece, |c, _| characters.push(c));
        if characters.is_empty() {
            return None;
        }
        let windows = self.windows(&characters)?;
        let mut best: Option<Aligned> = None;
        for window in windows {
            let Some((distance, quote)) = self.align(&characters, piece.len(), &window) else {
                continue;
            };
            let found = &self.payload.leaf(quote.leaf).text()[quote.part.clone()];
            let differences = match distance == 0 && piece.len() == evidence.len() {
                true => differences(evidence, found),
                false => Vec::new(),
            };
            let count = match differences.len() {
                0 => usize::MAX,
                count => count,
            };
            let place = (quote.leaf, quote.part.start, quote.part.end);
            let aligned = (distance, count, differences, place);
            best = best.into_iter().chain([aligned]).min();
        }
        let (_, _, differences, (leaf, start, end)) =
            best.filter(|(distance, ..)| distance * ALIKE <= characters.len())?;
        let part = start..end;
        Some(NearMiss {
            quote: Quote { leaf, part },
            differences,
        })
    }

    /// Returns the piece of long evidence in which the verbatim beginning ends.
    fn piece<'e>(&mut self, evidence: &'e str) -> Option<&'e str> {
        // If the payload contains a beginning, it contains every shorter one.
        let (mut there, mut absent) = (0, evidence.len());
        while absent - there > 1 {
            if !self.afford(self.payload.bytes() / 8 + self.payload.count()) {
                return None;
            }
            let middle = evidence.floor_char_boundary(there + (absent - there) / 2);
            if middle == there {
                break;
            }
            let begins = &evidence[..middle];
            let mut texts = self.payload.leaves().filter(|leaf| leaf.is_string());
            match texts.any(|leaf| leaf.text().contains(begins)) {
                true => there = middle,
                false => absent = middle,
            }
        }
        let start = evidence.floor_char_boundary(there.saturating_sub(PIECE / 2));
        let end = evidence.floor_char_boundary(start + PIECE);
        Some(&evidence[start..end])
    }

    /// Finds the windows with the most groups of these characters, in document order, if the work is
    /// affordable.
    fn windows(&mut self, characters: &[char]) -> Option<Vec<Window>> {
        let group = GROUP.min(characters.len());
        let mut groups = Groups::of(characters, group);
        let size = characters.len() + characters.len() / 2;
        if !self.afford(self.payload.bytes() + GROUP * self.payload.count()) {
            return None;
        }
        let mut best = Best::default();
        let mut looked_at = 0_usize;
        // The groups in the window, and the start of each.
        let mut window: VecDeque<(u16, usize)> = VecDeque::with_capacity(size + 1);
        for leaf in self.payload.leaves() {
            let mut hash = Hash::new(group);
            // The starts of the last characters, as many as a group has.
            let mut starts = [0; GROUP];
            let mut count = 0;
            let mut peak = None;
            self.normalizer.normalize(leaf.text(), |c, part| {
                hash.push(c);
                starts[count % group] = part.start;
                count += 1;
                if count < group {
                    return;
                }
                window.push_back((hash.number(), starts[count % group]));
                if window.len() > size
                    && let Some((first, _)) = window.pop_front()
                {
                    groups.leave(first);
                }
                if groups.enter(hash.number()) {
                    let start = window.front().map_or(part.start, |(_, start)| *start);
                    let window = Window {
                        leaf: leaf.number(),
                        part: start..part.end,
                        score: groups.score,
                    };
                    best.take(&mut peak, window);
                }
            });
            looked_at += count;
            window.drain(..).for_each(|(group, _)| groups.leave(group));
            best.keep(peak);
        }
        // A character may normalize to several.
        let more = looked_at.saturating_sub(self.payload.bytes());
        self.work = self.work.saturating_sub(more);
        let mut windows = best.windows;
        sort_by_key(&mut windows, |window| (window.leaf, window.part.start));
        Some(windows)
    }

    /// Aligns a window with characters that take this many `bytes` in the evidence. Returns the number
    /// of changed characters and the aligned part.
    fn align(
        &mut self,
        characters: &[char],
        bytes: usize,
        window: &Window,
    ) -> Option<(usize, Quote)> {
        let text = self.payload.leaf(window.leaf).text();
        let start = text.floor_char_boundary(window.part.start.saturating_sub(bytes));
        let end = text.ceil_char_boundary(window.part.end.saturating_add(bytes).min(text.len()));
        // A part that is mostly white space is no useful quote.
        if end - start > 16 * bytes.max(GROUP) || !self.afford(end - start) {
            return None;
        }
        let mut there = Vec::new();
        self.normalizer
            .normalize(&text[start..end], |c, part| there.push((c, part)));
        if !self.afford(characters.len() * there.len()) {
            return None;
        }
        // A row holds, for each end, the cost of the characters so far and the start of the cheapest
        // part. A part may start anywhere at no cost.
        let mut row: Vec<(usize, usize)> = (0..=there.len()).map(|at| (0, at)).collect();
        for (number, c) in characters.iter().enumerate() {
            let mut before = std::mem::replace(&mut row[0], (number + 1, 0));
            for at in 1..row.len() {
                let replaced = (before.0 + usize::from(there[at - 1].0 != *c), before.1);
                let left_out = (row[at].0 + 1, row[at].1);
                let put_in = (row[at - 1].0 + 1, row[at - 1].1);
                before = row[at];
                row[at] = replaced;
                for other in [left_out, put_in] {
                    if other.0 < row[at].0 {
                        row[at] = other;
                    }
                }
            }
        }
        let ends = row.iter().enumerate().filter(|(at, cell)| cell.1 < *at);
        let (last, (distance, first)) = ends.min_by_key(|(_, cell)| cell.0)?;
        let part = start + there[*first].1.start..start + there[last - 1].1.end;
        let leaf = window.leaf;
        Some((*distance, Quote { leaf, part }))
    }
}

/// A part of a leaf, and its number of groups in common with the evidence.
struct Window {
    leaf: LeafNumber,
    part: Range<usize>,
    score: usize,
}

/// The best windows so far; consecutive ones don't overlap.
#[derive(Default)]
struct Best {
    windows: Vec<Window>,
}

impl Best {
    /// Takes the next window of a leaf. Of overlapping ones only the peak is kept.
    fn take(&mut self, peak: &mut Option<Window>, window: Window) {
        match peak {
            Some(known) if window.part.start < known.part.end => {
                if window.score > known.score {
                    *known = window;
                }
            }
            _ => self.keep(peak.replace(window)),
        }
    }

    fn keep(&mut self, window: Option<Window>) {
        let Some(window) = window else { return };
        if self.windows.len() < WINDOWS {
            self.windows.push(window);
            return;
        }
        // The later one of equal windows is replaced.
        let worst = self.windows.iter().enumerate().rev();
        let worst = worst.min_by_key(|(_, known)| known.score);
        if let Some((place, known)) = worst
            && known.score < window.score
        {
            self.windows.remove(place);
            self.windows.push(window);
        }
    }
}

/// The frequency of each group in the evidence and in a window.
struct Groups {
    in_evidence: Vec<u16>,
    in_window: Vec<u16>,
    /// The number of groups of the evidence in the window.
    score: usize,
}

impl Groups {
    fn of(characters: &[char], group: usize) -> Self {
        let mut in_evidence = vec![0; 1 << BITS];
        let mut hash = Hash::new(group);
        for (number, c) in characters.iter().enumerate() {
            hash.push(*c);
            if number + 1 >= group {
                in_evidence[usize::from(hash.number())] += 1;
            }
        }
        Self {
            in_window: vec![0; in_evidence.len()],
            in_evidence,
            score: 0,
        }
    }

    /// Adds a group to the window. Returns whether it is a group of the evidence.
    fn enter(&mut self, group: u16) -> bool {
        let group = usize::from(group);
        let wanted = self.in_evidence[group];
        if wanted > 0 {
            self.score += usize::from(self.in_window[group] < wanted);
            self.in_window[group] += 1;
        }
        wanted > 0
    }

    fn leave(&mut self, group: u16) {
        let group = usize::from(group);
        if self.in_evidence[group] > 0 {
            self.in_window[group] -= 1;
            self.score -= usize::from(self.in_window[group] < self.in_evidence[group]);
        }
    }
}

/// The rolling hash of a group.
struct Hash {
    characters: u64,
    mask: u64,
}

impl Hash {
    /// Returns the hash of this many characters, at most [`GROUP`].
    fn new(group: usize) -> Self {
        Self {
            characters: 0,
            mask: u64::MAX >> (64 - 16 * group),
        }
    }

    fn push(&mut self, c: char) {
        // Characters of higher planes with the same lower bits collide; the alignment corrects that.
        let c = u64::from(u32::from(c) & 0xffff);
        self.characters = (self.characters << 16 | c) & self.mask;
    }

    fn number(&self) -> u16 {
        // Multiples of the golden ratio spread over the highest bits.
        let spread = self.characters.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> (64 - BITS)) as u16
    }
}
