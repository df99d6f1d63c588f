//! Unified diffs of one file: read strictly and applied exactly.
//!
//! `patch` and most libraries look for a place near the one that a hunk names, and leave lines between hunks
//! to chance. A diff here applies where it says, or not at all.

mod apply;
mod read;

pub(crate) use apply::apply;

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) kind: LineKind,
    /// The text without its line end.
    pub(crate) text: String,
    /// Whether a line end follows. Only the last line of a file has none.
    pub(crate) ended: bool,
    /// The number of the line of the diff, from 1.
    pub(crate) number: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    Context,
    Removed,
    Added,
}

/// Lines of one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The number of lines before it in the old file.
    pub(crate) old_start: usize,
    /// The number of lines before it in the new file.
    pub(crate) new_start: usize,
    pub(crate) lines: Vec<Line>,
    /// The number of its header's line in the diff, from 1.
    pub(crate) number: usize,
}

/// A diff of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diff {
    /// Whether the old side is `/dev/null`.
    pub(crate) creates: bool,
    /// Whether the new side is `/dev/null`.
    pub(crate) deletes: bool,
    pub(crate) hunks: Vec<Hunk>,
}

/// What is wrong with a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffError {
    /// The line of the diff, from 1.
    pub(crate) line: usize,
    /// The hunk, from 1; `None` before the first one.
    pub(crate) hunk: Option<usize>,
    /// The predicate of a sentence about the line.
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: &'static str,
}
