//! The calls of the tools.

use crate::input::{Rounds, form, required, roots, sampling};
use crate::server::Everything;
use crate::state::Change;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientResult,
    ProgressNotificationParam, ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// An image of one red pixel.
pub(crate) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// A sound without samples.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// The time between two messages of one call.
const PAUSE: Duration = Duration::from_millis(50);

/// Reads a value that this program wrote.
pub(crate) fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a value of the protocol")
}

/// Reads a result that is complete, which versions without sessions say in it.
pub(crate) fn complete_result<T: DeserializeOwned>(mut result: Value) -> T {
    result["resultType"] = Value::from("complete");
    read(result)
}

fn contents(contents: Value) -> CallToolResponse {
    complete_result::<CallToolResult>(json!({ "content": contents })).into()
}

fn text(text: impl Into<String>) -> CallToolResponse {
    contents(json!([{ "type": "text", "text": text.into() }]))
}

fn failure(text: &str) -> CallToolResponse {
    let content = json!([{ "type": "text", "text": text }]);
    complete_result::<CallToolResult>(json!({ "content": content, "isError": true })).into()
}

fn image() -> Value {
    json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" })
}

fn resource(uri: &str, kind: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": kind, "text": text } })
}

/// Calls a tool.
///
/// # Errors
///
/// When there is no such tool, or the client can't do what it needs.
pub(crate) async fn call(
    server: &Everything,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let name = &*request.name;
    if name.starts_with("test_input_required_result_") || name == "test_streaming_elicitation" {
        let rounds = Rounds {
            tool: name,
            responses: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
            shared: &server.shared,
        };
        return input_required(&rounds, &capabilities(context));
    }
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|all| all.get(name));
        value.and_then(Value::as_str).unwrap_or_default()
    };
    Ok(match name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => contents(json!([image()])),
        "test_audio_content" => {
            contents(json!([{ "type": "audio", "data": SILENCE, "mimeType": "audio/wav" }]))
        }
        "test_embedded_resource" => contents(json!([resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )])),
        "test_multiple_content_types" => contents(json!([
            { "type": "text", "text": "Multiple content types test:" },
            image(),
            resource(
                "test://mixed-content-resource",
                "application/json",
                &json!({ "test": "data", "value": 123 }).to_string(),
            ),
        ])),
        "test_error_handling" => failure("This tool intentionally returns an error for testing"),
        "test_tool_with_logging" => {
            for (number, message) in ["started", "processing", "completed"].iter().enumerate() {
                if number > 0 {
                    sleep(PAUSE).await;
                }
                server
                    .log(context, &format!("Tool execution: {message}"))
                    .await;
            }
            text("The tool has sent three log messages.")
        }
        "test_logging_tool" => {
            server.log(context, "The tool runs").await;
            text("The tool has run.")
        }
        "test_tool_with_progress" => {
            progress(context).await;
            text("The tool has reported its progress.")
        }
        "test_reconnection" => {
            sleep(PAUSE).await;
            text("The stream was continued.")
        }
        "test_missing_capability" => {
            if capabilities(context).sampling.is_none() {
                let required = read(json!({ "sampling": {} }));
                return Err(ErrorData::missing_required_client_capability(required));
            }
            text("The client samples models.")
        }
        "test_trigger_tool_change" => announce(server, context, Change::Tools).await,
        "test_trigger_prompt_change" => announce(server, context, Change::Prompts).await,
        "test_sampling" => {
            let asked = sampling(argument("prompt"), 100);
            match ask(context, "sampling", asked).await {
                Ok(answer) => text(format!("LLM response: {}", answer["content"]["text"])),
                Err(refused) => failure(&refused),
            }
        }
        "test_elicitation" => {
            elicited(context, user_form(argument("message")), "User response").await
        }
        "test_elicitation_sep1034_defaults" => {
            elicited(context, form_with_defaults(), "Elicitation completed").await
        }
        "test_elicitation_sep1330_enums" => {
            elicited(context, form_with_choices(), "Elicitation completed").await
        }
        "test_header_parameter" => text(format!("The region is {}.", argument("region"))),
        "json_schema_2020_12_tool" => text("The arguments agree with the schema."),
        _ => {
            let message = format!("no tool is called `{name}`");
            return Err(ErrorData::invalid_params(message, None));
        }
    })
}

/// Returns the capabilities that the client declared in the request, or for the session.
fn capabilities(context: &RequestContext<RoleServer>) -> ClientCapabilities {
    context.client_capabilities().unwrap_or_default()
}

async fn progress(context: &RequestContext<RoleServer>) {
    for number in 0..3 {
        if number > 0 {
            sleep(PAUSE).await;
        }
        if let Some(token) = context.meta.get_progress_token() {
            let params = ProgressNotificationParam::new(token, f64::from(number * 50));
            // A client that is gone needs no progress.
            let _ = context.peer.notify_progress(params.with_total(100.0)).await;
        }
    }
}

async fn announce(
    server: &Everything,
    context: &RequestContext<RoleServer>,
    change: Change,
) -> CallToolResponse {
    // A subscription begins before the first message on its stream is read.
    sleep(PAUSE).await;
    let _ = server.shared.changes.send(change);
    if server.has_sessions(context) {
        let announced = match change {
            Change::Tools => context.peer.notify_tool_list_changed().await,
            Change::Prompts => context.peer.notify_prompt_list_changed().await,
        };
        if announced.is_err() {
            return failure("the client is gone");
        }
    }
    text("The change is announced.")
}

