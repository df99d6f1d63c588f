//! Texts of peers in messages.

use agent_text::{code_point, visible};

/// Returns a text of a peer for a message: at most `limit` characters of it, and no character that
/// can't be seen. Such a character is named by its code point, and a cut by `…`.
#[must_use]
pub fn quote(text: &str, limit: usize) -> String {
    let mut kept = String::new();
    let mut characters = text.chars();
    for c in characters.by_ref().take(limit) {
        // A text of one line.
        if c.is_control() {
            kept.push_str(&code_point(c));
        } else {
            kept.push(c);
        }
    }
    if characters.next().is_some() {
        kept.push('…');
    }
    visible(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quotes_are_bounded_and_printable() {
        assert_eq!(quote("plain text", 20), "plain text");
        assert_eq!(quote("123456", 5), "12345…");
        assert_eq!(
            quote("a\u{1b}[31m\r\nb", 20),
            "a<U+001B>[31m<U+000D><U+000A>b"
        );
        assert_eq!(
            quote("a\u{200b}\u{202e}b\u{e000}", 20),
            "a<U+200B><U+202E>b<U+E000>"
        );
        assert_eq!(quote("größer", 20), "größer");
    }
}
