//! Secrets in the texts of peers.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::HashSet;
use std::fmt::Write as _;

/// Minimum number of bytes of a secret, and of a part of it that is masked. A peer may quote a secret
/// in part, and shorter parts occur by chance.
pub(crate) const PART_BYTES: usize = 8;
/// The replacement of a secret.
const MASK: &str = "[redacted]";

type Part = [u8; PART_BYTES];

/// The secrets that no message may contain.
#[derive(Clone, Default)]
pub(crate) struct Redaction {
    /// All parts of all forms of the secrets, in lower case.
    parts: HashSet<Part>,
}

impl Redaction {
    /// Returns the redaction of secrets: as they are, escaped as in JSON, percent-encoded, in hexadecimal, and in base64
    /// wherever they start in the encoded text.
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut redaction = Self::default();
        for secret in secrets {
            if secret.len() < PART_BYTES {
                continue;
            }
            redaction.add(secret);
            redaction.add(&json_escaped(secret));
            redaction.add(percent_encoded(secret).as_bytes());
            redaction.add(hexadecimal(secret).as_bytes());
            for start in 0..3 {
                redaction.add(STANDARD_NO_PAD.encode(&secret[start..]).as_bytes());
                redaction.add(URL_SAFE_NO_PAD.encode(&secret[start..]).as_bytes());
            }
        }
        redaction
    }

    fn add(&mut self, form: &[u8]) {
        let form = form.to_ascii_lowercase();
        self.parts
            .extend(form.array_windows::<PART_BYTES>().copied());
    }

    /// Returns a text with each part of a secret masked.
    pub(crate) fn mask(&self, text: &str) -> String {
        let lower = text.to_ascii_lowercase();
        let mut secret = vec![false; text.len()];
        for (start, part) in lower.as_bytes().array_windows::<PART_BYTES>().enumerate() {
            if self.parts.contains(part) {
                secret[start..start + PART_BYTES].fill(true);
            }
        }
        let mut masked = String::with_capacity(text.len());
        let mut within = false;
        for (start, c) in text.char_indices() {
            let before = within;
            within = secret[start..start + c.len_utf8()].contains(&true);
            match (before, within) {
                (_, false) => masked.push(c),
                (false, true) => masked.push_str(MASK),
                (true, true) => {}
            }
        }
        masked
    }
}

fn json_escaped(bytes: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::new();
    for b in bytes {
        if matches!(b, b'"' | b'\\') {
            escaped.push(b'\\');
        }
        escaped.push(*b);
    }
    escaped
}

fn percent_encoded(bytes: &[u8]) -> String {
    let mut encoded = String::new();
    for b in bytes {
        if b.is_ascii_alphanumeric() || b"-._~".contains(b) {
            encoded.push(char::from(*b));
        } else {
            let _ = write!(encoded, "%{b:02X}");
        }
    }
    encoded
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut encoded, b| {
        let _ = write!(encoded, "{b:02x}");
        encoded
    })
}

#[cfg(test)]
mod tests {
    use super::{MASK, Redaction, hexadecimal, percent_encoded};
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    const KEY: &[u8] = b"sk-Canary/1+2?3\"=\\=secret";

    fn mask(text: &str) -> String {
        Redaction::new([KEY]).mask(text)
    }

    #[test]
    fn every_form_of_a_secret_is_masked() {
        let key = std::str::from_utf8(KEY).unwrap();
        let mut forms = vec![
            key.to_owned(),
            key.to_uppercase(),
            key.replace('\\', r"\\").replace('"', r#"\""#),
            percent_encoded(KEY),
            percent_encoded(KEY).to_lowercase(),
            hexadecimal(KEY),
            hexadecimal(KEY).to_uppercase(),
        ];
        for form in &forms {
            assert_eq!(mask(&format!("a {form} b")), format!("a {MASK} b"));
        }
        for before in ["", "a", "ab", "user:", "Bearer "] {
            let text = format!("{before}{key}");
            forms.push(STANDARD.encode(&text));
            forms.push(URL_SAFE.encode(&text));
        }
        for form in forms {
            let masked = mask(&form);
            assert!(masked.contains(MASK), "{form} → {masked}");
            let left = masked.replace(MASK, "").len();
            // Characters of base64 that also encode what is around the secret.
            assert!(left <= 14, "{form} → {masked}");
        }
    }

    #[test]
    fn parts_of_a_secret_are_masked() {
        assert_eq!(mask("key: sk-Canary…"), format!("key: {MASK}…"));
        assert_eq!(mask("key: sk-Can…"), "key: sk-Can…");
        assert_eq!(
            mask("\\=secret, and \\=secret"),
            format!("{MASK}, and {MASK}")
        );
    }

    #[test]
    fn other_text_stays() {
        let text = "größer als sk-, canary";
        assert_eq!(mask(text), text);
        assert_eq!(Redaction::default().mask(text), text);
        assert_eq!(Redaction::new([&b"short"[..]]).mask("short"), "short");
        let secret = "schlüsselbund".as_bytes();
        assert_eq!(
            Redaction::new([secret]).mask("ü schlüsselbund ü"),
            format!("ü {MASK} ü")
        );
    }
}
