//! The outcome of a check, whatever it compares.

use agent_text::DocumentKind;

/// The outcome of a check. `C` names the checks of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome<C> {
    /// The check found no problem.
    Passed,
    /// The check found a problem.
    Failed,
    /// The check is possible only while the plan runs.
    Deferred,
    /// The check had no input.
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
