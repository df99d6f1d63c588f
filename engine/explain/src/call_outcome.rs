//! Messages about the outcome of a call.

use super::grounding::ungrounded;
use super::run::run_denial;
use agent_decide::{CallOutcome, PayloadDenial};
use agent_diagnostic::{Code, Diagnostic};

/// Returns the reasons why a call ended with an error or its summary was rejected: codes and
/// sentences.
pub fn call_problems(outcome: &CallOutcome) -> Vec<(Code, String)> {
    let messages = |found: &[Diagnostic]| {
        let found = found.iter();
        found.map(|it| (it.code, it.message.clone())).collect()
    };
    match outcome {
        CallOutcome::Refused(denials) => {
            let denials = denials.iter().map(payload_denial);
            denials.map(|it| (Code::OutputInvalid, it)).collect()
        }
        CallOutcome::Returned => Vec::new(),
        CallOutcome::Unreadable(found) => messages(found),
        CallOutcome::Summarised { .. } => {
            let grounding = outcome.grounding();
            messages(&grounding.iter().flat_map(ungrounded).collect::<Vec<_>>())
        }
    }
}

/// Returns why the payload of a step's tool is refused: the stable code and a sentence.
pub fn step_payload(denial: &PayloadDenial) -> (Code, String) {
    let code = match denial {
        PayloadDenial::ToolFailed => Code::MovaHandlerFailed,
        _ => Code::MovaOutputInvalid,
    };
    (code, payload_denial(denial))
}

/// Returns the sentence about a refused payload.
pub fn payload_denial(denial: &PayloadDenial) -> String {
    match denial {
        PayloadDenial::Unreadable(found) => format!("the payload: {}", found.message),
        PayloadDenial::NoResult(fault) => {
            let (pointer, message) = (&fault.pointer, &fault.message);
            format!("the payload is not a `CallToolResult`: `payload{pointer}` {message}")
        }
        PayloadDenial::ToolFailed => "the tool reports an error (`isError`)".to_owned(),
        PayloadDenial::NoStructuredContent => {
            "the tool has an output schema, and returned no `structuredContent`".to_owned()
        }
        PayloadDenial::Output(denial) => run_denial(denial).1,
    }
}
