//! The text of a payload that is most like evidence that is not there.
//!
//! First the windows are found that have the most groups of characters in common with the
//! evidence, in one pass; then each of the best is aligned with it. Both look at texts without
//! what a reader may not see.

use super::fold::differences;
use super::{Difference, Quote, Search};
use agent_model::LeafNumber;
use agent_text::sort::sort_by_key;
use std::collections::VecDeque;
use std::ops::Range;

/// Evidence of more bytes than this is long: of it a piece of that size around the place where it
/// stops being verbatim is looked for.
pub const PIECE: usize = 1_024;

/// How much is done to find what is nearest to all evidence of a summary: about as many steps as
/// a few seconds have, and the same everywhere. A step is a byte that is looked at, eight bytes that
/// are compared, or a cell of an alignment.
pub const WORK: usize = 1 << 27;

/// How many characters stand in a group: few enough to find a number that has other marks between
/// its thousands.
const GROUP: usize = 3;

/// How many windows are aligned.
const WINDOWS: usize = 8;

/// How many bits a group is known by.
const BITS: u32 = 14;

/// A text is near if no more than one of so many characters is another one.
const ALIKE: usize = 2;

/// Something like the evidence.
pub(super) struct NearMiss {
    pub(super) quote: Quote,
    /// What keeps it and the whole evidence from being the same; nothing if that is more than what
    /// a reader may not see.
    pub(super) differences: Vec<Difference>,
}

/// What was aligned with the evidence, ordered by how near it is: what stands first in the payload
/// counts only where nothing else does, because members of objects have no order.
type Aligned = (usize, usize, Vec<Difference>, (LeafNumber, usize, usize));

impl Search<'_> {
    /// What is most like some evidence. None if nothing is, or if it would be too much work.
    pub(super) fn nearest(&mut self, evidence: &str) -> Option<NearMiss> {
        let piece = match evidence.len() > PIECE {
            true => self.piece(evidence)?,
            false => evidence,
        };
        let mut characters = Vec::new();
        self.folder.fold(piece, |c, _| characters.push(c));
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

    /// The piece of long evidence in which it stops being verbatim.
    fn piece<'e>(&mut self, evidence: &'e str) -> Option<&'e str> {
        // If a beginning is there, every shorter one is.
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

    /// The windows with the most groups of these characters, in document order. None if it would be
    /// too much work.
    fn windows(&mut self, characters: &[char]) -> Option<Vec<Window>> {
        let group = GROUP.min(characters.len());
        let mut groups = Groups::of(characters, group);
        let size = characters.len() + characters.len() / 2;
        if !self.afford(self.payload.bytes() + GROUP * self.payload.count()) {
            return None;
        }
        let mut best = Best::default();
        let mut looked_at = 0_usize;
        // The groups in the window, and where each starts.
        let mut window: VecDeque<(u16, usize)> = VecDeque::with_capacity(size + 1);
        for leaf in self.payload.leaves() {
            let mut hash = Hash::new(group);
            // Where the last characters start, as many as stand in a group.
            let mut starts = [0; GROUP];
            let mut count = 0;
            let mut peak = None;
            self.folder.fold(leaf.text(), |c, part| {
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
        // One character may look like many.
        let more = looked_at.saturating_sub(self.payload.bytes());
        self.work = self.work.saturating_sub(more);
        let mut windows = best.windows;
        sort_by_key(&mut windows, |window| (window.leaf, window.part.start));
        Some(windows)
    }

    /// The part of a window that is most like these characters, which are those of so many bytes,
    /// and how many of them would have to be changed.
    fn align(
        &mut self,
        characters: &[char],
        bytes: usize,
        window: &Window,
    ) -> Option<(usize, Quote)> {
        let text = self.payload.leaf(window.leaf).text();
        let start = text.floor_char_boundary(window.part.start.saturating_sub(bytes));
        let end = text.ceil_char_boundary(window.part.end.saturating_add(bytes).min(text.len()));
        // Nobody reads it if most of it is white space.
        if end - start > 16 * bytes.max(GROUP) || !self.afford(end - start) {
            return None;
        }
        let mut there = Vec::new();
        self.folder
            .fold(&text[start..end], |c, part| there.push((c, part)));
        if !self.afford(characters.len() * there.len()) {
            return None;
        }
        // In each row the cost of the characters so far against what ends at a place, and where
        // that starts: against what follows nothing it costs nothing to begin anywhere.
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

/// A part of a leaf, and how many groups it has in common with evidence.
struct Window {
    leaf: LeafNumber,
    part: Range<usize>,
    score: usize,
}

/// The best windows so far, of which no two that follow each other overlap.
#[derive(Default)]
struct Best {
    windows: Vec<Window>,
}

impl Best {
    /// Take the next window of a leaf. Of those that overlap only the peak is kept.
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
        let Some(window) = window else {
            return;
        };
        if self.windows.len() < WINDOWS {
            self.windows.push(window);
            return;
        }
        // Of equal ones the later one gives way.
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

/// How often each group of evidence is in it, and in a window.
struct Groups {
    asked: Vec<u16>,
    there: Vec<u16>,
    /// How many groups of the evidence are in the window.
    score: usize,
}

impl Groups {
    fn of(characters: &[char], group: usize) -> Self {
        let mut asked = vec![0; 1 << BITS];
        let mut hash = Hash::new(group);
        for (number, c) in characters.iter().enumerate() {
            hash.push(*c);
            if number + 1 >= group {
                asked[usize::from(hash.number())] += 1;
            }
        }
        Self {
            there: vec![0; asked.len()],
            asked,
            score: 0,
        }
    }

    /// Whether the group is one of the evidence.
    fn enter(&mut self, group: u16) -> bool {
        let group = usize::from(group);
        let asked = self.asked[group];
        if asked > 0 {
            self.score += usize::from(self.there[group] < asked);
            self.there[group] += 1;
        }
        asked > 0
    }

    fn leave(&mut self, group: u16) {
        let group = usize::from(group);
        if self.asked[group] > 0 {
            self.there[group] -= 1;
            self.score -= usize::from(self.there[group] < self.asked[group]);
        }
    }
}

/// The number of the last few characters.
struct Hash {
    characters: u64,
    mask: u64,
}

impl Hash {
    /// Of so many characters, at most [`GROUP`].
    fn new(group: usize) -> Self {
        Self {
            characters: 0,
            mask: u64::MAX >> (64 - 16 * group),
        }
    }

    fn push(&mut self, c: char) {
        // Characters of the higher planes with the same lower bits are taken for each other, which
        // the alignment sets right.
        let c = u64::from(u32::from(c) & 0xffff);
        self.characters = (self.characters << 16 | c) & self.mask;
    }

    fn number(&self) -> u16 {
        // By the golden ratio, whose products spread over the highest bits.
        let spread = self.characters.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> (64 - BITS)) as u16
    }
}
