//! `agents.lock`.

use super::{Agent, Category, Endpoint, ForbidLabel, Scope, ServerId, ServerVersion};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// A server that was picked for a requirement \[0, 3.1\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The category that was required.
    pub category: Category,
    /// The permissions that were required: sorted, without duplicates.
    pub scopes: Vec<Scope>,
    /// The server's id.
    pub id: ServerId,
    /// The server's version.
    pub version: ServerVersion,
    /// Where it is reached.
    pub endpoint: Endpoint,
    /// [`selection_hash`] of the above, or what a lock that was read has in its place.
    pub hash: String,
    /// `sha256-` and base64 of the SHA-256 of the RFC 8785 form of the whole entry.
    pub integrity: String,
}

impl Selection {
    /// The order of selections in a lock: by category, then scopes, then id.
    pub fn order(&self) -> impl Ord + '_ {
        (&self.category, &self.scopes, &self.id, &self.version)
    }
}

/// A lock: what an agent may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// The agent that it is for.
    pub agent: Agent,
    /// What it must not do: sorted, without duplicates.
    pub forbid: Vec<ForbidLabel>,
    /// In [`Selection::order`].
    pub selections: Vec<Selection>,
}

impl Lock {
    /// The format that this engine writes, and the latest that it reads.
    pub const VERSION: u32 = 1;
}

/// The specification's hash of a selection: SHA-256 of
/// `id@version|endpoint|scope,scope,…` in lower-case hexadecimal digits \[0, 3.1\].
///
/// `scopes` must be sorted. What the parts must not hold makes the formula unambiguous.
pub fn selection_hash<'s>(
    id: &str,
    version: &str,
    endpoint: &str,
    scopes: impl IntoIterator<Item = &'s str>,
) -> String {
    let mut hash = Sha256::new();
    for part in [id, "@", version, "|", endpoint, "|"] {
        hash.update(part);
    }
    for (i, scope) in scopes.into_iter().enumerate() {
        if i > 0 {
            hash.update(",");
        }
        hash.update(scope);
    }
    hash.finalize()
        .iter()
        .fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a string can't fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}
