//! What becomes of a request, in words.

use super::{run_denial, ungrounded};
use agent_decide::{CallResult, check_payload, ground};
use agent_diagnostic::{Code, Diagnostic};
use agent_lower::summarised;

/// What a request ends with once its tool has returned a payload and somebody may have summed it
/// up, and why it is an error or why the summary was rejected: each time a code and a sentence.
pub fn settled(
    output_schema: Option<&str>,
    payload: Vec<u8>,
    summary: Option<Vec<u8>>,
) -> (CallResult, Vec<(Code, String)>) {
    let Ok(text) = str::from_utf8(&payload) else {
        let message = "the payload is not UTF-8".to_owned();
        return (CallResult::Error, vec![(Code::InvalidUtf8, message)]);
    };
    let denials = check_payload(output_schema, text);
    if !denials.is_empty() {
        return (CallResult::Error, denials.iter().map(run_denial).collect());
    }
    let Some(summary) = summary else {
        return (CallResult::ToolResult, Vec::new());
    };
    let told = |found: Vec<Diagnostic>| {
        let found = found.into_iter();
        found.map(|it| (it.code, it.message)).collect()
    };
    match summarised(summary, payload) {
        Err(found) => (CallResult::ToolResult, told(found)),
        Ok(read) => {
            let (summary, payload) = &read.value;
            let grounding = ground(summary, payload);
            if grounding.grounded() {
                (CallResult::ToolResultWithSummary, Vec::new())
            } else {
                (CallResult::ToolResult, told(ungrounded(&grounding)))
            }
        }
    }
}
