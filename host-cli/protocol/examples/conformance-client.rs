//! The client of the conformance tests: it uses every operation of the project's own client on one server.
//!
//! The suite starts it with the URL as the last argument, and names the scenario's tool calls in
//! `MCP_CONFORMANCE_CONTEXT`. Without them, it calls each tool of the list once.

use agent_mcp::{Client, Endpoint, Generations, Http, Limits, Options, Wait};
use agent_way_out::{HeaderMap, Roots, Scheme, Target, WayOut};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// The time for each operation.
const WAIT: Duration = Duration::from_secs(3);
/// The tool whose argument is the input schema of another tool, as the client received it.
const SCHEMA_ECHO: &str = "json_schema_echo";
/// The tool whose schema is sent back.
const SCHEMA_TOOL: &str = "json_schema_2020_12_tool";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().ok_or("the URL is missing")?;
    let http = Http::new(endpoint(&url)?);
    let options = Options {
        name: "agent-conformance-client".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        generations: Generations::Both,
        limits: Limits::default(),
    };
    let mut client = Client::connect(http, &options, &Wait::time(WAIT)).await?;
    let list = client.list_tools(&Wait::time(WAIT)).await?;
    let list: Value = serde_json::from_str(list.json.as_str())?;
    let mut out = std::io::stdout();
    for (name, arguments) in calls(&list)? {
        let arguments = arguments.to_string();
        let wait = Wait::time(WAIT);
        let called = client.call_tool(&name, arguments.as_bytes(), &wait);
        // The suite judges the requests that it received. A failed call decides nothing.
        match called.await {
            Ok(result) => writeln!(out, "{name}: {}", result.as_str())?,
            Err(error) => writeln!(out, "{name}: {error}")?,
        }
    }
    client.close(&Wait::time(WAIT)).await?;
    Ok(())
}

/// Returns the endpoint of a URL of the loopback interface.
fn endpoint(url: &str) -> Result<Endpoint, Box<dyn Error>> {
    let rest = url.strip_prefix("http://localhost:");
    let rest = rest.ok_or("the URL does not begin with `http://localhost:`")?;
    let (port, path) = rest.split_once('/').unwrap_or((rest, ""));
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse()?));
    let target = Target::new(Scheme::Http, "localhost", address)?;
    Ok(Endpoint::new(
        Arc::new(WayOut::new(Roots::default())),
        target,
        format!("/{path}"),
        HeaderMap::new(),
        agent_way_out::Limits::default(),
    ))
}

/// Returns the calls that the scenario names, or else one call of each tool.
fn calls(list: &Value) -> Result<Vec<(String, Value)>, Box<dyn Error>> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    let context: Value = serde_json::from_str(&context)?;
    let named = |call: &Value| call["name"].as_str().unwrap_or_default().to_owned();
    if let Some(calls) = context["toolCalls"].as_array() {
        let calls = calls
            .iter()
            .map(|call| (named(call), call["arguments"].clone()));
        return Ok(calls.collect());
    }
    let tools = list["tools"].as_array().ok_or("the list has no tools")?;
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
    Ok(calls.collect())
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
