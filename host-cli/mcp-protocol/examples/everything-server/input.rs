//! Results that require input of the client, and the client's answers to them.

use rmcp::model::{InputRequiredResult, InputResponses};
use serde_json::{Value, json};

use crate::state::Shared;
use crate::tools::read;

/// Returns the request to fill in a form with one field.
pub(crate) fn form(message: &str, field: &str, kind: &str) -> Value {
    json!({ "method": "elicitation/create", "params": {
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": { field: { "type": kind } },
            "required": [field],
        },
    } })
}

/// Returns the request to sample a model.
pub(crate) fn sampling(prompt: &str, tokens: u32) -> Value {
    json!({ "method": "sampling/createMessage", "params": {
        "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
        "maxTokens": tokens,
    } })
}

/// Returns the request to list the client's roots.
pub(crate) fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// Returns a result that requires input.
pub(crate) fn required(requests: Value, state: Option<String>) -> InputRequiredResult {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = Value::from(state);
    }
    read(result)
}

/// Returns the value of a field in an accepted form.
pub(crate) fn field<'a>(
    responses: Option<&'a InputResponses>,
    request: &str,
    field: &str,
) -> Option<&'a Value> {
    let response = responses?.get(request)?;
    (response["action"] == "accept")
        .then(|| response["content"].get(field))
        .flatten()
}

/// The rounds of a call so far: the client's answers and the echoed state.
pub(crate) struct Rounds<'a> {
    pub(crate) tool: &'a str,
    pub(crate) responses: Option<&'a InputResponses>,
    pub(crate) state: Option<&'a str>,
    pub(crate) shared: &'a Shared,
}

impl Rounds<'_> {
    /// Returns the step of the echoed state, or `None` in the first round.
    pub(crate) fn step(&self) -> Result<Option<&str>, rmcp::ErrorData> {
        self.state
            .map(|state| self.shared.open(self.tool, state))
            .transpose()
    }

    /// Returns the answer to a request.
    pub(crate) fn response(&self, request: &str) -> Option<&Value> {
        self.responses?
            .get(request)
            .filter(|value| value.is_object())
    }

    /// Returns the text of the field `name` in an answer.
    pub(crate) fn text(&self, request: &str, name: &str) -> Option<&str> {
        field(self.responses, request, name)?.as_str()
    }

    /// Returns a result that requires input before `step`.
    pub(crate) fn ask(&self, requests: Value, step: &str) -> InputRequiredResult {
        required(requests, Some(self.shared.seal(self.tool, step)))
    }
}
