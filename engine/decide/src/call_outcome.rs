//! The result of a request once its one tool was called \[1, steps 7 and 8\].

use super::grounding::{Grounding, Verdict, ground};
use super::plan::{RunDenial, output_denials};
use agent_diagnostic::Diagnostic;
use agent_json_schema::{Budget, JsonText};
use agent_lower::summarised;
use agent_model::{Payload, Summary};

/// The kinds of results of \[1\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    /// The payload, as it is.
    ToolResult,
    /// The payload, and a summary of which every claim has evidence.
    ToolResultWithSummary,
    /// Nothing was called: the plan asks for more information.
    NeedsMoreInfo,
    /// Nothing was called: the call may not be made.
    Blocked,
    /// The tool failed, or its payload is not what it has to be.
    Error,
}

/// The outcome of a call that was made.
#[derive(Debug)]
pub enum CallOutcome {
    /// The payload is not UTF-8.
    NotUtf8,
    /// The payload is refused.
    Refused(Vec<RunDenial<'static>>),
    /// The payload is accepted, and there is no summary.
    Returned,
    /// The payload is accepted, and the summary can't be read.
    Unreadable(Vec<Diagnostic>),
    /// The payload is accepted, and the summary was checked against it.
    Summarised {
        /// The summary.
        summary: Summary,
        /// The payload.
        payload: Payload,
        /// The verdict on each claim.
        verdicts: Vec<Verdict>,
    },
}

impl CallOutcome {
    /// Returns the result that the request ends with.
    pub fn result(&self) -> CallResult {
        match self {
            Self::NotUtf8 | Self::Refused(_) => CallResult::Error,
            Self::Returned | Self::Unreadable(_) => CallResult::ToolResult,
            Self::Summarised { .. } => match self.grounding().is_some_and(|it| it.grounded()) {
                true => CallResult::ToolResultWithSummary,
                false => CallResult::ToolResult,
            },
        }
    }

    /// Returns the answer to the summary, if there is a readable one.
    pub fn grounding(&self) -> Option<Grounding<'_>> {
        match self {
            Self::Summarised {
                summary,
                payload,
                verdicts,
            } => Some(Grounding {
                payload,
                summary,
                verdicts: verdicts.clone(),
            }),
            _ => None,
        }
    }
}

/// Completes a call with the payload that its tool returned and the summary that somebody may have
/// written of it.
pub fn complete_call(
    output_schema: Option<&str>,
    payload: Vec<u8>,
    summary: Option<Vec<u8>>,
) -> CallOutcome {
    let Ok(text) = str::from_utf8(&payload) else {
        return CallOutcome::NotUtf8;
    };
    let denials = check_payload(output_schema, text);
    if !denials.is_empty() {
        return CallOutcome::Refused(denials);
    }
    let Some(summary) = summary else {
        return CallOutcome::Returned;
    };
    match summarised(summary, payload) {
        Err(found) => CallOutcome::Unreadable(found),
        Ok(read) => {
            let (summary, payload) = read.value;
            let verdicts = ground(&summary, &payload).verdicts;
            CallOutcome::Summarised {
                summary,
                payload,
                verdicts,
            }
        }
    }
}

/// Returns the reasons to refuse a result of `tools/call`: it is strict JSON, is not marked as an error
/// itself, and has the `structuredContent` that the tool's `outputSchema`, if any, asks for.
fn check_payload(output_schema: Option<&str>, payload: &str) -> Vec<RunDenial<'static>> {
    let Some(text) = JsonText::strict(payload) else {
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
