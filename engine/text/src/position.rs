//! Conversion of byte offsets to lines and columns.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
#[cfg(feature = "javascript")]
use tsify::Tsify;

/// A position in a text as people and editors count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "javascript", derive(Tsify))]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in Unicode code points.
    #[cfg_attr(feature = "javascript", serde(skip))]
    pub column: u32,
    /// Column, from 1, in UTF-16 code units.
    #[cfg_attr(feature = "javascript", serde(rename = "column"))]
    pub utf16_column: u32,
}

impl Position {
    /// Returns the start of a line.
    pub const fn line_start(line: u32) -> Self {
        Self {
            line,
            column: 1,
            utf16_column: 1,
        }
    }
}

const START: Position = Position::line_start(1);

/// Number of bytes between two marks. It bounds the cost of a look-up: a thousand problems in one
/// line of 500 MB are placed as quickly as elsewhere.
const STRIDE: usize = 1024;

/// The positions of some offsets, from which others are counted.
#[derive(Debug, Clone)]
pub struct LineIndex {
    /// The position at each multiple of [`STRIDE`], moved back to a character boundary.
    marks: Vec<(u32, Position)>,
}

impl LineIndex {
    /// Reads a text once.
    pub fn new(text: &str) -> Self {
        let mut marks = vec![(0, START)];
        let (mut at, mut position) = (0, START);
        while at + STRIDE < text.len() {
            let next = text.floor_char_boundary(at + STRIDE);
            position = advance(position, &text[at..next], at == 0);
            at = next;
            marks.push((at as u32, position));
        }
        Self { marks }
    }

    /// Returns the position of an offset. An offset past the end or inside a character counts as the
    /// last boundary before it.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = text.floor_char_boundary(offset);
        let mark = self
            .marks
            .partition_point(|(at, _)| *at as usize <= offset)
            .saturating_sub(1);
        let (at, position) = self.marks[mark];
        advance(position, &text[at as usize..offset], at == 0)
    }
}

/// Returns the position after `passed`. A byte order mark at the start of a text has no width.
fn advance(mut position: Position, passed: &str, at_start: bool) -> Position {
    let passed = if at_start {
        passed.strip_prefix('\u{feff}').unwrap_or(passed)
    } else {
        passed
    };
    for c in passed.chars() {
        if c == '\n' {
            position = Position::line_start(position.line + 1);
        } else {
            position.column += 1;
            position.utf16_column += c.len_utf16() as u32;
        }
    }
    position
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, offset: usize) -> (u32, u32, u32) {
        let position = LineIndex::new(text).position(text, offset);
        (position.line, position.column, position.utf16_column)
    }

    #[test]
    fn columns_count_characters_and_utf16_units() {
        let text = "a𝄞b\r\nc";
        assert_eq!(at(text, 0), (1, 1, 1));
        assert_eq!(at(text, 5), (1, 3, 4));
        assert_eq!(at(text, 8), (2, 1, 1));
        assert_eq!(at(text, 9), (2, 2, 2));
    }

    #[test]
    fn offsets_outside_are_taken_back() {
        assert_eq!(at("é", 1), (1, 1, 1));
        assert_eq!(at("é", 99), (1, 2, 2));
    }

    #[test]
    fn a_byte_order_mark_has_no_width() {
        assert_eq!(at("\u{feff}---", 3), (1, 1, 1));
        assert_eq!(at("\u{feff}---", 6), (1, 4, 4));
    }

    #[test]
    fn marks_do_not_change_positions() {
        let text = "zeile ä𝄞\n".repeat(500) + &"ö".repeat(3000);
        let lines = LineIndex::new(&text);
        for (offset, _) in text.char_indices() {
            assert_eq!(
                lines.position(&text, offset),
                advance(START, &text[..offset], true)
            );
        }
    }
}
