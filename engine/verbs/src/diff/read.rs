//! Reading of diffs.

use super::{Diff, DiffError, Hunk, Line, LineKind};
use crate::limits::{HUNKS_MAX, LINES_MAX};

/// The side of a file that does not exist.
const NOTHING: &str = "/dev/null";

/// The mark after a line that ends a file without a line end.
const NO_LINE_END: &str = "\\ No newline at end of file";

/// The beginnings of header lines of Git that change more than lines, and what they do.
const REFUSED: [(&str, &str); 11] = [
    ("rename ", "renames a file"),
    ("similarity index ", "renames or copies a file"),
    ("dissimilarity index ", "rewrites a file"),
    ("copy ", "copies a file"),
    ("old mode ", "changes a mode"),
    ("new mode ", "changes a mode"),
    ("new file mode ", "sets a mode"),
    ("deleted file mode ", "names a mode"),
    ("GIT binary patch", "is binary"),
    ("Binary files ", "is binary"),
    ("Files ", "is binary"),
];

/// What to do about a line that is refused for what it does.
const REWRITE: &str = "make a diff of lines alone; write a mode or another path with `writes`";

/// What to do about a diff that is cut or damaged.
const REMAKE: &str = "make the diff again with `diff -u` or `git diff --no-renames`";

impl Diff {
    /// Reads the diff of the file at a path.
    pub(crate) fn read(text: &str, path: &str) -> Result<Self, DiffError> {
        let mut reader = Reader::new(text);
        if text.bytes().filter(|it| *it == b'\n').count() > LINES_MAX {
            return Err(reader.error(
                "makes the diff longer than a million lines",
                "split the diff",
            ));
        }
        reader.preamble(path)?;
        let creates = reader.side("--- ", "a/", path)?;
        let deletes = reader.side("+++ ", "b/", path)?;
        if creates && deletes {
            return Err(reader.error("names no file on either side", REMAKE));
        }
        let mut hunks = Vec::new();
        while reader.peek().is_some() {
            if hunks.len() == HUNKS_MAX {
                return Err(reader.error("begins more than 10,000 hunks", "split the diff"));
            }
            reader.hunk = Some(hunks.len() + 1);
            hunks.push(reader.read_hunk()?);
        }
        Ok(Self {
            creates,
            deletes,
            hunks,
        })
    }
}

struct Reader<'d> {
    rest: &'d str,
    /// The number of lines read.
    number: usize,
    hunk: Option<usize>,
}

impl<'d> Reader<'d> {
    fn new(text: &'d str) -> Self {
        Self {
            rest: text,
            number: 0,
            hunk: None,
        }
    }

