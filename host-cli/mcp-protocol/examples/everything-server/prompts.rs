//! The prompts.

use crate::input::{field, form, required};
use crate::tools::{PIXEL, complete_result};
use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, ListPromptsResult,
};
use serde_json::{Value, json};

/// Returns the prompts.
pub(crate) fn list() -> ListPromptsResult {
    let argument = |name: &str, description: &str| json!({ "name": name, "description": description, "required": true });
    complete_result(json!({ "prompts": [
        { "name": "test_simple_prompt", "description": "A prompt without arguments" },
        {
            "name": "test_prompt_with_arguments",
            "description": "A prompt with two arguments",
            "arguments": [argument("arg1", "First argument"), argument("arg2", "Second argument")],
        },
        {
            "name": "test_prompt_with_embedded_resource",
            "description": "A prompt with a resource",
            "arguments": [argument("resourceUri", "URI of the resource to embed")],
        },
        { "name": "test_prompt_with_image", "description": "A prompt with an image" },
        {
            "name": "test_input_required_result_prompt",
            "description": "A prompt that requires input of the client",
        },
    ] }))
}

/// Returns a prompt.
///
/// # Errors
///
/// When there is no such prompt, or an argument is missing.
pub(crate) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|all| all.get(name));
        value.and_then(Value::as_str).ok_or_else(|| {
            ErrorData::invalid_params(format!("the argument `{name}` is missing"), None)
        })
    };
    let text = |text: String| json!({ "type": "text", "text": text });
    let contents = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1")?, argument("arg2")?);
            vec![text(format!(
                "Prompt with arguments: arg1='{first}', arg2='{second}'"
            ))]
        }
        "test_prompt_with_embedded_resource" => {
            let uri = argument("resourceUri")?;
            let content = "Embedded resource content for testing.";
            let resource = json!({ "uri": uri, "mimeType": "text/plain", "text": content });
            vec![
                json!({ "type": "resource", "resource": resource }),
                text("Please process the embedded resource above.".to_owned()),
            ]
        }
        "test_prompt_with_image" => vec![
            json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" }),
            text("Please analyze the image above.".to_owned()),
        ],
        "test_input_required_result_prompt" => {
            let given = field(request.input_responses.as_ref(), "user_context", "context");
            let Some(context) = given.and_then(Value::as_str) else {
                let message = "What context should the prompt use?";
                let requests = json!({ "user_context": form(message, "context", "string") });
                return Ok(required(requests, None).into());
            };
            vec![text(format!("Use this context: {context}"))]
        }
        name => {
            let message = format!("no prompt is called `{name}`");
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    let messages: Vec<Value> = contents
        .into_iter()
        .map(|content| json!({ "role": "user", "content": content }))
        .collect();
    Ok(complete_result::<GetPromptResult>(json!({ "messages": messages })).into())
}

/// Returns the suggested values of an argument that begin like the given one.
pub(crate) fn complete(request: &CompleteRequestParams) -> CompleteResult {
    let typed = &request.argument.value;
    let all = ["paris", "park", "party", "testing"];
    let values: Vec<_> = all
        .into_iter()
        .filter(|value| value.starts_with(typed.as_str()))
        .collect();
    complete_result(
        json!({ "completion": { "values": values, "total": values.len(), "hasMore": false } }),
    )
}
