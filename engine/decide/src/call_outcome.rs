//! The outcome of a call by its payload and summary \[1, steps 7 and 8\].

use super::grounding::{Grounding, Verdict, ground};
use super::plan::{RunDenial, output_denials};
use agent_diagnostic::Diagnostic;
use agent_json_schema::{Budget, JsonText, ToolSchema};
use agent_model::{EnvelopeFault, Payload, Summary};

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

impl CallResult {
    /// Returns the word of \[1\].
    pub fn name(self) -> &'static str {
        match self {
            Self::ToolResult => "tool_result",
            Self::ToolResultWithSummary => "tool_result_with_summary",
            Self::NeedsMoreInfo => "needs_more_info",
            Self::Blocked => "blocked",
            Self::Error => "error",
        }
    }
}

/// A reason to refuse the payload of a call.
#[derive(Debug)]
pub enum PayloadDenial {
    /// It can't be read as strict JSON.
    Unreadable(Diagnostic),
    /// It is no `CallToolResult`.
    NoResult(EnvelopeFault),
    /// The tool reports an error.
    ToolFailed,
    /// The tool has an output schema, and returned no `structuredContent`.
    NoStructuredContent,
    /// Its `structuredContent` violates the output schema.
    Output(RunDenial<'static>),
}

/// The outcome of a completed call.
#[derive(Debug)]
pub enum CallOutcome {
    /// The payload is refused.
    Refused(Vec<PayloadDenial>),
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
            Self::Refused(_) => CallResult::Error,
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
    let payload = match agent_lower::payload(payload) {
        Ok(read) => read.value,
        Err(found) => {
            let denials = found.into_iter().map(PayloadDenial::Unreadable);
            return CallOutcome::Refused(denials.collect());
        }
    };
    let denials = check_payload(output_schema.map(ToolSchema::Text), &payload);
    if !denials.is_empty() {
        return CallOutcome::Refused(denials);
    }
    let Some(summary) = summary else {
        return CallOutcome::Returned;
    };
    match agent_lower::summary(summary) {
        Err(found) => CallOutcome::Unreadable(found),
        Ok(read) => {
            let summary = read.value;
            let verdicts = ground(&summary, &payload).verdicts;
            CallOutcome::Summarised {
                summary,
                payload: Box::new(payload),
                verdicts,
            }
        }
    }
}

/// Returns the reasons to refuse the bytes of a payload, whatever the output schema of its tool.
pub fn payload_denials(payload: Vec<u8>) -> Vec<PayloadDenial> {
    match agent_lower::payload(payload) {
        Ok(read) => check_payload(None, &read.value),
        Err(found) => found.into_iter().map(PayloadDenial::Unreadable).collect(),
    }
}

/// Returns whether a tool reports an error with the bytes of a payload, which an agent gets as it is.
///
/// # Errors
/// The reasons to withhold it: it is no `CallToolResult`, or it reports no error and its
/// `structuredContent` does not fit the tool's `outputSchema`.
pub fn deliver_payload(
    output_schema: Option<ToolSchema<'_>>,
    payload: Vec<u8>,
) -> Result<bool, Vec<PayloadDenial>> {
    let payload = match agent_lower::payload(payload) {
        Ok(read) => read.value,
        Err(found) => return Err(found.into_iter().map(PayloadDenial::Unreadable).collect()),
    };
    let denials = check_payload(output_schema, &payload);
    match &denials[..] {
        [] => Ok(false),
        [PayloadDenial::ToolFailed] => Ok(true),
        _ => Err(denials),
    }
}

/// Returns the reasons to refuse a payload. It must be a `CallToolResult` without `isError`, and its
/// `structuredContent` must fit the tool's `outputSchema`, if any.
fn check_payload(output_schema: Option<ToolSchema<'_>>, payload: &Payload) -> Vec<PayloadDenial> {
    let envelope = payload.envelope();
    if !envelope.faults.is_empty() {
        let faults = envelope.faults.iter().cloned();
        return faults.map(PayloadDenial::NoResult).collect();
    }
    if envelope.is_error {
        return vec![PayloadDenial::ToolFailed];
    }
    let Some(schema) = output_schema else {
        return Vec::new();
    };
    let content = envelope.structured_content.map(|it| payload.source(it));
    let Some(content) = content.and_then(JsonText::read) else {
        return vec![PayloadDenial::NoStructuredContent];
    };
    let denials = output_denials(schema, content.root(), &mut Budget::new());
    denials.into_iter().map(PayloadDenial::Output).collect()
}
