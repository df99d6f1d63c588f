//! What is recorded of a check, whatever it looks at.

use agent_text::DocumentKind;

/// The outcome of a check. `C` names the checks of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome<C> {
    /// Nothing speaks against it.
    Passed,
    /// Something does.
    Failed,
    /// It can be made only while the plan runs.
    Deferred,
    /// It had nothing to look at.
    Skipped(SkipCause<C>),
}

/// The reason why a check was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipCause<C> {
    /// An earlier check failed.
    Failed(C),
    /// A document can't be read.
    Unreadable(DocumentKind),
}
