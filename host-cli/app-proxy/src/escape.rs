//! Texts in HTML and JSON. Characters that can't be seen are replaced by their code points.

use agent_text::visible_text;
use std::fmt::Write as _;

/// Returns a text for HTML, also for the value of an attribute in quotes.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible_text(text).chars() {
        match character {
            '\n' | '\t' => out.push(' '),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
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

#[cfg(test)]
mod tests {
    use super::{html, json};

    #[test]
    fn a_text_is_no_markup() {
        assert_eq!(
            html("<a href='x'>&\"\u{202e}\n"),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;U+202E&gt; "
        );
        assert_eq!(json("a\"\\\n<"), "\"a\\\"\\\\\\u000a<\"");
    }
}
