//! Digests of trees, computed without the engine.

use crate::text::Tree;
use sha2::{Digest, Sha256};

/// Returns the SHA-256 of a text in lower-case hexadecimal digits.
#[must_use]
pub fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns `sha256-` and the base64 of the SHA-256 of a text.
#[must_use]
pub fn digest(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text)))
}

/// Returns `sha256-` and the base64 of the SHA-256 of the canonical form.
#[must_use]
pub fn integrity(tree: &Tree) -> String {
    format!("sha256-{}", base64(&Sha256::digest(canonical(tree))))
}

/// Returns the canonical form of RFC 8785.
fn canonical(tree: &Tree) -> String {
    match tree {
        Tree::Bool(value) => value.to_string(),
        Tree::Number(_, canonical) => (*canonical).to_owned(),
        Tree::Integer(number) => number.to_string(),
        Tree::Text(text) => serde_json::to_string(text).unwrap_or_default(),
        Tree::List(items) => format!(
            "[{}]",
            items.iter().map(canonical).collect::<Vec<_>>().join(",")
        ),
        Tree::Map(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| key.encode_utf16().collect::<Vec<_>>());
            let member = |(key, value): &(String, Tree)| {
                format!(
                    "{}:{}",
                    serde_json::to_string(key).unwrap_or_default(),
                    canonical(value)
                )
            };
            format!(
                "{{{}}}",
                members
                    .into_iter()
                    .map(member)
                    .collect::<Vec<_>>()
                    .join(",")
            )
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, i| {
            bits << 8 | u32::from(group.get(i).copied().unwrap_or(0))
        });
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i > group.len() {
                '='
            } else {
                char::from(digit)
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{base64, canonical};
    use crate::text::Tree;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn keys_are_sorted_by_utf16_code_units() {
        let members = ["\u{ffff}", "\u{10000}", "b", "\n"].map(|key| (key, Tree::Bool(true)));
        assert_eq!(
            canonical(&Tree::map(members)),
            "{\"\\n\":true,\"b\":true,\"\u{10000}\":true,\"\u{ffff}\":true}"
        );
    }
}
