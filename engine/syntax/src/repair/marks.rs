//! Repairs of the lines `---` around a frontmatter.

use super::Repairs;
use super::yaml::is_key;
use agent_text::Span;

/// Returns the repair of a missing or misspelt mark in a part of a text, and the lines between the marks.
/// `None` if it is not clear where the frontmatter begins or ends.
pub fn repair(text: &str, within: Span) -> Option<(Repairs, Span)> {
    let part = within.of(text);
    let offset = within.start as usize;
    let mut found = Repairs {
        complete: true,
        ..Repairs::default()
    };
    let first = part.split_inclusive('\n').next()?;
    let mark = first.trim_end();
    if mark != "---" {
        let is_rule = mark.chars().count() > 1
            && mark
                .chars()
                .all(|c| matches!(c, '-' | '=' | '*' | '\u{2013}' | '\u{2014}'))
            || matches!(mark, "\u{2013}" | "\u{2014}");
        let begin = if is_rule { first.len() } else { 0 };
        let behind = &part[begin..];
        let end = line_of(behind, |line| matches!(line, "---" | "..."))?;
        let opens = behind
            .lines()
            .next()
            .is_some_and(|line| is_key(line) && !line.starts_with(' '));
        let content = &behind[..end];
        // Prose between rules of Markdown is no frontmatter.
        if !opens || !content.lines().any(|line| line.trim_end() == "requires:") {
            return None;
        }
        let words = [
            "the frontmatter begins without `---`",
            "the first line must be `---`",
            "write `---` as the first line",
        ];
        let (span, new) = match is_rule {
            true => ((offset, offset + mark.len()), "---"),
            false => ((offset, offset), "---\n"),
        };
        found.add(span, new, words, true);
        if !is_rule {
            let key = part.find(':').unwrap_or_default();
            found.list[0].span = Span::new(offset, offset + key);
        }
        let start = offset + begin;
        return Some((found, Span::new(start, start + end)));
    }
    // The frontmatter ends before a blank line and a heading, or at the end of the text.
    let behind = &part[first.len()..];
    let heading = line_of(behind, |line| line.starts_with("# "));
    let content = &behind[..heading.unwrap_or(behind.len())];
    let is_field = |line: &str| {
        let line = line.trim();
        line.is_empty() || is_key(line) || line.starts_with(['-', '#', '[', ']', '{', '}'])
    };
    let is_apart = heading.is_none() || content.ends_with("\n\n") || content.ends_with("\n\r\n");
    if !is_apart || content.trim().is_empty() || !content.lines().all(is_field) {
        return None;
    }
    let end = content.trim_end().len();
    let end = end
        + content[end..]
            .find('\n')
            .map_or(content.len() - end, |at| at + 1);
    let at = offset + first.len() + end;
    let is_line = content[..end].ends_with('\n');
    let words = [
        "the frontmatter has no closing line `---`",
        "opened here",
        "write `---` behind the last field",
    ];
    found.add(
        (at, at),
        if is_line { "---\n" } else { "\n---\n" },
        words,
        true,
    );
    found.list[0].span = Span::new(offset, offset + mark.len());
    Some((found, Span::new(offset + first.len(), at)))
}

/// Returns the offset of the first line that a rule accepts, without the white space behind it.
fn line_of(text: &str, accepts: impl Fn(&str) -> bool) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if accepts(line.trim_end()) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::repair;
    use crate::Repaired;
    use agent_text::Span;

    fn repaired(text: &str) -> Option<String> {
        let (repairs, _) = repair(text, Span::new(0, text.len()))?;
        let edits = repairs.list.iter().map(|it| (it.edit, &*it.replacement));
        Some(Repaired::new(text, edits).text)
    }

    #[test]
    fn a_mark_is_written_where_it_belongs() {
        let whole = "---\nname: a\nrequires:\n  mcp: []\n---\n\n# A\n";
        for broken in [
            "name: a\nrequires:\n  mcp: []\n---\n\n# A\n",
            "----\nname: a\nrequires:\n  mcp: []\n---\n\n# A\n",
            "\u{2014}\nname: a\nrequires:\n  mcp: []\n---\n\n# A\n",
            "---\nname: a\nrequires:\n  mcp: []\n\n# A\n",
        ] {
            assert_eq!(repaired(broken).as_deref(), Some(whole), "{broken}");
        }
        let closed = "---\nname: a\nrequires: {}\n---\n";
        for broken in ["---\nname: a\nrequires: {}\n", "---\nname: a\nrequires: {}"] {
            assert_eq!(repaired(broken).as_deref(), Some(closed), "{broken}");
        }
    }

    #[test]
    fn prose_is_no_frontmatter() {
        for text in [
            "# A\n\nIt says:\n\n---\n\nMore.\n",
            "Note: this\n---\nMore.\n",
            "---\nname: a\nIt goes on in words\n\n# A\n",
            "---\n",
            "",
        ] {
            assert_eq!(repaired(text), None, "{text}");
        }
    }
}
