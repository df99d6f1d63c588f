//! Repairs of the YAML subset, line by line.

use super::Repairs;
use agent_text::Span;

/// Returns the repairs of the lines in a part of a text.
pub fn repair(_text: &str, _within: Span) -> Repairs {
    Repairs::default()
}
