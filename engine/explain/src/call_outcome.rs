//! Messages about the outcome of a call.

use super::grounding::ungrounded;
use super::run::run_denial;
use agent_decide::CallOutcome;
use agent_diagnostic::{Code, Diagnostic};

/// Returns the reasons why a call ended with an error or its summary was rejected: codes and
/// sentences.
pub fn call_problems(outcome: &CallOutcome) -> Vec<(Code, String)> {
    let messages = |found: &[Diagnostic]| {
        let found = found.iter();
        found.map(|it| (it.code, it.message.clone())).collect()
    };
    match outcome {
        CallOutcome::NotUtf8 => vec![(Code::InvalidUtf8, "the payload is not UTF-8".to_owned())],
        CallOutcome::Refused(denials) => denials.iter().map(run_denial).collect(),
        CallOutcome::Returned => Vec::new(),
        CallOutcome::Unreadable(found) => messages(found),
        CallOutcome::Summarised { .. } => {
            let grounding = outcome.grounding();
            messages(&grounding.iter().flat_map(ungrounded).collect::<Vec<_>>())
        }
    }
}
