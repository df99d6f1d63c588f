//! `agents.lock`.

use super::capability::{Capability, Load, Serve};
use super::manifest::Agent;
use super::name::{
    Category, Endpoint, ForbidLabel, Name, Scope, ServerId, ServerVersion, ToolName,
};
use agent_text::hexadecimal;
use sha2::{Digest, Sha256};
use std::cmp::Ordering;

/// The grant of a selection. Categories sort before capabilities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// A server, for a category \[0\]: every tool that is not forbidden, or those that are named.
    Category {
        /// The required category.
        category: Category,
        /// The time at which the definitions of its tools are shown.
        load: Load,
        /// The locked tools: sorted, without duplicates. Empty: every tool of the server.
        only: Vec<ToolName>,
        /// What a gateway passes on in addition to tools: sorted, without duplicates. Empty:
        /// nothing.
        serve: Vec<Serve>,
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
        /// Whether it stands in for the selection before it, while health vetoes that one's server.
        fallback: bool,
    },
}

impl Grant {
    /// Returns whether a tool of the selected server is locked, whatever labels forbid.
    pub fn covers(&self, name: &str) -> bool {
        match self {
            Self::Category { only, .. } => {
                only.is_empty() || only.iter().any(|tool| tool.as_str() == name)
            }
            Self::Capability { tool, .. } => tool.as_str() == name,
        }
    }
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
    /// The tools of the grant whose unusable patterns are ignored: sorted, without duplicates.
    pub patterns: Vec<ToolName>,
}

impl Selection {
    /// Returns the sort key in a lock: category, scopes, id, version, load, only, serve; then those
    /// for capabilities, by capability, id, version, tool, load. A fallback has the place of its
    /// first instead; see [`with_fallbacks`].
    pub fn order(&self) -> impl Ord + '_ {
        let (capability, category, tool, load, only, serve) = match &self.grant {
            Grant::Category {
                category,
                load,
                only,
                serve,
            } => (None, Some(category), None, load, &**only, &**serve),
            Grant::Capability {
                capability,
                load,
                tool,
                ..
            } => (Some(capability), None, Some(tool), load, &[][..], &[][..]),
        };
        (
            capability,
            category,
            &self.scopes,
            (&self.id, &self.version, tool, load, only, serve),
        )
    }

    /// Returns whether another selection may be its fallback: a tool of another server, for the same
    /// capability, that is shown at the same time.
    pub fn may_fall_back_on(&self, other: &Self) -> bool {
        match (&self.grant, &other.grant) {
            (
                Grant::Capability {
                    capability,
                    load,
                    fallback: false,
                    ..
                },
                Grant::Capability {
                    capability: of_other,
                    load: load_of_other,
                    fallback: true,
                    ..
                },
            ) => self.id != other.id && (capability, load) == (of_other, load_of_other),
            _ => false,
        }
    }

    /// Returns whether it is the fallback of the selection before it.
    pub fn is_fallback(&self) -> bool {
        matches!(self.grant, Grant::Capability { fallback: true, .. })
    }
}

/// Returns each selection of a lock, with its fallback directly behind it if it has one.
pub fn with_fallbacks(selections: &[Selection]) -> impl Iterator<Item = &[Selection]> {
    selections.chunk_by(|_, next| next.is_fallback())
}

/// Returns the order of two selections in a lock, each with its fallback behind it.
pub fn lock_order(a: &[Selection], b: &[Selection]) -> Ordering {
    let [a, b] = [a, b].map(|own| own.iter().map(Selection::order));
    a.cmp(b)
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
    /// In [`lock_order`].
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
    hexadecimal(&hash.finalize())
}
