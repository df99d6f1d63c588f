//! The MCP server that the present step talks to. It ends with the step.

use super::access::Access;
use super::connected::{ConnectError, Connection};
use super::effects::{aborted, failed};
use agent_host::contract::run::{FailureKind, Outcome, Server, ToolCall};
use agent_mcp_protocol::{Client, Error, Transport, Wait};
use agent_sandbox::Log;
use std::time::Duration;

/// Bytes that surround the result of a tool in its message, and bytes of the server's other messages meanwhile.
const ENVELOPE_BYTES: usize = 64 << 10;

/// The server of the present step.
#[derive(Default)]
pub(crate) struct StepServer {
    open: Option<Connection>,
    /// Maximum size of the result of a tool, in bytes.
    result_bytes: usize,
}

impl StepServer {
    /// Connects to a server, or starts it.
    pub(crate) async fn open(&mut self, server: &Server, access: &Access) -> Outcome {
        self.open = None;
        self.result_bytes = usize::try_from(server.max_message_bytes).unwrap_or(usize::MAX);
        match access.connect(server).await {
            Ok(connected) => {
                self.open = Some(connected.connection);
                Outcome::Opened(connected.opened)
            }
            Err(error) => lost(error),
        }
    }

    /// Lists the tools of the server.
    pub(crate) async fn list_tools(&mut self, timeout_ms: u64, access: &Access) -> Outcome {
        let wait = wait(timeout_ms);
        let listed = match &mut self.open {
            Some(Connection::Http(client)) => client.list_tools(&wait).await,
            Some(Connection::Stdio(client, _)) => client.list_tools(&wait).await,
            None => return failed(FailureKind::Failed, "no server is open".to_owned()),
        };
        match listed {
            Ok(list) => Outcome::Bytes(list.json.bytes().to_vec()),
            Err(error) => {
                let ended = match self.open.take() {
                    Some(Connection::Stdio(_, process)) => Some(process.end().await),
                    _ => None,
                };
                lost(ConnectError::lost(access, &error, ended))
            }
        }
    }

    /// Calls a tool of the server, and ends the connection: a step makes one call. Returns besides what a
    /// server that was started wrote to standard error, unless the outcome contains it.
    pub(crate) async fn call_tool(&mut self, call: ToolCall, access: &Access) -> (Outcome, Log) {
        let bytes = self.result_bytes.saturating_add(ENVELOPE_BYTES);
        let (called, ended) = match self.open.take() {
            Some(Connection::Http(client)) => (called(client, &call, bytes).await, None),
            Some(Connection::Stdio(client, process)) => {
                let called = called(client, &call, bytes).await;
                (called, Some(process.end().await))
            }
            None => {
                let none = failed(FailureKind::Failed, "no server is open".to_owned());
                return (none, Log::default());
            }
        };
        match called {
            Ok(result) => {
                let log = ended.map(|it| it.log).unwrap_or_default();
                (Outcome::Bytes(result), log)
            }
            Err(error) => (
                lost(ConnectError::lost(access, &error, ended)),
                Log::default(),
            ),
        }
    }
}

/// Calls a tool, whose result arrives in a message of at most `bytes`, and closes the connection.
async fn called<T: Transport>(
    mut client: Client<T>,
    call: &ToolCall,
    bytes: usize,
) -> Result<Vec<u8>, Error> {
    let wait = wait(call.timeout_ms);
    client.limit_messages(bytes);
    let called = client.call_tool(&call.tool, call.arguments.as_bytes(), &wait);
    let called = called.await.map(|result| result.bytes().to_vec());
    // What a server answers to the farewell changes nothing.
    let _ = client.close(&wait).await;
    called
}

fn wait(timeout_ms: u64) -> Wait {
    Wait::time(Duration::from_millis(timeout_ms))
}

/// Returns the outcome of a server that is not connected, or no longer.
fn lost(error: ConnectError) -> Outcome {
    match error.ended {
        Some(ended) => aborted(error.kind, error.message, ended.log),
        None => failed(error.kind, error.message),
    }
}