/// Sends a request to the client of a session.
async fn ask(
    context: &RequestContext<RoleServer>,
    capability: &str,
    request: Value,
) -> Result<Value, String> {
    let declared = json!(capabilities(context));
    if declared.get(capability).is_none() {
        return Err(format!("the client does not declare `{capability}`"));
    }
    let request: ServerRequest = read(request);
    let answer = context.peer.send_request(request).await;
    let answer: ClientResult = answer.map_err(|error| error.to_string())?;
    Ok(json!(answer))
}

async fn elicited(
    context: &RequestContext<RoleServer>,
    request: Value,
    prefix: &str,
) -> CallToolResponse {
    match ask(context, "elicitation", request).await {
        Ok(answer) => text(format!(
            "{prefix}: action={}, content={}",
            answer["action"].as_str().unwrap_or_default(),
            answer["content"]
        )),
        Err(refused) => failure(&refused),
    }
}

fn user_form(message: &str) -> Value {
    elicitation(
        message,
        json!({ "type": "object", "properties": {
        "username": { "type": "string", "description": "User's response" },
        "email": { "type": "string", "description": "User's email address" },
    }, "required": ["username", "email"] }),
    )
}

fn form_with_defaults() -> Value {
    let states = ["active", "inactive", "pending"];
    elicitation(
        "Please check the defaults",
        json!({ "type": "object", "properties": {
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": states, "default": "active" },
        "verified": { "type": "boolean", "default": true },
    } }),
    )
}

fn form_with_choices() -> Value {
    let plain = ["option1", "option2", "option3"];
    let titled = json!([
        { "const": "value1", "title": "First Option" },
        { "const": "value2", "title": "Second Option" },
        { "const": "value3", "title": "Third Option" },
    ]);
    elicitation(
        "Please choose",
        json!({ "type": "object", "properties": {
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    } }),
    )
}

fn elicitation(message: &str, schema: Value) -> Value {
    json!({ "method": "elicitation/create", "params": {
        "mode": "form", "message": message, "requestedSchema": schema,
    } })
}

/// Calls a tool that requires input of the client.
fn input_required(
    rounds: &Rounds<'_>,
    capabilities: &ClientCapabilities,
) -> Result<CallToolResponse, ErrorData> {
    let step = rounds.step()?;
    let name = || form("What is your name?", "name", "string");
    let confirmation = || json!({ "confirm": form("Please confirm", "ok", "boolean") });
    Ok(match rounds.tool {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            match rounds.text("user_name", "name") {
                Some(name) => text(format!("Hello, {name}!")),
                None => required(json!({ "user_name": name() }), None).into(),
            }
        }
        "test_input_required_result_sampling" => match rounds.response("capital_question") {
            Some(answer) => text(format!("The model answers: {}", answer["content"])),
            None => {
                let asked = sampling("What is the capital of France?", 100);
                required(json!({ "capital_question": asked }), None).into()
            }
        },
        "test_input_required_result_list_roots" => match rounds.response("client_roots") {
            Some(answer) => text(format!("The roots are {}.", answer["roots"])),
            None => required(json!({ "client_roots": roots() }), None).into(),
        },
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => {
            match step.and(rounds.response("confirm")) {
                Some(_) => text("state-ok"),
                None => rounds.ask(confirmation(), "confirm").into(),
            }
        }
        "test_input_required_result_multiple_inputs" => {
            let keys = ["user_name", "greeting", "client_roots"];
            let complete = keys.iter().all(|key| rounds.response(key).is_some());
            if step.is_some() && complete {
                text("All inputs are given.")
            } else {
                let greeting = sampling("Generate a greeting", 50);
                let requests = json!({
                    "user_name": name(), "greeting": greeting, "client_roots": roots(),
                });
                rounds.ask(requests, "inputs").into()
            }
        }
        "test_input_required_result_multi_round" => {
            match (
                step,
                rounds.text("step1", "name"),
                rounds.text("step2", "color"),
            ) {
                (Some("second"), _, Some(color)) => text(format!("The color is {color}.")),
                (Some("first"), Some(_), _) | (Some("second"), ..) => {
                    let asked = form("Step 2: What is your favorite color?", "color", "string");
                    rounds.ask(json!({ "step2": asked }), "second").into()
                }
                _ => {
                    let asked = form("Step 1: What is your name?", "name", "string");
                    rounds.ask(json!({ "step1": asked }), "first").into()
                }
            }
        }
        _ => {
            if rounds.responses.is_some_and(|all| !all.is_empty()) {
                return Ok(text("The client has answered."));
            }
            let mut requests = json!({});
            if capabilities.elicitation.is_some() {
                requests["user_name"] = name();
            }
            if capabilities.sampling.is_some() {
                requests["greeting"] = sampling("Generate a greeting", 50);
            }
            match requests.as_object().is_some_and(|all| !all.is_empty()) {
                true => required(requests, None).into(),
                false => text("The client can give no input."),
            }
        }
    })
}
