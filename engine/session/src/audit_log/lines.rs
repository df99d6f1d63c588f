//! The lines of a log, which comes in pieces.

use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::lower::bytes_digest;
use agent_api::text::{DocumentKind, Place, Position, Span};

/// Maximum size of a line in bytes. A longer one can't be read. A session writes shorter ones: the largest
/// hold the names of a live list of 16 MiB.
pub const LINE_MAX_BYTES: usize = 64 << 20;

/// A line in a file of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    /// The number of the file, from 0.
    pub(crate) file: u32,
    /// The number of the line, from 1. A later line than the 4,294,967,295th counts as this one.
    pub(crate) line: u32,
}

impl At {
    /// Returns the beginning of the line.
    pub(crate) fn place(self) -> Place {
        let start = Position::line_start(self.line);
        Place {
            source: DocumentKind::Evidence,
            number: self.file,
            span: Span::default(),
            start,
            end: start,
        }
    }

    /// Returns a problem of the line, with the usual remedy of its code.
    pub(crate) fn problem(self, code: Code, label: &str, message: String) -> Diagnostic {
        let problem = Diagnostic::new(code, message);
        problem.label(self.place(), label).help(code.help())
    }
}

/// A whole line.
#[derive(Debug)]
pub(crate) struct Line<'b> {
    pub(crate) at: At,
    /// Its text without its end, or `None` if it is too long or not UTF-8.
    pub(crate) text: Option<&'b str>,
    /// The digest of its bytes; `None` if it is too long.
    pub(crate) digest: Option<String>,
}

/// Splits the files of a log into lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    file: u32,
    /// The number of lines that ended.
    ended: u32,
    /// The present line, up to [`LINE_MAX_BYTES`] and one.
    present: Vec<u8>,
}

impl Lines {
    /// Takes the next bytes of a file, and passes on each line that ends in them.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(&Line<'_>)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let piece = &rest[..end];
            rest = &rest[end + 1..];
            let at = self.at();
            self.ended = self.ended.saturating_add(1);
            if self.present.is_empty() {
                take(&line(at, piece));
            } else {
                self.keep(piece);
                take(&line(at, &self.present));
                self.present.clear();
            }
        }
        self.keep(rest);
    }

    /// Ends the present file, and passes on a line without its end. The next bytes are those of another file.
    pub(crate) fn end_file(&mut self, cut_off: impl FnOnce(&Line<'_>)) {
        if !self.present.is_empty() {
            cut_off(&line(self.at(), &self.present));
        }
        self.present = Vec::new();
        self.ended = 0;
        self.file = self.file.saturating_add(1);
    }

    /// Returns the present line.
    pub(crate) fn at(&self) -> At {
        At {
            file: self.file,
            line: self.ended.saturating_add(1),
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = (LINE_MAX_BYTES + 1).saturating_sub(self.present.len());
        self.present
            .extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

fn line(at: At, bytes: &[u8]) -> Line<'_> {
    let is_short = bytes.len() <= LINE_MAX_BYTES;
    Line {
        at,
        text: core::str::from_utf8(bytes).ok().filter(|_| is_short),
        digest: is_short.then(|| bytes_digest(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_are_the_same_whatever_the_pieces_are() {
        let text = b"one\ntwo\n\nfour \xff\nrest";
        for size in 1..=text.len() {
            let mut lines = Lines::default();
            let mut found = Vec::new();
            for piece in text.chunks(size) {
                lines.feed(piece, |line| {
                    found.push((line.at.line, line.text.map(str::to_owned)));
                });
            }
            let texts = [Some("one"), Some("two"), Some(""), None];
            let expected: Vec<_> = (1..).zip(texts.map(|it| it.map(str::to_owned))).collect();
            assert_eq!(found, expected, "{size}");
            let mut cut_off = Vec::new();
            for _ in 0..2 {
                lines.end_file(|line| cut_off.push((line.at.line, line.text.map(str::to_owned))));
            }
            assert_eq!(cut_off, [(5, Some("rest".to_owned()))]);
            assert_eq!((lines.at().file, lines.at().line), (2, 1));
        }
    }
}
