//! Replacement of control characters, which a terminal would act on.

use std::borrow::Cow;

/// Replaces every control character except for line feed and tab.
///
/// The shown files may come from others. An escape sequence in them could otherwise rewrite the
/// screen, or make the terminal type something. Characters that reorder text are replaced too: the
/// screen must show the text in its order.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(|char| visible_char(char) == char) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().map(visible_char).collect())
    }
}

/// Returns the character, or the one that is shown in its place.
pub(crate) fn visible_char(char: char) -> char {
    match char {
        '\n' | '\t' => char,
        // U+2400 and following are pictures of the control characters.
        '\0'..='\x1f' => picture(0x2400 + u32::from(char)),
        '\x7f' => picture(0x2421),
        '\u{80}'..='\u{9f}' => char::REPLACEMENT_CHARACTER,
        '\u{2028}' | '\u{2029}' => char::REPLACEMENT_CHARACTER,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ => char,
    }
}

fn picture(code_point: u32) -> char {
    char::from_u32(code_point).expect("control pictures are characters")
}

#[cfg(test)]
mod tests {
    use super::visible;
    use std::borrow::Cow;

    #[test]
    fn plain_text_is_not_touched() {
        assert!(matches!(visible("añ\t日本\n"), Cow::Borrowed("añ\t日本\n")));
    }

    #[test]
    fn escape_sequences_lose_their_power() {
        assert_eq!(visible("\x1b[2Jx\x07\r\x7f\u{9b}1m"), "␛[2Jx␇␍␡\u{fffd}1m");
    }

    #[test]
    fn text_can_not_be_reordered() {
        assert_eq!(visible("a\u{202e}b\u{2066}c"), "a\u{fffd}b\u{fffd}c");
    }
}
