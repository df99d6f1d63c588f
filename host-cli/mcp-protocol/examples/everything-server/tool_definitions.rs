//! The definitions of the tools.

use serde_json::{Map, Value, json};

/// Returns the definition of every tool, always in the same order.
pub(crate) fn all() -> Vec<Value> {
    let plain = [
        ("test_simple_text", "Returns a text"),
        ("test_image_content", "Returns an image"),
        ("test_audio_content", "Returns a sound"),
        ("test_embedded_resource", "Returns a resource"),
        (
            "test_multiple_content_types",
            "Returns a text, an image and a resource",
        ),
        ("test_tool_with_logging", "Sends three log messages"),
        (
            "test_logging_tool",
            "Sends a log message if the request permits it",
        ),
        ("test_error_handling", "Fails"),
        ("test_tool_with_progress", "Reports its progress"),
        ("test_reconnection", "Ends its stream before the answer"),
        (
            "test_elicitation_sep1034_defaults",
            "Requests a form with defaults",
        ),
        (
            "test_elicitation_sep1330_enums",
            "Requests a form with choices",
        ),
        (
            "test_missing_capability",
            "Requires a client that samples models",
        ),
        ("test_streaming_elicitation", "Requires input of the client"),
        (
            "test_trigger_tool_change",
            "Announces a change of the tools",
        ),
        (
            "test_trigger_prompt_change",
            "Announces a change of the prompts",
        ),
        ("test_input_required_result_elicitation", "Requires a name"),
        (
            "test_input_required_result_sampling",
            "Requires a sample of a model",
        ),
        (
            "test_input_required_result_list_roots",
            "Requires the client's roots",
        ),
        (
            "test_input_required_result_request_state",
            "Requires a confirmation, with a state",
        ),
        (
            "test_input_required_result_multiple_inputs",
            "Requires three inputs",
        ),
        (
            "test_input_required_result_multi_round",
            "Requires two inputs, one after the other",
        ),
        (
            "test_input_required_result_tampered_state",
            "Refuses a changed state",
        ),
        (
            "test_input_required_result_capabilities",
            "Requires what the client can do",
        ),
    ];
    let mut tools: Vec<Value> = plain
        .into_iter()
        .map(|(name, description)| tool(name, description, &[]))
        .collect();
    tools.push(tool(
        "test_sampling",
        "Samples the client's model",
        &[("prompt", "The prompt")],
    ));
    tools.push(tool(
        "test_elicitation",
        "Requests a form",
        &[("message", "The message to show")],
    ));
    let mut mirrored = tool(
        "test_header_parameter",
        "Repeats an argument in a header",
        &[("region", "The region")],
    );
    mirrored["inputSchema"]["properties"]["region"]["x-mcp-header"] = Value::from("Region");
    tools.push(mirrored);
    tools.push(schema_keywords());
    tools
}

fn tool(name: &str, description: &str, parameters: &[(&str, &str)]) -> Value {
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|(name, about)| {
            let schema = json!({ "type": "string", "description": about });
            ((*name).to_owned(), schema)
        })
        .collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !parameters.is_empty() {
        schema["required"] = parameters.iter().map(|(name, _)| *name).collect();
    }
    json!({ "name": name, "description": description, "inputSchema": schema })
}

/// A tool whose schema has the keywords that a server must pass on.
fn schema_keywords() -> Value {
    let text = || json!({ "type": "string" });
    json!({
        "name": "json_schema_2020_12_tool",
        "description": "Has keywords of JSON Schema 2020-12",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": text(), "city": text() },
            } },
            "properties": {
                "name": text(),
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": text(),
                "email": text(),
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": {
                "properties": { "contactMethod": { "const": "phone" } },
                "required": ["contactMethod"],
            },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        },
    })
}
