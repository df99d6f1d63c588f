//! Excerpts of an input for a diagnostic.
//!
//! An input may be hundreds of megabytes on one line, and contain any bytes. An excerpt is short,
//! is UTF-8, and contains no control characters for a terminal.

use crate::contract::diagnostic::{Label, Span};
use agent_text::{TextForm, hidden};
use std::borrow::Cow;
use std::iter::repeat_n;
use std::ops::Range;

/// Maximum number of bytes of a line before the first place: more than a terminal shows. Columns can
/// be counted if the line starts within them.
const BEFORE: usize = 16_000;

/// Maximum number of bytes of a line after a place.
const AFTER: usize = 300;

/// Maximum number of bytes between two places that share an excerpt.
const TOGETHER: usize = 400;

/// Maximum number of bytes of a place that is shown whole. Of a larger one the first line is shown.
const WHOLE: usize = 4_000;

/// A few lines of an input, or a part of a line, with the places in them.
#[derive(Debug)]
pub(super) struct Excerpt {
    /// The text, safe for a terminal. Lines end in LF.
    pub(super) text: String,
    /// The number of its first line, from 1.
    pub(super) first_line: usize,
    /// Whether it starts in the middle of a line.
    pub(super) starts_within_line: bool,
    pub(super) marks: Vec<Mark>,
}

impl Excerpt {
    /// Returns the first of the labels in it.
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
    /// The index of its label.
    pub(super) label: usize,
    /// A range of bytes of [`Excerpt::text`], at boundaries of characters.
    pub(super) range: Range<usize>,
}

/// Cuts the excerpts out of `input` that its labels point at. The one with the first label comes
/// first.
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

/// The bytes that a label points at, as far as they are shown.
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
            // An input that is no UTF-8 may have no boundary before the place.
            None => next_boundary(input, earliest).min(place.range.start),
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
        let bytes = without_user_info(&input[self.bytes.clone()]);
        let (text, offsets) = shown(&bytes);
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

/// Returns the end of the line that contains `from`, or a nearer place if the line is long.
fn end_of_line(input: &[u8], from: usize) -> usize {
    let latest = input.len().min(from + AFTER);
    match input[from..latest].iter().position(|&byte| byte == b'\n') {
        Some(line_feed) => from + line_feed,
        None => next_boundary(input, latest),
    }
}

/// Returns the first byte from `at` on that is not in the middle of a character.
fn next_boundary(input: &[u8], at: usize) -> usize {
    let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    // A character has at most three such bytes.
    let rest = input[at..].iter().take(3);
    at + rest.take_while(is_continuation).count()
}

/// Returns the bytes with a `*` for each byte of the user info of a URL, which is a secret.
fn without_user_info(bytes: &[u8]) -> Cow<'_, [u8]> {
    let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
    let ends = |byte: &u8| is_slash(byte) || matches!(byte, b'?' | b'#' | b'"' | b'\'' | b'\n');
    let mut hidden = Cow::Borrowed(bytes);
    for (colon, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b':') {
        let rest = &bytes[colon + 1..];
        let slashes = rest.iter().take_while(|byte| is_slash(byte)).count();
        if slashes == 0 {
            continue;
        }
        let start = colon + 1 + slashes;
        let length = bytes[start..].iter().position(ends);
        let end = length.map_or(bytes.len(), |length| start + length);
        if let Some(at) = bytes[start..end].iter().rposition(|byte| *byte == b'@') {
            hidden.to_mut()[start..start + at].fill(b'*');
        }
    }
    hidden
}

/// Returns the bytes as text that is safe for a terminal, with LF for CRLF, and the offset in that
/// text of each byte and of the end.
fn shown(bytes: &[u8]) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(bytes.len());
    let mut offsets = Vec::with_capacity(bytes.len() + 1);
    for chunk in bytes.utf8_chunks() {
        let mut hidden = hidden(chunk.valid(), TextForm::Prose).peekable();
        for (at, char) in chunk.valid().char_indices() {
            offsets.extend(repeat_n(text.len(), char.len_utf8()));
            let is_hidden = hidden.next_if(|(hidden, _)| *hidden == at).is_some();
            let ends_line = char == '\r' && matches!(bytes.get(offsets.len()), Some(b'\n') | None);
            if is_hidden && !ends_line {
                text.push(stand_in(char));
            } else if !ends_line {
                text.push(char);
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

/// Returns one character in the place of a hidden one: columns are counted in the text that is drawn, so a code point
/// would move them. The message names the code point.
fn stand_in(hidden: char) -> char {
    let picture = match u32::from(hidden) {
        // U+2400 and following are pictures of the control characters.
        control @ 0..=0x1f => char::from_u32(0x2400 + control),
        0x7f => Some('\u{2421}'),
        _ => None,
    };
    picture.unwrap_or(char::REPLACEMENT_CHARACTER)
}
