//! `agents.md`.

use super::capability::{CapabilityRequirement, Load, Serve};
use super::level::{Residency, Sensitivity};
use super::name::{AgentName, AgentVersion, Category, ForbidLabel, Scope, ToolName};
use agent_text::{Span, Spanned, Text};

/// The identity of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// `name`
    pub name: AgentName,
    /// `version`, as written.
    pub version: AgentVersion,
}

/// One entry of `requires.mcp` \[0, 1.1\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The required category.
    pub category: Spanned<Category>,
    /// The required permissions: sorted, without duplicates.
    pub permissions: Vec<Spanned<Scope>>,
    /// The time at which the definitions of the server's tools are shown.
    pub load: Load,
    /// The tools that it locks: sorted, without duplicates. Empty: every tool of the server.
    pub only: Vec<Spanned<ToolName>>,
    /// What a gateway passes on in addition to tools: sorted, without duplicates. Empty: nothing.
    pub serve: Vec<Serve>,
    /// The whole entry.
    pub span: Span,
}

/// `constraints` \[0, 1.1\].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Constraints {
    /// `actions.forbid`: sorted, without duplicates.
    pub forbid: Vec<Spanned<ForbidLabel>>,
    /// `trust.requireSigned`
    pub require_signed: Option<Spanned<bool>>,
    /// `data.residency`
    pub residency: Option<Spanned<Residency>>,
    /// `data.sensitivity`
    pub sensitivity: Option<Spanned<Sensitivity>>,
}

impl Constraints {
    /// Returns the required residency, if there is one.
    pub fn residency(&self) -> Option<Residency> {
        self.residency.map(|residency| residency.value)
    }

    /// Returns the sensitivity of the data, if it is set.
    pub fn sensitivity(&self) -> Option<Sensitivity> {
        self.sensitivity.map(|sensitivity| sensitivity.value)
    }

    /// Returns whether unsigned servers are rejected.
    pub fn require_signed(&self) -> bool {
        self.require_signed.is_some_and(|required| required.value)
    }
}

/// A valid manifest.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The text of the manifest.
    pub text: Text,
    /// `name` and `version`.
    pub agent: Agent,
    /// `requires.mcp`, in file order.
    pub requirements: Vec<Requirement>,
    /// `requires.capabilities`, in file order; not empty if `requirements` is.
    pub capabilities: Vec<CapabilityRequirement>,
    /// `constraints`; all absent by default.
    pub constraints: Constraints,
}
