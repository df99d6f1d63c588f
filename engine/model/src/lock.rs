//! `agents.lock`.

use super::{
    Agent, Capability, Category, Endpoint, ForbidLabel, Load, Scope, ServerId, ServerVersion,
    ToolName,
};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// What a selection is locked for. Categories come before capabilities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// A whole server, for a category \[0\].
    Category(Category),
    /// One tool of a server, for a capability \[4\].
    Capability {
        /// The capability that was required.
        capability: Capability,
        /// `sha256-` and base64 of the SHA-256 of the RFC 8785 form of the tool's definition.
        definition: String,
        /// When the definition is shown.
        load: Load,
        /// The tool.
        tool: ToolName,
    },
}

/// A server that was picked for a requirement \[0, 3.1\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// What it is locked for.
    pub grant: Grant,
    /// The permissions that were required: sorted, without duplicates; none for a capability.
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
    /// The order of selections in a lock: by category, then scopes, then id; behind them those
    /// for capabilities, by capability, id, version, tool, load.
    pub fn order(&self) -> impl Ord + '_ {
        let (category, capability) = match &self.grant {
            Grant::Category(category) => (Some(category), None),
            Grant::Capability {
                capability,
                load,
                tool,
                ..
            } => (None, Some((capability, (tool, load)))),
        };
        (
            capability.map(|(capability, _)| capability),
            category,
            &self.scopes,
            &self.id,
            &self.version,
            capability.map(|(_, rest)| rest),
        )
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
