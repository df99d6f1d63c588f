//! Capabilities: a verb, a resource and constraints \[4, 2\].

use super::level::levels;
use super::{Name, NameError, NameRule};
use agent_text::{Span, Spanned};
use std::fmt;

levels! {
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

levels! {
    /// The time at which the agent sees the definition of a tool \[4, 6.1\].
    Load {
        /// From the start.
        Essential "essential"
        /// On request; until then a stub represents it.
        OnDemand "on_demand"
    }
}

levels! {
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

/// A vocabulary: known names and custom ones. A custom name contains a dash, a dot or a colon, which
/// distinguishes it from a misspelt known name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vocabulary {
    /// The noun for such a word.
    pub noun: &'static str,
    /// The known names, sorted.
    pub known: &'static [&'static str],
}

impl Vocabulary {
    /// The resources of the specification \[4, 2.2\].
    pub const RESOURCES: Self = Self {
        noun: "resource",
        known: &[
            "aws",
            "codebase",
            "fs",
            "internet",
            "knowledge_graph",
            "slack",
        ],
    };

    /// The constraints of the specification \[4, 2.3\].
    pub const CONSTRAINTS: Self = Self {
        noun: "capability constraint",
        known: &["human_in_the_loop", "pii_safe", "rate_limited", "readonly"],
    };

    /// Returns whether a word is known or a valid custom name.
    pub fn allows(&self, word: &str) -> bool {
        self.known.contains(&word) || word.contains(['-', '.', ':'])
    }
}

/// The constraint of a tool whose calls need the approval of a human \[4, 2.3\].
pub const HUMAN_IN_THE_LOOP: &str = "human_in_the_loop";

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $vocabulary:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The vocabulary of the word.
            pub const VOCABULARY: Vocabulary = $vocabulary;
        }

        impl Name for $name {
            const RULE: NameRule = NameRule { noun: $vocabulary.noun, reserved: &[] };

            fn new(text: impl Into<String>) -> Result<Self, NameError> {
                let text = text.into();
                Self::RULE.check(&text)?;
                if !Self::VOCABULARY.allows(&text) {
                    return Err(NameError::Unknown);
                }
                Ok(Self(text))
            }

            fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

words! {
    /// The resource of a capability \[4, 2.2\].
    Resource = Vocabulary::RESOURCES;
    /// A tag that limits a capability \[4, 2.3\].
    Tag = Vocabulary::CONSTRAINTS;
}

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
    use super::*;

    #[test]
    fn words_are_known_or_of_ones_own() {
        assert!(Resource::new("internet").is_ok());
        assert!(Resource::new("x-crm").is_ok() && Tag::new("org:audited").is_ok());
        assert_eq!(Resource::new("intranet"), Err(NameError::Unknown));
        assert_eq!(Tag::new("internet"), Err(NameError::Unknown));
        assert_eq!(Tag::new(""), Err(NameError::Empty));
    }

    #[test]
    fn names_are_in_the_order_of_the_values() {
        assert!(CapabilityVerb::names().is_sorted() && Load::names().is_sorted());
        assert!(HealthStatus::names().is_sorted());
    }
}
