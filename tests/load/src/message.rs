//! Messages of clients, of both generations of MCP.

use crate::http::request;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// The version with sessions.
pub const SESSIONS: &str = "2025-11-25";

/// The version without sessions.
pub const STATELESS: &str = "2026-07-28";

/// The way in which both sides talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// 2025-11-25: a session is opened first.
    Sessions,
    /// 2026-07-28: each request stands alone.
    Stateless,
}

impl Generation {
    /// Returns its word on command lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Stateless => "stateless",
        }
    }

    /// Returns its version of the protocol.
    #[must_use]
    pub fn version(self) -> &'static str {
        match self {
            Self::Sessions => SESSIONS,
            Self::Stateless => STATELESS,
        }
    }
}

/// Where a client reaches an endpoint, and how it identifies itself.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The address.
    pub address: SocketAddr,
    /// The path.
    pub path: String,
    /// The bearer token; empty for none.
    pub token: String,
}

/// Writes a message on one line.
#[must_use]
pub fn message(generation: Generation, id: Option<u64>, method: &str, mut params: Value) -> String {
    if generation == Generation::Stateless {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        params["_meta"]["io.modelcontextprotocol/clientInfo"] =
            json!({ "name": "load", "version": "1" });
    }
    let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    if let Some(id) = id {
        message["id"] = json!(id);
    }
    message.to_string()
}

/// Returns the parameters of `initialize`.
#[must_use]
pub fn initialize() -> Value {
    json!({
        "protocolVersion": SESSIONS, "capabilities": {},
        "clientInfo": { "name": "load", "version": "1" },
    })
}

/// Returns the parameters of a call of a tool.
#[must_use]
pub fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

impl Endpoint {
    /// Writes the HTTP request with a message. `session` is the id of an open session, and `name` the tool that is
    /// called.
    #[must_use]
    pub fn post(
        &self,
        generation: Generation,
        session: Option<&str>,
        (method, name): (&str, Option<&str>),
        body: &str,
    ) -> Vec<u8> {
        let authorization = format!("Bearer {}", self.token);
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        if !self.token.is_empty() {
            headers.push(("Authorization", &authorization));
        }
        match generation {
            Generation::Stateless => {
                headers.push(("MCP-Protocol-Version", STATELESS));
                headers.push(("Mcp-Method", method));
                headers.extend(name.map(|name| ("Mcp-Name", name)));
            }
            Generation::Sessions => {
                if let Some(session) = session {
                    headers.push(("MCP-Protocol-Version", SESSIONS));
                    headers.push(("Mcp-Session-Id", session));
                }
            }
        }
        let host = self.address.to_string();
        request("POST", &self.path, &host, &headers, body.as_bytes())
    }

    /// Writes the HTTP request that ends a session.
    #[must_use]
    pub fn delete(&self, session: &str) -> Vec<u8> {
        let authorization = format!("Bearer {}", self.token);
        let headers = [
            ("Authorization", &*authorization),
            ("Mcp-Session-Id", session),
        ];
        let host = self.address.to_string();
        request("DELETE", &self.path, &host, &headers, b"")
    }
}
