//! Capabilities: what a tool can do to what, and within which limits \[4, 2\].

use super::level::levels;
use super::{Name, NameError, NameRule};
use agent_text::{Span, Spanned};
use std::fmt;

levels! {
    /// What is done \[4, 2.1\]. The order is that of the names by code point.
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
    /// When the definition of a tool is shown to the agent \[4, 6.1\].
    Load {
        /// From the start.
        Essential "essential"
        /// When it is asked for; until then a stub stands in its place.
        OnDemand "on_demand"
    }
}

levels! {
    /// How a server does, according to a snapshot \[4, 7.3\]. The order is that of the names.
    HealthStatus {
        /// It works.
        Healthy "HEALTHY"
        /// It works again, and is watched.
        Probation "PROBATION"
        /// It is kept away from.
        Quarantine "QUARANTINE"
        /// It does not take calls yet.
        Starting "STARTING"
        /// It does not work.
        Unhealthy "UNHEALTHY"
    }
}

impl HealthStatus {
    /// Whether a server of this status may be selected.
    pub fn passes(self) -> bool {
        matches!(self, Self::Healthy | Self::Probation)
    }
}

/// A vocabulary: names that everybody knows, besides names of one's own, which are told from
/// misspelt ones by a dash, a dot or a colon in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vocabulary {
    /// What such a word is called.
    pub noun: &'static str,
    /// The names that everybody knows, sorted.
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

    /// Whether a word is one of the known names or one's own.
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
            /// The words that it may be.
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
    /// What a verb acts upon \[4, 2.2\].
    Resource = Vocabulary::RESOURCES;
    /// A tag that limits a capability \[4, 2.3\].
    Tag = Vocabulary::CONSTRAINTS;
}

/// What a task requires and a lock grants. Ordered as a lock orders it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capability {
    /// What is done.
    pub verb: CapabilityVerb,
    /// To what.
    pub resource: Resource,
    /// Within which limits: sorted, without duplicates.
    pub constraints: Vec<Tag>,
}

impl Capability {
    /// `verb:resource`, by which a capability is known and forbidden.
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
    /// What a tool must be able to do.
    pub capability: Capability,
    /// When its definition is shown.
    pub load: Load,
    /// Where the verb stands.
    pub verb_span: Span,
    /// Where the resource stands.
    pub resource_span: Span,
    /// Each constraint and where it stands, in the order of the capability's.
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
