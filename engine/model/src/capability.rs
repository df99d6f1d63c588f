//! Capabilities: a verb, a resource and constraints \[4, 2\].

use super::level::keywords;
use super::name::{Resource, Tag};
use agent_text::{Span, Spanned};
use std::fmt;

keywords! {
    /// The verb of a capability \[4, 2.1\], ordered by name.
    CapabilityVerb {
        /// Run a computation or a script.
        Execute "execute"
        /// Send a signal to a human or a system.
        Notify "notify"
        /// Retrieve content.
        Read "read"
        /// Delegate a cognitive task.
        Reason "reason"
        /// Query an index for information.
        Search "search"
        /// Modify or create a resource.
        Write "write"
    }
}

keywords! {
    /// The time at which the agent sees the definition of a tool \[4, 6.1\].
    Load {
        /// From the start.
        Essential "essential"
        /// On request; until then a stub represents it.
        OnDemand "on_demand"
    }
}

keywords! {
    /// The number of tools that a requirement selects \[4, 5\].
    Tools {
        /// Every eligible tool of the server of the first.
        All "all"
        /// The first in rank.
        One "one"
    }
}

keywords! {
    /// How patterns of a tool's schemas are treated that can't be used \[4\].
    Patterns {
        /// They check nothing.
        Ignore "ignore"
    }
}

keywords! {
    /// What a gateway passes on from a server in addition to its tools \[4\], ordered by name.
    Serve {
        /// The prompts of the server.
        Prompts "prompts"
        /// The resources of the server.
        Resources "resources"
    }
}

keywords! {
    /// The status of a server in a health snapshot \[4, 7.3\], ordered by name.
    HealthStatus {
        /// It works.
        Healthy "HEALTHY"
        /// It works again, under observation.
        Probation "PROBATION"
        /// It receives no calls.
        Quarantine "QUARANTINE"
        /// It does not accept calls yet.
        Starting "STARTING"
        /// It does not work.
        Unhealthy "UNHEALTHY"
    }
}

impl HealthStatus {
    /// Returns whether a server of this status may be selected.
    pub fn passes(self) -> bool {
        matches!(self, Self::Healthy | Self::Probation)
    }
}

/// The constraint of a tool whose calls need the approval of a human \[4, 2.3\].
pub const HUMAN_IN_THE_LOOP: &str = "human_in_the_loop";

/// A required or granted capability. The order is that of locks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capability {
    /// The verb.
    pub verb: CapabilityVerb,
    /// The resource.
    pub resource: Resource,
    /// The constraints: sorted, without duplicates.
    pub constraints: Vec<Tag>,
}

impl Capability {
    /// Returns `verb:resource`, which names and forbids a capability.
    pub fn pair(&self) -> String {
        format!("{}:{}", self.verb.as_str(), self.resource)
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.verb.as_str(), self.resource)?;
        for (i, tag) in self.constraints.iter().enumerate() {
            f.write_str(if i == 0 { " + " } else { ", " })?;
            write!(f, "{tag}")?;
        }
        Ok(())
    }
}

/// One entry of `requires.capabilities` or of `required_capabilities` \[4, 4\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityRequirement {
    /// The required capability.
    pub capability: Capability,
    /// The time at which its definition is shown.
    pub load: Load,
    /// How many tools it selects.
    pub tools: Tools,
    /// The place of `fallback: true`, which also locks the next-ranked tool of another server.
    /// Never with [`Tools::All`].
    pub fallback: Option<Span>,
    /// The place of the verb.
    pub verb_span: Span,
    /// The place of the resource.
    pub resource_span: Span,
    /// The constraints with their places, in the order of the capability's.
    pub constraints: Vec<Spanned<Tag>>,
    /// The whole entry.
    pub span: Span,
}

#[cfg(test)]
mod tests {
    use super::{CapabilityVerb, HealthStatus, Load, Serve, Tools};
    use crate::level::Keyword;

    #[test]
    fn names_are_in_the_order_of_the_values() {
        assert!(CapabilityVerb::names().is_sorted() && Load::names().is_sorted());
        assert!(HealthStatus::names().is_sorted() && Tools::names().is_sorted());
        assert!(Serve::names().is_sorted());
    }
}
