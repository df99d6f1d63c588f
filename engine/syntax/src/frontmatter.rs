//! Detection of a manifest's frontmatter.

use agent_diagnostic::{Code, Problems};
use agent_text::Span;

/// The parts of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frontmatter {
    /// The opening `---`.
    pub opening: Span,
    /// The lines between the opening and the closing one.
    pub content: Span,
    /// The text behind the closing line.
    pub body: Span,
}

/// A frontmatter with every required field, for help texts.
pub const SNIPPET: &str = "\
---
name: <agent name>
version: <version>
requires:
  mcp:
    - category: <category>
      permissions: [<scope>]
---";

/// Finds the block between a first line `---` and the next line `---` or `...`. Skips a byte order
/// mark before it, accepts CRLF, and ignores white space after the marks.
pub fn frontmatter(problems: &mut Problems<'_>) -> Option<Frontmatter> {
    let text = problems.text().as_str();
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut lines = Lines { text, at: start };
    let first = lines.next().unwrap_or(Span::new(start, start));
    let opening = Span::new(start, start + first.of(text).trim_end().len());
    if opening.of(text) != "---" {
        let message = "the manifest has no frontmatter";
        let label = "the first line must be `---`";
        problems
            .report(Code::FrontmatterMissing, opening, label, message)
            .help(format!("begin the file with:\n{SNIPPET}"));
        return None;
    }
    let content = lines.at;
    for line in &mut lines {
        if matches!(line.of(text).trim_end(), "---" | "...") {
            return Some(Frontmatter {
                opening,
                content: Span::new(content, line.start as usize),
                body: Span::new(line.end as usize, text.len()),
            });
        }
    }
    let message = "the frontmatter has no closing line `---`";
    problems
        .report(Code::FrontmatterUnclosed, opening, "opened here", message)
        .help("add a line after the last field:\n---");
    None
}

/// The lines of a text, including their ends.
struct Lines<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Lines<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let start = self.at;
        self.at += rest.find('\n').map_or(rest.len(), |end| end + 1);
        Some(Span::new(start, self.at))
    }
}
