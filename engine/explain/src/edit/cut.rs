//! The bytes to remove from a YAML text so that fields of a mapping are gone.

use agent_syntax::yaml::find_outside_comments;
use agent_syntax::{Entry, Node, Value};
use agent_text::Span;

/// A field by the keys that lead to it.
type Path<'p> = &'p [&'p str];

/// The treatment of comment lines within removed lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    /// They stay.
    Kept,
    /// They are removed, and with them those that follow.
    Removed,
}

/// Returns whether a value is removed with the fields at some paths within it: it is one of them, or
/// a mapping that becomes empty.
pub(super) fn gone(node: &Node<'_>, paths: &[Path<'_>]) -> bool {
    if paths.iter().any(|path| path.is_empty()) {
        return true;
    }
    match &node.value {
        Value::Mapping(entries) if !paths.is_empty() && !entries.is_empty() => entries
            .iter()
            .all(|entry| gone(&entry.value, &within(entry, paths))),
        _ => false,
    }
}

/// Returns the rest of the paths that lead through an entry.
fn within<'p>(entry: &Entry<'_>, paths: &[Path<'p>]) -> Vec<Path<'p>> {
    let firsts = paths.iter().filter_map(|path| path.split_first());
    firsts
        .filter(|(key, _)| entry.key == **key)
        .map(|(_, rest)| rest)
        .collect()
}

/// Removes the fields at some paths from a tree.
pub(super) fn prune(node: &mut Node<'_>, paths: &[Path<'_>]) {
    if let Value::Mapping(entries) = &mut node.value {
        entries.retain(|entry| !gone(&entry.value, &within(entry, paths)));
        for entry in entries {
            let paths = within(entry, paths);
            if !paths.is_empty() {
                prune(&mut entry.value, &paths);
            }
        }
    }
}

/// A search for the bytes to remove.
pub(super) struct Cutter<'t> {
    text: &'t str,
    content: Span,
    comments: Comments,
    spans: Vec<Span>,
}

/// The layout of an entry of a mapping.
struct Layout {
    gone: bool,
    /// Its key, or the `?` before it.
    start: usize,
    /// Behind its value.
    end: usize,
    /// The comma behind it, in flow style.
    comma: Option<usize>,
}

impl<'t> Cutter<'t> {
    /// Creates a search in a text whose frontmatter is at `content`.
    pub(super) fn new(text: &'t str, content: Span, comments: Comments) -> Self {
        Self {
            text,
            content,
            comments,
            spans: Vec::new(),
        }
    }

