//! Repairs of characters that a word processor or a web page put at the beginning of lines, or behind a key.

use super::Repairs;
use agent_text::Span;

/// Characters that stand for the dash of a list.
const DASHES: [char; 8] = [
    '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}', '\u{2022}', '\u{b7}',
];

/// Characters that stand for the colon behind a key.
pub(super) const COLONS: [char; 5] = ['\u{ff1a}', '\u{fe55}', '\u{2236}', '\u{2d0}', '\u{a789}'];

/// Returns the repairs of the indentation, the list marks and the keys of lines.
pub fn repair(text: &str, within: Span) -> Repairs {
    let mut found = Repairs {
        complete: true,
        ..Repairs::default()
    };
    let mut at = within.start as usize;
    for line in within.of(text).split_inclusive('\n') {
        let content = line.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
        let indent = &line[..line.len() - content.len()];
        let odd = indent.chars().find(|c| !c.is_ascii());
        if let (Some(odd), false) = (odd, content.is_empty()) {
            // A space of East Asian typesetting is two columns wide.
            let space = |c| match c {
                '\t' => "\t",
                '\u{3000}' => "  ",
                _ => " ",
            };
            let spaces: String = indent.chars().map(space).collect();
            let message = format!("a line is indented with U+{:04X}", u32::from(odd));
            let words = [&*message, "not spaces", "indent with spaces"];
            found.add((at, at + indent.len()), &spaces, words, true);
        }
        let start = at + indent.len();
        let key_start = content.trim_start_matches(['-', ' ']);
        let is_key = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let behind_key = key_start.trim_start_matches(is_key);
        let colon = behind_key.chars().next().filter(|c| COLONS.contains(c));
        if let (Some(colon), true) = (colon, behind_key.len() < key_start.len()) {
            let code = u32::from(colon);
            let message = format!("U+{code:04X} is behind a key, which looks like `:`");
            let words = [&*message, "not a colon", "write `:`"];
            let after = &behind_key[colon.len_utf8()..];
            let new = if after.starts_with(char::is_whitespace) {
                ":"
            } else {
                ": "
            };
            let place = start + content.len() - behind_key.len();
            found.add((place, place + colon.len_utf8()), new, words, true);
        }
        let mut rest = content.chars();
        if let Some(dash) = rest.next().filter(|c| DASHES.contains(c)) {
            let is_apart = rest.next().is_none_or(char::is_whitespace);
            let message = format!("an item of a list begins with U+{:04X}", u32::from(dash));
            let words = [&*message, "not a dash", "write `-`"];
            let new = if is_apart { "-" } else { "- " };
            found.add((start, start + dash.len_utf8()), new, words, true);
        }
        at += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::repair;
    use crate::Repaired;
    use agent_text::Span;

    #[test]
    fn characters_at_the_beginning_of_a_line_are_those_of_a_keyboard() {
        let text = "a:\n\u{3000}- a\n\u{a0}\u{a0}- b\n  \u{2013} c\n  \u{2022}d\n# \u{2013} e\n  f \u{2013} g\n\
                    h\u{ff1a}1\n  - i.j\u{2236} 2\nk: l\u{ff1a}m\n\u{ff1a}n\n";
        let repairs = repair(text, Span::new(0, text.len()));
        let edits = repairs.list.iter().map(|it| (it.edit, &*it.replacement));
        let mended = "a:\n  - a\n  - b\n  - c\n  - d\n# \u{2013} e\n  f \u{2013} g\n\
                      h: 1\n  - i.j: 2\nk: l\u{ff1a}m\n\u{ff1a}n\n";
        assert_eq!(Repaired::new(text, edits).text, mended);
    }
}
