//! Replaces recovery in modules that must be small: the problems of a refused text as they were
//! found.

use agent_diagnostic::Diagnostic;
use agent_text::{DocumentKind, Text};

/// Returns the problems that were found.
pub fn explain(
    _: &Text,
    found: Vec<Diagnostic>,
    _: &mut dyn FnMut(&Text) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    found
}

/// Recognises nothing.
pub(super) fn of_bytes(_: DocumentKind, _: &[u8]) -> Option<Diagnostic> {
    None
}

/// Recognises nothing.
pub(super) fn of_kind(_: &Text) -> Option<Diagnostic> {
    None
}
