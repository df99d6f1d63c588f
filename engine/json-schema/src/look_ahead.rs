//! Look-ahead at the beginning of a pattern that begins with `^`, as in `^(?!\\.)(?=.*\\d)[a-z\\d.]+$`.
//!
//! Each of its parts is matched at the beginning of the text, by itself, so it stays linear in time.

/// A pattern without its look-ahead.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split<'p> {
    /// What is at the beginning of the text, and whether it must be.
    pub(super) ahead: Vec<(&'p str, bool)>,
    /// The pattern behind the look-ahead, without `^`.
    pub(super) rest: &'p str,
}

/// Returns the parts of a pattern that begins with `^` and look-ahead, unless it has alternatives: `^` is
/// part of the first one only.
pub(super) fn split(pattern: &str) -> Option<Split<'_>> {
    let mut rest = pattern.strip_prefix('^')?;
    let mut ahead = Vec::new();
    while let Some((inside, is_wanted)) = [("(?=", true), ("(?!", false)]
        .into_iter()
        .find_map(|(opening, is_wanted)| Some((rest.strip_prefix(opening)?, is_wanted)))
    {
        let end = find_outside(inside, ')')?;
        ahead.push((&inside[..end], is_wanted));
        rest = &inside[end + 1..];
    }
    let is_repeated = rest.starts_with(['*', '+', '?', '{']);
    let is_one = find_outside(rest, '|').is_none();
    (!ahead.is_empty() && !is_repeated && is_one).then_some(Split { ahead, rest })
}

/// Returns the place of a character outside of groups and classes, and not escaped. A closing parenthesis
/// is the one of the group around the text.
fn find_outside(text: &str, wanted: char) -> Option<usize> {
    let (mut depth, mut in_class, mut is_escaped) = (0_u32, false, false);
    for (at, c) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match c {
            '\\' => is_escaped = true,
            ']' => in_class = false,
            _ if in_class => {}
            '[' => in_class = true,
            _ if c == wanted && depth == 0 => return Some(at),
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Split, split};

    #[test]
    fn look_ahead_at_the_beginning_is_split_off() {
        let whole = r"^(?!\.)(?!.*\.\.)(?=[)(]|\)(a)).+$";
        let expected = Split {
            ahead: vec![(r"\.", false), (r".*\.\.", false), (r"[)(]|\)(a)", true)],
            rest: ".+$",
        };
        assert_eq!(split(whole), Some(expected));
        for other in [
            "",
            "^a",
            "(?!a)b",
            "^(?!a)b|c",
            "^(?!a)?b",
            "^(?!a",
            "^(?:(?!a)b)",
            "^(?<!a)b",
        ] {
            assert_eq!(split(other), None, "{other}");
        }
        assert!(split("^(?!a)(b|c)[|]").is_some());
    }
}
