//! `agents.md`.

use super::{
    AgentName, AgentVersion, CapabilityRequirement, Category, ForbidLabel, Residency, Scope,
    Sensitivity,
};
use agent_text::{Span, Spanned, Text};

/// Who the agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// `name`
    pub name: AgentName,
    /// `version`, by its source text.
    pub version: AgentVersion,
}

/// One entry of `requires.mcp` \[0, 1.1\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The category that a server must offer.
    pub category: Spanned<Category>,
    /// The permissions that a server must support: sorted, without duplicates.
    pub permissions: Vec<Spanned<Scope>>,
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
    /// The residency that data needs, if it needs one.
    pub fn residency(&self) -> Option<Residency> {
        self.residency.map(|residency| residency.value)
    }

    /// The sensitivity that data has, if it is said.
    pub fn sensitivity(&self) -> Option<Sensitivity> {
        self.sensitivity.map(|sensitivity| sensitivity.value)
    }

    /// Whether unsigned servers are rejected.
    pub fn require_signed(&self) -> bool {
        self.require_signed.is_some_and(|required| required.value)
    }
}

/// A manifest without errors.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The text it was read from.
    pub text: Text,
    /// `name` and `version`.
    pub agent: Agent,
    /// `requires.mcp`, in file order.
    pub requirements: Vec<Requirement>,
    /// `requires.capabilities`, in file order; not empty where there is no other requirement.
    pub capabilities: Vec<CapabilityRequirement>,
    /// `constraints`; all absent where there are none.
    pub constraints: Constraints,
}
