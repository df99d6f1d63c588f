//! The outcome of a call by its payload and summary \[1, steps 7 and 8\].

use super::grounding::{Grounding, Verdict, ground};
use super::plan::{RunDenial, output_denials};
use agent_diagnostic::Diagnostic;
use agent_json_schema::{Budget, JsonText};
use agent_lower::summarised;
use agent_model::{Payload, Summary};

/// The kinds of results of \[1\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    /// The payload.
    ToolResult,
    /// The payload, and a summary with evidence for every claim.
    ToolResultWithSummary,
    /// The plan contains no call, but a question to the user.
    NeedsMoreInfo,
    /// The call is denied.
    Blocked,
    /// The tool failed, or its payload is refused.
    Error,
}

/// The outcome of a completed call.
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
        payload: Box<Payload>,
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
            Self::Summarised { .. } if self.grounding().is_some_and(|it| it.grounded()) => {
                CallResult::ToolResultWithSummary
            }
            Self::Summarised { .. } => CallResult::ToolResult,
        }
    }

    /// Returns the answer to a readable summary.
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

/// Completes a call with the payload of its tool and an optional summary.
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
                payload: Box::new(payload),
                verdicts,
            }
        }
    }
}

/// Returns the reasons to refuse a result of `tools/call`. It must be strict JSON without `isError`.
/// Its `structuredContent` must fit the tool's `outputSchema`, if any.
fn check_payload(output_schema: Option<&str>, payload: &str) -> Vec<RunDenial<'static>> {
    let Some(text) = JsonText::strict(payload) else {
        return vec![RunDenial::OutputNotJson];
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
