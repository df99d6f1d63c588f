//! Replaces what documents say together in modules that must be small.

use agent_diagnostic::Diagnostic;
use agent_text::DocumentKind;

/// Returns the problems that were found.
pub fn together(_: &[(DocumentKind, &str)], found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found
}