    fn peek(&self) -> Option<&'d str> {
        (!self.rest.is_empty()).then(|| self.rest.split('\n').next().unwrap_or_default())
    }

    fn next(&mut self) -> Option<&'d str> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        Some(line)
    }

    /// Returns an error about the line that was read last.
    fn error(&self, message: impl Into<String>, hint: &'static str) -> DiffError {
        DiffError {
            line: self.number.max(1),
            hunk: self.hunk,
            message: message.into(),
            hint,
        }
    }

    /// Reads the lines of Git before the names of the sides.
    fn preamble(&mut self, path: &str) -> Result<(), DiffError> {
        while let Some(line) = self.peek().filter(|it| !it.starts_with("--- ")) {
            self.next();
            let refused = REFUSED.iter().find(|(start, _)| line.starts_with(start));
            if let Some((_, what)) = refused {
                return Err(self.error(*what, REWRITE));
            }
            let is_known = match line.strip_prefix("diff --git ") {
                Some(sides) => sides == format!("a/{path} b/{path}"),
                // The digests of Git's objects decide nothing.
                None => line.starts_with("index "),
            };
            if !is_known {
                return Err(self.error("is not a header of this file's diff", REMAKE));
            }
        }
        Ok(())
    }

    /// Reads the name of a side. Returns whether the file does not exist there.
    fn side(&mut self, start: &str, prefix: &str, path: &str) -> Result<bool, DiffError> {
        let line = self.next().unwrap_or_default();
        let Some(named) = line.strip_prefix(start) else {
            return Err(self.error(format!("must begin with `{}`", start.trim_end()), REMAKE));
        };
        // A time may follow the name.
        let name = named.split('\t').next().unwrap_or_default();
        let is_path = name == path || name.strip_prefix(prefix) == Some(path);
        match name {
            NOTHING => Ok(true),
            _ if is_path => Ok(false),
            _ => Err(self.error(
                "names another file than the path of the patch",
                "name the path of the patch in both headers, with or without `a/` and `b/`",
            )),
        }
    }

    fn read_hunk(&mut self) -> Result<Hunk, DiffError> {
        let header = self.next().unwrap_or_default();
        let number = self.number;
        let refused = REFUSED.iter().find(|(start, _)| header.starts_with(start));
        if let Some((_, what)) = refused {
            return Err(self.error(*what, REWRITE));
        }
        if header.starts_with("--- ") || header.starts_with("diff ") {
            return Err(self.error("begins another file", "send one patch for each file"));
        }
        let Some([old, new]) = ranges(header) else {
            return Err(self.error("is not the header of a hunk", REMAKE));
        };
        let mut hunk = Hunk {
            old_start: old.before(),
            new_start: new.before(),
            lines: Vec::new(),
            number,
        };
        let (mut old_left, mut new_left) = (old.count, new.count);
        while old_left > 0 || new_left > 0 {
            let line = self.line(&mut hunk)?;
            let Some(kind) = line else {
                continue;
            };
            let left = match kind {
                LineKind::Context => old_left.checked_sub(1).zip(new_left.checked_sub(1)),
                LineKind::Removed => old_left.checked_sub(1).zip(Some(new_left)),
                LineKind::Added => Some(old_left).zip(new_left.checked_sub(1)),
            };
            let Some(left) = left else {
                return Err(self.error("is one more than the header counts", REMAKE));
            };
            (old_left, new_left) = left;
        }
        if self.peek().is_some_and(|it| it.starts_with('\\')) {
            self.line(&mut hunk)?;
        }
        if hunk.lines.iter().all(|it| it.kind == LineKind::Context) {
            return Err(self.error("ends a hunk without a change", REMAKE));
        }
        Ok(hunk)
    }

    /// Reads a line of a hunk. Returns `None` for a mark about the line before.
    fn line(&mut self, hunk: &mut Hunk) -> Result<Option<LineKind>, DiffError> {
        let Some(line) = self.next() else {
            return Err(self.error(
                "ends the diff before the lines that the header counts",
                REMAKE,
            ));
        };
        let mut chars = line.chars();
        let kind = match chars.next() {
            Some(' ') => LineKind::Context,
            Some('-') => LineKind::Removed,
            Some('+') => LineKind::Added,
            Some('\\') if line == NO_LINE_END => {
                return match hunk
                    .lines
                    .last_mut()
                    .filter(|it| it.ended && !it.text.is_empty())
                {
                    Some(last) => {
                        last.ended = false;
                        Ok(None)
                    }
                    None => Err(self.error("does not follow a line with a text", REMAKE)),
                };
            }
            _ => {
                let message = "begins with none of ` `, `-` and `+`";
                let hint = "begin each line with its mark; an empty line of context is one space";
                return Err(self.error(message, hint));
            }
        };
        hunk.lines.push(Line {
            kind,
            text: chars.as_str().to_owned(),
            ended: true,
            number: self.number,
        });
        Ok(Some(kind))
    }
}

/// The lines of a hunk on one side.
#[derive(Clone, Copy)]
struct Range {
    first: usize,
    count: usize,
}

impl Range {
    /// Returns the number of lines before the range. An empty one names the line before it.
    fn before(self) -> usize {
        match self.count {
            0 => self.first,
            _ => self.first - 1,
        }
    }
}

/// Reads `@@ -1,2 +1,3 @@`, after which Git writes where the hunk is.
fn ranges(header: &str) -> Option<[Range; 2]> {
    let inner = header.strip_prefix("@@ -")?;
    let (old, rest) = inner.split_once(" +")?;
    let (new, section) = rest.split_once(" @@")?;
    if !section.is_empty() && !section.starts_with(' ') {
        return None;
    }
    Some([range(old)?, range(new)?])
}

fn range(text: &str) -> Option<Range> {
    let (first, count) = match text.split_once(',') {
        Some((first, count)) => (number(first)?, number(count)?),
        None => (number(text)?, 1),
    };
    (first > 0 || count == 0).then_some(Range { first, count })
}

/// Reads a number as `diff` writes it. No file has more lines than 7 digits can count.
fn number(digits: &str) -> Option<usize> {
    let is_plain = digits.len() <= 7 && digits.bytes().all(|it| it.is_ascii_digit());
    is_plain.then(|| digits.parse().ok()).flatten()
}
