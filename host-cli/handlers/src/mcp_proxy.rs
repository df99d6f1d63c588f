//! `mcp_proxy`: the call of one tool. The input is its arguments; the output is `structuredContent` of
//! the result, or `content` without it.

use crate::bindings::agent::handler::tool::call;
use crate::bindings::exports::agent::handler::handler::Guest;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The handler.
pub(crate) struct Handler;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallToolResult<'r> {
    #[serde(borrow)]
    content: &'r RawValue,
    #[serde(borrow)]
    structured_content: Option<&'r RawValue>,
}

impl Guest for Handler {
    fn handle(input: String) -> Result<String, String> {
        let payload = call(&input);
        let result: CallToolResult<'_> = serde_json::from_slice(&payload)
            .map_err(|error| format!("the result of the tool can't be read: {error}"))?;
        let output = result.structured_content.unwrap_or(result.content);
        Ok(output.get().to_owned())
    }
}
