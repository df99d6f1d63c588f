//! Values of headers that repeat a value of the body, since 2026-07-28.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The markers around an encoded value.
const START: &str = "=?base64?";
const END: &str = "?=";

/// Returns a text as the value of a header. Encodes it in base64 if an intermediary could change it
/// (Streamable HTTP, "Value Encoding").
pub(crate) fn header_value(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let padded = text.starts_with(' ') || text.ends_with(' ');
    let looks_encoded = text.starts_with(START) && text.ends_with(END);
    // Some intermediaries drop empty headers.
    if plain && !padded && !looks_encoded && !text.is_empty() {
        return text.to_owned();
    }
    format!("{START}{}{END}", STANDARD.encode(text))
}

/// Returns the text that a header's value repeats, decoded if it is encoded. Returns `None` for a value that
/// no text has (Streamable HTTP, "Value Encoding").
#[must_use]
pub fn decoded(value: &str) -> Option<String> {
    let inner = value
        .strip_prefix(START)
        .and_then(|it| it.strip_suffix(END));
    match inner {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{decoded, header_value};

    #[test]
    fn values_are_decoded() {
        for text in ["a", "süd", " padded ", "=?base64?literal?=", ""] {
            assert_eq!(decoded(&header_value(text)).as_deref(), Some(text));
        }
        // A client may encode more than it has to.
        assert_eq!(decoded("=?base64?YQ==?=").as_deref(), Some("a"));
        for malformed in ["=?base64?Y?=", "=?base64?/w==?=", "=?base64?a b?="] {
            assert_eq!(decoded(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn values_are_those_of_the_specification() {
        for (text, value) in [
            ("us-west1", "us-west1"),
            ("two words", "two words"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("a\u{200b}", "=?base64?YeKAiw==?="),
            ("a\tb", "=?base64?YQli?="),
        ] {
            assert_eq!(header_value(text), value, "{text:?}");
        }
    }
}
