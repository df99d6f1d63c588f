//! MCP servers: the one that the present step talks to.

use super::effects::failed;
use super::requests::target;
use agent_host::contract::run::{FailureKind, Outcome, Server, ToolCall};
use agent_mcp::{Client, Endpoint, Error, Generations, Http, Limits, Options, Wait};
use agent_way_out::{HeaderMap, WayOut};
use std::sync::Arc;
use std::time::Duration;

/// The name by which servers know this client.
const CLIENT: &str = "agent";

/// The connection of the present step to its server.
#[derive(Default)]
pub(crate) struct Servers(Option<Client<Http<Endpoint>>>);

impl Servers {
    /// Connects to a server.
    pub(crate) async fn open(&mut self, server: Server, way_out: Arc<WayOut>) -> Outcome {
        self.0 = None;
        let Some(connection) = &server.connection else {
            let message = format!("this host starts no servers such as `{}`", server.endpoint);
            return failed(FailureKind::Unavailable, message);
        };
        let target = match target(connection) {
            Ok(target) => target,
            Err(message) => return failed(FailureKind::Failed, message),
        };
        let limits = agent_way_out::Limits::default();
        let endpoint = Endpoint::new(way_out, target, server.target, HeaderMap::new(), limits);
        let bytes = usize::try_from(server.max_message_bytes).unwrap_or(usize::MAX);
        let options = Options {
            name: CLIENT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            generations: Generations::Both,
            limits: Limits {
                // A list of tools is larger than the result of one.
                frame_bytes: Limits::default().frame_bytes.max(bytes),
                ..Limits::default()
            },
        };
        match Client::connect(Http::new(endpoint), &options, &wait(server.timeout_ms)).await {
            Ok(client) => {
                let protocol = client.version().name().to_owned();
                self.0 = Some(client);
                Outcome::Opened(protocol)
            }
            Err(error) => lost(&error),
        }
    }

    /// Lists the tools of the server.
    pub(crate) async fn list_tools(&mut self, timeout_ms: u64) -> Outcome {
        let Some(client) = &mut self.0 else {
            return failed(FailureKind::Failed, "no server is open".to_owned());
        };
        match client.list_tools(&wait(timeout_ms)).await {
            Ok(list) => Outcome::Bytes(list.json.bytes().to_vec()),
            Err(error) => lost(&error),
        }
    }

    /// Calls a tool of the server, and ends the connection: a step makes one call.
    pub(crate) async fn call_tool(&mut self, call: ToolCall) -> Outcome {
        let Some(mut client) = self.0.take() else {
            return failed(FailureKind::Failed, "no server is open".to_owned());
        };
        let wait = wait(call.timeout_ms);
        let called = client.call_tool(&call.tool, call.arguments.as_bytes(), &wait);
        let outcome = match called.await {
            Ok(result) => Outcome::Bytes(result.bytes().to_vec()),
            Err(error) => lost(&error),
        };
        // What a server answers to the farewell changes nothing.
        let _ = client.close(&wait).await;
        outcome
    }
}

fn wait(timeout_ms: u64) -> Wait {
    Wait::time(Duration::from_millis(timeout_ms))
}

fn lost(error: &Error) -> Outcome {
    let kind = match error {
        Error::Timeout => FailureKind::Timeout,
        Error::TooLarge { .. } | Error::TooMany { .. } => FailureKind::LimitExceeded,
        _ => FailureKind::Failed,
    };
    failed(kind, error.to_string())
}