    /// Returns the bytes to remove from a mapping that does not become empty: ordered, apart.
    pub(super) fn cut(mut self, node: &Node<'_>, paths: &[Path<'_>]) -> Vec<Span> {
        self.mapping(node, paths);
        agent_text::sort::sort_by(&mut self.spans, Ord::cmp);
        self.spans.dedup_by(|later, earlier| {
            let joined = later.start <= earlier.end;
            if joined {
                earlier.end = earlier.end.max(later.end);
            }
            joined
        });
        self.spans
    }

    fn mapping(&mut self, node: &Node<'_>, paths: &[Path<'_>]) {
        let Value::Mapping(entries) = &node.value else {
            return;
        };
        let layouts = self.layouts(node, entries, paths);
        if node.span.of(self.text).starts_with('{') {
            self.flow(&layouts);
        } else {
            self.block(&layouts);
        }
        for (entry, layout) in entries.iter().zip(&layouts) {
            let paths = within(entry, paths);
            if !layout.gone && !paths.is_empty() {
                self.mapping(&entry.value, &paths);
            }
        }
    }

    fn layouts(&self, node: &Node<'_>, entries: &[Entry<'_>], paths: &[Path<'_>]) -> Vec<Layout> {
        let find = |start: usize, end: usize, indicator: char| {
            let between = self.text.get(start..end)?;
            find_outside_comments(between, &[indicator]).map(|at| start + at)
        };
        let mut before = node.span.start as usize;
        let mut layouts: Vec<Layout> = Vec::with_capacity(entries.len());
        for (number, entry) in entries.iter().enumerate() {
            let key = entry.key_span.start as usize;
            let end = match entry.value.value {
                Value::Null => entry.key_span.end,
                _ => entry.value.span.end,
            } as usize;
            let next = entries.get(number + 1);
            let next = next.map_or(node.span.end, |next| next.key_span.start) as usize;
            layouts.push(Layout {
                gone: gone(&entry.value, &within(entry, paths)),
                start: find(before, key, '?').unwrap_or(key),
                end,
                comma: find(end, next, ','),
            });
            before = end;
        }
        layouts
    }

    /// Cuts entries in block style, where an entry has its own lines.
    fn block(&mut self, layouts: &[Layout]) {
        let mut rest = layouts;
        while let Some((first, others)) = rest.split_first() {
            rest = others;
            if !first.gone {
                continue;
            }
            if is_blank(self.line_before(first.start)) {
                self.lines(first.start, first.end);
            } else {
                // The first entry is on the line of the indicator of its parent. The first entry that
                // is left takes its place.
                let left = others.iter().position(|layout| !layout.gone);
                let left = left.unwrap_or(others.len());
                rest = &others[left..];
                let end = rest.first().map_or(first.end, |layout| layout.start);
                self.spans.push(Span::new(first.start, end));
            }
        }
    }

    /// Cuts entries in flow style, each with one comma: the one behind it or, for the last entry
    /// without a comma, the one before it.
    fn flow(&mut self, layouts: &[Layout]) {
        let mut pieces: Vec<(usize, usize)> = Vec::new();
        for layout in layouts.iter().filter(|layout| layout.gone) {
            let end = layout.comma.map_or(layout.end, |comma| comma + 1);
            pieces.push((layout.start, end));
        }
        if layouts
            .last()
            .is_some_and(|last| last.gone && last.comma.is_none())
        {
            let left = layouts.iter().rfind(|layout| !layout.gone);
            let comma = left.and_then(|left| left.comma);
            pieces.extend(comma.map(|comma| (comma, comma + 1)));
        }
        agent_text::sort::sort_by(&mut pieces, Ord::cmp);
        pieces.dedup_by(|later, earlier| {
            let joined = is_blank(&self.text[earlier.1..later.0]);
            if joined {
                earlier.1 = later.1;
            }
            joined
        });
        for (start, end) in pieces {
            self.piece(start, end);
        }
    }

    /// Removes entries with their commas and the white space that separates them.
    fn piece(&mut self, start: usize, mut end: usize) {
        let piece = &self.text[start..end];
        let behind = self.line_behind(end);
        let lonely = is_blank_or_comment(behind);
        if piece == "," {
            // A comment separates it from its entry, which is a separate piece.
        } else if is_blank(self.line_before(start)) && lonely {
            return self.lines(start, end);
        } else {
            if lonely && !is_blank(behind) {
                end += behind.trim_end_matches(BREAK).len();
            }
            if !piece.starts_with(',') {
                let rest = &self.text[end..];
                let next = rest.trim_start();
                // A comment needs the white space before it.
                if !next.starts_with('#') {
                    end += rest.len() - next.len();
                }
            }
        }
        self.spans.push(Span::new(start, end));
    }

    /// Removes the lines from one offset to another.
    fn lines(&mut self, start: usize, end: usize) {
        let mut start = start - self.line_before(start).len();
        let end = end + self.line_behind(end).len();
        if self.comments == Comments::Removed {
            let mut end = end;
            while end < self.content.end as usize && is_blank_or_comment(self.line_behind(end)) {
                end += self.line_behind(end).len();
            }
            return self.spans.push(Span::new(start, end));
        }
        while start < end {
            let line = self.line_behind(start);
            let next = start + line.len();
            // No line of a removed field begins with `#`.
            if !line.trim_start().starts_with('#') {
                self.spans.push(Span::new(start, next));
            }
            start = next;
        }
    }

    /// Returns the part of the line before an offset.
    fn line_before(&self, at: usize) -> &'t str {
        let before = &self.text[..at];
        &before[before.rfind(BREAK).map_or(0, |at| at + 1)..]
    }

    /// Returns the part of the line behind an offset, with its break.
    fn line_behind(&self, at: usize) -> &'t str {
        let behind = &self.text[at..];
        let len = match behind.find(BREAK) {
            Some(at) if behind[at..].starts_with("\r\n") => at + 2,
            Some(at) => at + 1,
            None => behind.len(),
        };
        &behind[..len]
    }
}

/// The characters that end a line in YAML, alone or together.
const BREAK: [char; 2] = ['\r', '\n'];

fn is_blank(text: &str) -> bool {
    text.trim_start().is_empty()
}

fn is_blank_or_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}
