//! `agents.lock`.

use super::capability::{Capability, Load};
use super::manifest::Agent;
use super::name::{Category, Endpoint, ForbidLabel, Scope, ServerId, ServerVersion, ToolName};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The grant of a selection. Categories sort before capabilities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// A whole server, for a category \[0\]: every tool that is not forbidden.
    Category {
        /// The required category.
        category: Category,
        /// The time at which the definitions of its tools are shown.
        load: Load,
    },
    /// One tool of a server, for a capability \[4\].
    Capability {
        /// The required capability.
        capability: Capability,
        /// `sha256-` and base64 of the SHA-256 of the RFC 8785 form of the tool's definition.
        definition: String,
        /// The time at which the definition is shown.
        load: Load,
        /// The tool.
        tool: ToolName,
    },
}

/// A server selected for a requirement \[0, 3.1\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The category or the capability, with the tool.
    pub grant: Grant,
    /// The required permissions: sorted, without duplicates; empty for a capability.
    pub scopes: Vec<Scope>,
    /// The server's id.
    pub id: ServerId,
    /// The server's version.
    pub version: ServerVersion,
    /// The server's endpoint.
    pub endpoint: Endpoint,
    /// The [`selection_hash`] of the above, or the hash that a lock contains.
    pub hash: String,
    /// `sha256-` and base64 of the SHA-256 of the RFC 8785 form of the whole entry.
    pub integrity: String,
}

impl Selection {
    /// Returns the sort key in a lock: category, scopes, id, version, load; then those for
    /// capabilities, by capability, id, version, tool, load.
    pub fn order(&self) -> impl Ord + '_ {
        let (capability, category, tool, load) = match &self.grant {
            Grant::Category { category, load } => (None, Some(category), None, load),
            Grant::Capability {
                capability,
                load,
                tool,
                ..
            } => (Some(capability), None, Some(tool), load),
        };
        (
            capability,
            category,
            &self.scopes,
            (&self.id, &self.version, tool, load),
        )
    }
}

/// The content of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// The agent.
    pub agent: Agent,
    /// The forbidden labels: sorted, without duplicates.
    pub forbid: Vec<ForbidLabel>,
    /// The digest of the policy that decided on capabilities, if one was given.
    pub policy: Option<String>,
    /// In [`Selection::order`].
    pub selections: Vec<Selection>,
}

impl Lock {
    /// The format that this engine writes, and the latest that it reads.
    pub const VERSION: u32 = 1;

    /// Returns whether a tool is locked for a capability, which a policy decides on.
    pub fn has_capabilities(&self) -> bool {
        let mut grants = self.selections.iter().map(|it| &it.grant);
        grants.any(|grant| matches!(grant, Grant::Capability { .. }))
    }
}

/// Returns the specification's hash of a selection: SHA-256 of
/// `id@version|endpoint|scope,scope,…` in lower-case hexadecimal digits \[0, 3.1\].
///
/// `scopes` must be sorted. The rules for names keep the formula unambiguous.
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
