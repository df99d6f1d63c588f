//! Validated names.
//!
//! Names are compared by code point and never normalised. No name is empty or contains a control
//! character. Some must not contain characters that would make the lock's hash formula ambiguous.
//! Some come from a vocabulary of known and custom words.

use agent_text::misspelt;
use std::fmt;

/// The rule for a kind of name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameRule {
    /// The noun for such a name.
    pub noun: &'static str,
    /// The forbidden characters, besides control characters.
    pub reserved: &'static [char],
    /// The known words, sorted; empty if the name is free. A custom word contains a dash, a dot or a
    /// colon, and is not near a known one.
    pub known: &'static [&'static str],
}

/// The reason why a text is not a valid name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameError {
    /// It is empty.
    Empty,
    /// It contains a control character.
    Control(char),
    /// It contains a reserved character.
    Reserved(char),
    /// It is an example of a message that was pasted unchanged, such as `<category>`.
    Placeholder,
    /// It is neither a known word nor a valid custom one.
    Unknown,
}

impl NameRule {
    /// Checks a text.
    ///
    /// # Errors
    /// The first violation of the rule.
    pub fn check(&self, text: &str) -> Result<(), NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        // A server may call a tool `TODO`.
        let is_name = self.noun == "tool name" && !text.starts_with(['<', '$', '{']);
        if is_placeholder(text) && !is_name {
            return Err(NameError::Placeholder);
        }
        // There is no early exit, so that the loop handles many bytes at a time. Bytes from 0x7f on
        // may begin a control character; reserved characters are searched for separately.
        let odd = text
            .bytes()
            .fold(false, |odd, b| odd | !(0x20..0x7f).contains(&b));
        let reserved = self.reserved.iter().any(|&c| {
            debug_assert!(c.is_ascii());
            text.bytes().fold(false, |found, b| found | (b == c as u8))
        });
        if odd || reserved {
            for c in text.chars() {
                if c.is_control() {
                    return Err(NameError::Control(c));
                }
                if self.reserved.contains(&c) {
                    return Err(NameError::Reserved(c));
                }
            }
        }
        if self.known.is_empty() || self.known.contains(&text) || self.is_custom(text) {
            Ok(())
        } else {
            Err(NameError::Unknown)
        }
    }

    /// Returns whether a word is none of the known ones, and far enough from them.
    fn is_custom(&self, text: &str) -> bool {
        text.contains(['-', '.', ':']) && misspelt(text, self.known).is_none()
    }
}

/// Returns whether a text stands for what a person has to fill in: words in angle brackets as messages
/// print them, a variable of a template, or a word such as `TODO`.
pub fn is_placeholder(text: &str) -> bool {
    let within = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let is_word = |c: char| c.is_ascii_lowercase() || matches!(c, ' ' | '-' | '_');
    match text.as_bytes() {
        [b'<', ..] => within("<", ">").is_some_and(|it| it.len() > 1 && it.chars().all(is_word)),
        [b'$' | b'{', ..] => within("${", "}").or_else(|| within("{{", "}}")).is_some(),
        [b'Y', ..] => text.starts_with("YOUR_"),
        [b'C' | b'F' | b'T', ..] => {
            ["CHANGEME", "CHANGE_ME", "FIXME", "TBD", "TODO"].contains(&text)
        }
        _ => false,
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Control(c) => write!(
                f,
                "it contains the control character U+{:04X}",
                u32::from(*c)
            ),
            Self::Reserved(c) => write!(f, "it contains `{c}`"),
            Self::Placeholder => f.write_str("it is a placeholder"),
            Self::Unknown => f.write_str("it is an unknown word"),
        }
    }
}

/// A validated text.
pub trait Name: Ord + Sized {
    /// The rule for such a name.
    const RULE: NameRule;

    /// Checks a text.
    ///
    /// # Errors
    /// The first violation of the rule.
    fn new(text: impl Into<String>) -> Result<Self, NameError>;

    /// Returns the text.
    fn as_str(&self) -> &str;
}

macro_rules! names {
    ($(
        $(#[$doc:meta])*
        $name:ident = $noun:literal, $reserved:expr $(, of $($known:literal)+)?;
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl Name for $name {
            const RULE: NameRule = NameRule {
                noun: $noun,
                reserved: $reserved,
                known: &[$($($known),+)?],
            };

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
    /// The resource of a capability \[4, 2.2\].
    Resource = "resource", &[],
        of "aws" "codebase" "fs" "internet" "knowledge_graph" "slack";
    /// A tag that limits a capability \[4, 2.3\].
    Tag = "capability constraint", &[],
        of "human_in_the_loop" "pii_safe" "rate_limited" "readonly";
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
        assert_eq!(Scope::new("<scope>"), Err(NameError::Placeholder));
        assert_eq!(AgentName::new("<agent name>"), Err(NameError::Placeholder));
        for text in ["${VERSION}", "{{version}}", "TODO", "YOUR_VERSION"] {
            assert_eq!(
                ServerVersion::new(text),
                Err(NameError::Placeholder),
                "{text}"
            );
        }
        assert!(ServerVersion::new("2025.4.25 (with mcp<2)").is_ok());
        assert!(ToolName::new("TODO").is_ok() && Category::new("TODO list").is_ok());
        assert!(Category::new("<b>").is_ok() && Category::new("<a>b").is_ok());
        assert_eq!(Scope::new("a,b"), Err(NameError::Reserved(',')));
        assert!(ServerVersion::new("1@2,3").is_ok());
    }

    #[test]
    fn words_are_known_or_of_ones_own() {
        assert!(Resource::new("internet").is_ok());
        assert!(Resource::new("x-crm").is_ok() && Tag::new("org:audited").is_ok());
        assert_eq!(Resource::new("intranet"), Err(NameError::Unknown));
        assert_eq!(Tag::new("internet"), Err(NameError::Unknown));
        assert_eq!(Tag::new(""), Err(NameError::Empty));
        for near in ["human-in-the-loop", "read-only", "rate.limited", "pii-save"] {
            assert_eq!(Tag::new(near), Err(NameError::Unknown), "{near}");
        }
    }
}
