//! Repairs of characters that a word processor or a web page put at the beginning of lines.

use super::Repairs;
use agent_text::Span;

/// Characters that stand for the dash of a list.
const DASHES: [char; 8] = [
    '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}', '\u{2022}', '\u{b7}',
];

/// Returns the repairs of the indentation and of the list marks of lines.
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
            let spaces: String = indent
                .chars()
                .map(|c| if c == '\t' { c } else { ' ' })
                .collect();
            let message = format!("a line is indented with U+{:04X}", u32::from(odd));
            let words = [&*message, "not spaces", "indent with spaces"];
            found.add((at, at + indent.len()), &spaces, words, true);
        }
        let start = at + indent.len();
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
        let text = "a:\n\u{a0}\u{a0}- b\n  \u{2013} c\n  \u{2022}d\n# \u{2013} e\n  f \u{2013} g\n";
        let repairs = repair(text, Span::new(0, text.len()));
        let edits = repairs.list.iter().map(|it| (it.edit, &*it.replacement));
        let mended = "a:\n  - b\n  - c\n  - d\n# \u{2013} e\n  f \u{2013} g\n";
        assert_eq!(Repaired::new(text, edits).text, mended);
    }
}
