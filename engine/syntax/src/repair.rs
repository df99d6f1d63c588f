//! Repairs of texts that a strict reader refused.
//!
//! A refused text stays refused. Its repaired form serves only to find every further problem in one
//! run: it is read by the same strict reader, and its places are mapped back.

mod characters;
mod json;
mod marks;
mod yaml;

pub use characters::repair as repair_characters;
pub use json::repair as repair_json;
pub use marks::repair as repair_marks;
pub use yaml::repair as repair_yaml;

use agent_diagnostic::Problems;
use agent_text::Span;

/// One repair of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The characters with the problem; empty where something is missing.
    pub span: Span,
    /// The replaced characters: those of the problem, or more white space.
    pub edit: Span,
    /// The characters in their place.
    pub replacement: String,
    /// The problem: one sentence.
    pub message: String,
    /// The label of the characters.
    pub label: String,
    /// The instruction.
    pub title: String,
    /// Whether this is the only sensible repair. Otherwise the replacement is a stand-in, so that
    /// the rest of the text can be read.
    pub safe: bool,
}

/// The repairs of a text, ordered by place and without overlaps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repairs {
    /// The repairs.
    pub list: Vec<Repair>,
    /// Whether the whole text was repaired, so that it may be read again.
    pub complete: bool,
    /// The offsets of brackets that were open at the end of the text. What they lack may be cut off.
    pub cut_off: Vec<u32>,
}

impl Repairs {
    /// Extends the edit of the last repair, unless another one is there.
    fn widen(&mut self, start: usize, end: usize) -> bool {
        let Some((last, others)) = self.list.split_last_mut() else {
            return false;
        };
        // Repairs are found from the first to the last character.
        let mut near = others.iter().rev().take(64);
        let is_free = near.all(|it| (it.edit.end as usize) < start || it.edit.start as usize > end);
        if is_free {
            last.edit = Span::new(start, end);
        }
        is_free
    }

    /// Adds a repair, up to [`Problems::LIMIT`].
    fn add(&mut self, span: (usize, usize), replacement: &str, words: [&str; 3], safe: bool) {
        if self.list.len() >= Problems::LIMIT {
            self.complete = false;
            return;
        }
        let [message, label, title] = words.map(str::to_owned);
        self.list.push(Repair {
            span: Span::new(span.0, span.1),
            edit: Span::new(span.0, span.1),
            replacement: replacement.to_owned(),
            message,
            label,
            title,
            safe,
        });
    }
}

/// A text after edits, with the way back to the original places.
#[derive(Debug)]
pub struct Repaired {
    /// The text.
    pub text: String,
    /// Each replaced span of the original, and the span in its place.
    edits: Vec<(Span, Span)>,
}

impl Repaired {
    /// Applies replacements, ordered by place, to a text. One that overlaps an earlier one is left out.
    pub fn new<'r>(text: &str, edits: impl IntoIterator<Item = (Span, &'r str)>) -> Self {
        let mut repaired = String::with_capacity(text.len());
        let (mut done, mut mapped) = (0, Vec::new());
        for (span, replacement) in edits {
            // Two repairs of one place are alternatives: the first one is made.
            if (span.start as usize) < done {
                continue;
            }
            repaired.push_str(&text[done..span.start as usize]);
            let start = repaired.len();
            repaired.push_str(replacement);
            mapped.push((span, Span::new(start, repaired.len())));
            done = span.end as usize;
        }
        repaired.push_str(&text[done..]);
        Self {
            text: repaired,
            edits: mapped,
        }
    }

    /// Returns the original place of a span, and whether the span touches an edit.
    pub fn original(&self, span: Span) -> (Span, bool) {
        let (start, inside_start) = self.offset(span.start, false);
        let (end, inside_end) = self.offset(span.end, true);
        let from = self.edits.partition_point(|it| it.1.end <= span.start);
        let within = self.edits.get(from);
        let touches = within.is_some_and(|it| it.1.start < span.end);
        let span = Span {
            start,
            end: end.max(start),
        };
        (span, touches || inside_start || inside_end)
    }

    fn offset(&self, at: u32, is_end: bool) -> (u32, bool) {
        // The last edit that begins before the offset; an end is before an edit that begins there.
        let before = self.edits.partition_point(|(_, new)| match is_end {
            true => new.start < at,
            false => new.end <= at || new.start < at,
        });
        match self.edits[..before].last() {
            None => (at, false),
            Some((old, new)) if at < new.end => (if is_end { old.end } else { old.start }, true),
            Some((old, new)) => (at - new.end + old.end, false),
        }
    }
}
