//! Names, checked once.
//!
//! Names are compared by code point and never normalised. None is empty or holds a control
//! character; some hold no character that would make the hash formula of the lock ambiguous.

use std::fmt;

/// What a kind of name must not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameRule {
    /// What such a name is called.
    pub noun: &'static str,
    /// The characters that it must not hold, besides control characters.
    pub reserved: &'static [char],
}

/// Why a text is no such name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameError {
    /// It is empty.
    Empty,
    /// It holds a control character.
    Control(char),
    /// It holds a character that is reserved.
    Reserved(char),
    /// It is none of the known words, and none of one's own.
    Unknown,
}

impl NameRule {
    /// Check a text.
    ///
    /// # Errors
    /// The first reason why it is no such name.
    pub fn check(&self, text: &str) -> Result<(), NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        // Without an early exit, so that it is done many bytes at a time. Bytes from 0x7f on may
        // begin a control character, and reserved ones are looked for by themselves.
        let odd = text
            .bytes()
            .fold(false, |odd, b| odd | !(0x20..0x7f).contains(&b));
        let reserved = self.reserved.iter().any(|&c| {
            debug_assert!(c.is_ascii());
            text.bytes().fold(false, |found, b| found | (b == c as u8))
        });
        if !odd && !reserved {
            return Ok(());
        }
        for c in text.chars() {
            if c.is_control() {
                return Err(NameError::Control(c));
            }
            if self.reserved.contains(&c) {
                return Err(NameError::Reserved(c));
            }
        }
        Ok(())
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Control(c) => write!(f, "it holds the control character U+{:04X}", u32::from(*c)),
            Self::Reserved(c) => write!(f, "it holds `{c}`"),
            Self::Unknown => f.write_str("it is no known word"),
        }
    }
}

/// A text that was checked.
pub trait Name: Ord + Sized {
    /// What such a name must not be.
    const RULE: NameRule;

    /// Check a text.
    ///
    /// # Errors
    /// The first reason why it is no such name.
    fn new(text: impl Into<String>) -> Result<Self, NameError>;

    /// The text.
    fn as_str(&self) -> &str;
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $noun:literal, $reserved:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl Name for $name {
            const RULE: NameRule = NameRule { noun: $noun, reserved: $reserved };

            fn new(text: impl Into<String>) -> Result<Self, NameError> {
                let text = text.into();
                Self::RULE.check(&text)?;
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

names! {
    /// `name` of a manifest.
    AgentName = "agent name", &[];
    /// `version` of a manifest.
    AgentVersion = "agent version", &[];
    /// A category of servers.
    Category = "category", &[];
    /// A permission scope.
    Scope = "permission scope", &[',', '|'];
    /// A label of `constraints.actions.forbid`.
    ForbidLabel = "action label", &[];
    /// `id` of a server.
    ServerId = "server id", &['@', '|'];
    /// `version` of a server.
    ServerVersion = "server version", &['|'];
    /// `endpoint` of a server.
    Endpoint = "endpoint", &['|'];
    /// `trust.publisher` of a server.
    Publisher = "publisher", &[];
    /// `class` of a server.
    Class = "class", &[];
    /// A key of `capabilities.tools` of a server.
    ToolName = "tool name", &['/'];
    /// `task_id` of a task.
    TaskId = "task id", &[];
    /// `id` of a tenant.
    TenantId = "tenant id", &[];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        assert!(ServerId::new("acme-ünïcode 1").is_ok());
        assert_eq!(ServerId::new(""), Err(NameError::Empty));
        assert_eq!(ServerId::new("a@b"), Err(NameError::Reserved('@')));
        assert_eq!(ServerId::new("a|b"), Err(NameError::Reserved('|')));
        assert_eq!(ServerId::new("a\u{85}b"), Err(NameError::Control('\u{85}')));
        assert_eq!(ServerId::new("a\u{7f}"), Err(NameError::Control('\u{7f}')));
        assert_eq!(Scope::new("a,b"), Err(NameError::Reserved(',')));
        assert!(ServerVersion::new("1@2,3").is_ok());
    }
}
