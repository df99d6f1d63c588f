//! A short message for the user.

use agent_answer::DocumentKind;

/// A message that stays until the next one, or until the user closes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The message.
    pub text: String,
    /// Whether something went wrong.
    pub alarming: bool,
    /// The documents in which the user can undo the change.
    pub undo: Vec<DocumentKind>,
}

impl Notice {
    /// Reports a success.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            alarming: false,
            undo: Vec::new(),
        }
    }

    /// Reports a failure.
    pub fn alarm(text: impl Into<String>) -> Self {
        Self {
            alarming: true,
            ..Self::done(text)
        }
    }
}
