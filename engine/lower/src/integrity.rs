//! Digests of texts in the form of an integrity.

use agent_model::ServerView;
use agent_syntax::canonical;
use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::{Digest, Sha256};

/// Returns `sha256-` and the base64 of the SHA-256 of an entry's RFC 8785 form, with unknown keys.
pub fn integrity(server: ServerView<'_>) -> &str {
    // The index was parsed when it was loaded, so each entry is JSON.
    server.kept_integrity(|it| digest(&canonical(it.entry()).unwrap_or_default()))
}

/// Returns `sha256-` and the base64 of a text's SHA-256.
pub fn digest(text: &str) -> String {
    bytes_digest(text.as_bytes())
}

/// Returns `sha256-` and the base64 of the SHA-256 of bytes.
pub fn bytes_digest(bytes: &[u8]) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(bytes)))
}
