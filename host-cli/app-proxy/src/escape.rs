//! Texts in HTML and JSON. Characters that can't be seen are replaced by their code points.

use std::fmt::Write as _;

/// Returns a text for HTML, also for the value of an attribute in quotes.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            hidden if is_hidden(hidden) => {
                // Writing into a string can't fail.
                let _ = write!(out, "U+{:04X}", u32::from(hidden));
            }
            other => out.push(other),
        }
    }
    out
}

/// Returns a text as a string of JSON, with its quotes.
pub(crate) fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Returns whether a character shows nothing, or turns the text around it.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::{html, json};

    #[test]
    fn a_text_is_no_markup() {
        assert_eq!(
            html("<a href='x'>&\"\u{202e}\n"),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;U+202EU+000A"
        );
        assert_eq!(json("a\"\\\n<"), "\"a\\\"\\\\\\u000a<\"");
    }
}
