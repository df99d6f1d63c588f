//! The digest of a server's whole entry.

use agent_model::ServerView;
use agent_syntax::canonical;
use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::{Digest, Sha256};

/// `sha256-` and base64 of the SHA-256 of the RFC 8785 form of an entry, unknown keys included.
pub fn integrity(server: ServerView<'_>) -> String {
    // The entry was read when the index was loaded, so that it is JSON.
    sha256(&canonical(server.entry()).unwrap_or_default())
}

/// `sha256-` and base64 of the SHA-256 of a text.
pub(super) fn sha256(text: &str) -> String {
    let mut digest = String::with_capacity(51);
    digest.push_str("sha256-");
    BASE64_STANDARD.encode_string(Sha256::digest(text), &mut digest);
    digest
}
