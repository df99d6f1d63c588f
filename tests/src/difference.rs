//! The difference between two texts, for printing.

use std::fmt::Write as _;

/// The number of equal lines shown before and after the difference.
const CONTEXT: usize = 3;

/// The number of shown lines of a difference.
const SHOWN: usize = 40;

/// Returns `None` for equal texts, otherwise the lines between their common beginning and their
/// common end: `-` marks expected lines, `+` marks present ones.
#[must_use]
pub fn difference(expected: &str, found: &str) -> Option<String> {
    if expected == found {
        return None;
    }
    let (old, new) = (lines(expected), lines(found));
    let before = common(old.iter(), new.iter());
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let behind = common(old_rest.iter().rev(), new_rest.iter().rev());
    let mut out = format!("line {}:\n", before + 1);
    let mut show = |mark: char, lines: &[&str]| {
        for line in lines.iter().take(SHOWN) {
            // White space and line ends count, so they must be visible.
            let line = line.replace('\r', "\\r").replace('\n', "\\n");
            let _ = writeln!(out, "  {mark} {line}");
        }
        if lines.len() > SHOWN {
            let _ = writeln!(out, "  {mark} … {} more lines", lines.len() - SHOWN);
        }
    };
    show(' ', &old[before.saturating_sub(CONTEXT)..before]);
    show('-', &old_rest[..old_rest.len() - behind]);
    show('+', &new_rest[..new_rest.len() - behind]);
    show(' ', &old[old.len() - behind..][..behind.min(CONTEXT)]);
    Some(out)
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn common<'l>(a: impl Iterator<Item = &'l &'l str>, b: impl Iterator<Item = &'l &'l str>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn equal_texts_do_not_differ() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
    }

    #[test]
    fn a_changed_line_is_shown_between_its_neighbours() {
        assert_eq!(
            difference("a\nb\nc\n", "a\nx\nc\n").as_deref(),
            Some("line 2:\n    a\\n\n  - b\\n\n  + x\\n\n    c\\n\n")
        );
    }

    #[test]
    fn a_missing_final_newline_is_seen() {
        assert_eq!(
            difference("a\n", "a").as_deref(),
            Some("line 1:\n  - a\\n\n  + a\n")
        );
    }
}
