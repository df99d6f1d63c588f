//! SHA-256 as lower-case hexadecimal digits.

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of `bytes`, 64 lower-case hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::sha256;

    #[test]
    fn of_nothing_is_the_published_value() {
        assert_eq!(
            sha256(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
