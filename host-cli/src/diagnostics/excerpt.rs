//! The piece of an input that a diagnostic shows.
//!
//! An input may be hundreds of megabytes on a single line, and hold anything. An excerpt is short,
//! is UTF-8, and has nothing in it that a terminal would act on.

use crate::engine::{Label, Span};
use crate::output::visible_char;
use std::iter::repeat_n;
use std::ops::Range;

/// Bytes of a line before the first place. More than can be shown: while the line starts within
/// them, columns can be counted.
const BEFORE: usize = 16_000;

/// Bytes of a line after a place.
const AFTER: usize = 300;

/// Places that are no farther apart share an excerpt.
const TOGETHER: usize = 400;

/// Of a place with more bytes than this, the first line is shown.
const WHOLE: usize = 4_000;

/// A few lines of an input, or a part of a line, with the places in them.
#[derive(Debug)]
pub(super) struct Excerpt {
    /// The text as it can be shown. Lines end in LF.
    pub(super) text: String,
    /// The line on which it starts, from 1.
    pub(super) first_line: usize,
    /// It starts within a line and not at its beginning.
    pub(super) starts_within_line: bool,
    pub(super) marks: Vec<Mark>,
}

impl Excerpt {
    /// The first of the labels in it.
    pub(super) fn first_label(&self) -> usize {
        self.marks
            .iter()
            .map(|mark| mark.label)
            .min()
            .expect("an excerpt shows a place")
    }
}

/// A place in an excerpt.
#[derive(Debug)]
pub(super) struct Mark {
    /// Which of the labels it is.
    pub(super) label: usize,
    /// Bytes of [`Excerpt::text`], at boundaries of characters.
    pub(super) range: Range<usize>,
}

/// Cuts out of `input` what the labels, all of this input, point at. The excerpt with the first
/// label comes first.
pub(super) fn excerpts(input: &[u8], labels: &[(usize, &Label)]) -> Vec<Excerpt> {
    let mut places: Vec<Place> = labels
        .iter()
        .map(|&(number, label)| Place::new(input, number, label))
        .collect();
    places.sort_by_key(|place| (place.range.start, place.label));

    let mut windows: Vec<Window> = Vec::new();
    for place in places {
        match windows.last_mut() {
            Some(window) if place.range.start <= window.bytes.end + TOGETHER => {
                window.extend(input, place)
            }
            _ => windows.push(Window::around(input, place)),
        }
    }
    let mut excerpts: Vec<_> = windows
        .into_iter()
        .map(|window| window.excerpt(input))
        .collect();
    excerpts.sort_by_key(Excerpt::first_label);
    excerpts
}

/// Where a label points, as far as it is shown.
struct Place {
    label: usize,
    line: usize,
    range: Range<usize>,
}

impl Place {
    fn new(input: &[u8], number: usize, label: &Label) -> Self {
        let Span { start, end, .. } = label.place.span;
        let start = (start as usize).min(input.len());
        let mut end = (end as usize).clamp(start, input.len());
        if end - start > WHOLE {
            end = end_of_line(input, start);
        }
        Self {
            label: number,
            line: label.place.start.line as usize,
            range: start..end,
        }
    }
}

/// A piece of the input.
struct Window {
    bytes: Range<usize>,
    first_line: usize,
    places: Vec<Place>,
}

impl Window {
    fn around(input: &[u8], place: Place) -> Self {
        let earliest = place.range.start.saturating_sub(BEFORE);
        let start = match input[earliest..place.range.start]
            .iter()
            .rposition(|&byte| byte == b'\n')
        {
            Some(line_feed) => earliest + line_feed + 1,
            None => next_boundary(input, earliest),
        };
        let end = end_of_line(input, place.range.end);
        Self {
            bytes: start..end,
            first_line: place.line,
            places: vec![place],
        }
    }

    fn extend(&mut self, input: &[u8], place: Place) {
        self.bytes.end = self.bytes.end.max(end_of_line(input, place.range.end));
        self.places.push(place);
    }

    fn excerpt(self, input: &[u8]) -> Excerpt {
        let starts_within_line = self.bytes.start > 0 && input[self.bytes.start - 1] != b'\n';
        let (text, offsets) = shown(&input[self.bytes.clone()]);
        let offset = |byte: usize| offsets[byte - self.bytes.start];
        let marks = self
            .places
            .iter()
            .map(|place| Mark {
                label: place.label,
                range: offset(place.range.start)..offset(place.range.end),
            })
            .collect();
        Excerpt {
            text,
            first_line: self.first_line,
            starts_within_line,
            marks,
        }
    }
}

/// The end of the line that `from` is on, if it is near.
fn end_of_line(input: &[u8], from: usize) -> usize {
    let latest = input.len().min(from + AFTER);
    match input[from..latest].iter().position(|&byte| byte == b'\n') {
        Some(line_feed) => from + line_feed,
        None => next_boundary(input, latest),
    }
}

/// The first byte from `at` on that is not in the middle of a character.
fn next_boundary(input: &[u8], at: usize) -> usize {
    let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    at + input[at..].iter().take_while(is_continuation).count()
}

/// The bytes as text that can be shown, with LF for CRLF, and for each byte and for the end its
/// offset in that text.
fn shown(bytes: &[u8]) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(bytes.len());
    let mut offsets = Vec::with_capacity(bytes.len() + 1);
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            offsets.extend(repeat_n(text.len(), char.len_utf8()));
            let ends_line = char == '\r' && matches!(bytes.get(offsets.len()), Some(b'\n') | None);
            if !ends_line {
                text.push(visible_char(char));
            }
        }
        if !chunk.invalid().is_empty() {
            offsets.extend(repeat_n(text.len(), chunk.invalid().len()));
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    offsets.push(text.len());
    (text, offsets)
}
