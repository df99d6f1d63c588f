//! A short message for the user.

use crate::keeping::Before;
use agent_answer::DocumentKind;
use std::rc::Rc;

/// A message that stays until the next one, or until the user closes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The message.
    pub text: String,
    /// Whether something went wrong.
    pub alarming: bool,
    /// What the user can undo.
    pub undo: Undo,
}

/// A change that the user can undo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Undo {
    /// None.
    #[default]
    Nothing,
    /// The last step in each of these documents.
    Steps(Vec<DocumentKind>),
    /// Replaces these inputs by others.
    Inputs(Rc<Before>),
}

impl Notice {
    /// Reports a success.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            alarming: false,
            undo: Undo::Nothing,
        }
    }

    /// Reports that other inputs replaced those before.
    pub(crate) fn replaced(text: impl Into<String>, before: Before) -> Self {
        Self {
            undo: Undo::Inputs(Rc::new(before)),
            ..Self::done(text)
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
