//! What becomes of a request once its one tool was called \[1, steps 7 and 8\].

use super::plan::{RunDenial, output_denials};
use agent_json_schema::Budget;
use agent_lower::strict;

/// What a request ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    /// The payload, as it is.
    ToolResult,
    /// The payload, and a summary of which every claim has evidence.
    ToolResultWithSummary,
    /// Nothing was called: more has to be known.
    NeedsMoreInfo,
    /// Nothing was called: it may not be.
    Blocked,
    /// The tool failed, or its payload is not what it has to be.
    Error,
}

/// Why the result of `tools/call` is an error; nothing if it is none: it is strict JSON, does not
/// say of itself that it is an error, and has the `structuredContent` that the tool's
/// `outputSchema` asks for, if the tool has one.
pub fn check_payload(output_schema: Option<&str>, payload: &str) -> Vec<RunDenial<'static>> {
    let Some(text) = strict(payload) else {
        return vec![RunDenial::NotJson];
    };
    let root = text.root();
    if root.member("isError").is_some_and(|it| it.is_true()) {
        return vec![RunDenial::ToolFailed];
    }
    let Some(schema) = output_schema else {
        return Vec::new();
    };
    match root.member("structuredContent") {
        Some(content) => output_denials(schema, content, &mut Budget::new()),
        None => vec![RunDenial::NoStructuredContent],
    }
}
