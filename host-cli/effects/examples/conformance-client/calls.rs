//! The calls of a scenario.

use serde_json::{Map, Value, json};

/// The tool whose argument is the input schema of another tool, as the client received it.
const SCHEMA_ECHO: &str = "json_schema_echo";
/// The tool whose schema is sent back.
const SCHEMA_TOOL: &str = "json_schema_2020_12_tool";

/// Returns the calls that the scenario names, or else one call of each tool of a list.
pub(crate) fn of(list: &Value, context: &Value) -> Vec<(String, Value)> {
    let named = |call: &Value| call["name"].as_str().unwrap_or_default().to_owned();
    if let Some(calls) = context["toolCalls"].as_array() {
        let calls = calls
            .iter()
            .map(|call| (named(call), call["arguments"].clone()));
        return calls.collect();
    }
    let none = Vec::new();
    let tools = list["tools"].as_array().unwrap_or(&none);
    let calls = tools.iter().map(|tool| {
        let name = named(tool);
        let arguments = match name.as_str() {
            SCHEMA_ECHO => {
                let other = tools.iter().find(|tool| tool["name"] == SCHEMA_TOOL);
                json!({ "schema": other.map(|tool| &tool["inputSchema"]) })
            }
            _ => arguments(&tool["inputSchema"]),
        };
        (name, arguments)
    });
    calls.collect()
}

/// Returns a value for each property of a schema.
fn arguments(schema: &Value) -> Value {
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let values = properties.iter().map(|(name, property)| {
        let value = match property["type"].as_str() {
            Some("number" | "integer") => json!(2),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("a"),
        };
        (name.clone(), value)
    });
    Value::Object(values.collect())
}
