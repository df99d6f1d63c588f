//! Replacement of characters that a terminal would act on, or that people do not see.

use agent_text::visible_text;
use std::borrow::Cow;

/// Replaces every hidden character by its code point, such as `<U+202E>`.
///
/// The shown files may come from others. An escape sequence in them could otherwise rewrite the
/// screen, or make the terminal type something. A character that reorders text or shows nothing is
/// replaced too: the screen must show the text as it is.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    visible_text(text)
}

#[cfg(test)]
mod tests {
    use super::visible;
    use std::borrow::Cow;

    #[test]
    fn plain_text_is_not_touched() {
        for text in ["añ\t日本\n", "\u{1f9d1}\u{200d}\u{1f680}"] {
            assert!(matches!(visible(text), Cow::Borrowed(it) if it == text));
        }
    }

    #[test]
    fn escape_sequences_lose_their_power() {
        assert_eq!(
            visible("\x1b[2Jx\x07\r\x7f\u{9b}1m"),
            "<U+001B>[2Jx<U+0007><U+000D><U+007F><U+009B>1m"
        );
    }

    #[test]
    fn text_can_not_be_reordered_or_hidden() {
        assert_eq!(visible("a\u{202e}b\u{2066}c"), "a<U+202E>b<U+2066>c");
        assert_eq!(
            visible("a\u{fe01}\u{e0041}\u{ad}"),
            "a<U+FE01><U+E0041><U+00AD>"
        );
    }
}
