//! Spans of requests and of forwarded calls \[OpenTelemetry: semantic conventions for GenAI and MCP\].
//!
//! A span says what was decided, and never what was said: no arguments, no results, no messages of servers.
//! What a client chooses freely is in no span but the id of its request.

use super::overview::{is, list, text};
use super::servers::Link;
use agent_host::contract::session::{AuditRecord, CallFailure};
use agent_mcp_protocol::{Id, Json, Version};
use agent_mcp_server::{Client, Response};
use agent_syntax::Node;
use agent_syntax::json::parse_strict;
use agent_syntax::members::member;
use agent_telemetry::{CANCELLED, Kind, OpenSpan, Span, Spans, TraceContext, Value};
use std::cell::RefCell;

/// The methods that spans name. Others would be texts of clients.
const METHODS: [&str; 19] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    CALL,
    "tools/list",
];

const CALL: &str = "tools/call";

/// What an unknown method, or an unknown failure, is called.
const OTHER: &str = "_OTHER";

/// A tool that reports an error in its result.
const TOOL_ERROR: &str = "tool_error";

/// The span of a request, if spans are recorded. Dropping it ends it as cancelled.
pub(crate) struct RequestSpan {
    open: Option<OpenSpan>,
    /// The name that the server has for a tool, once it is decided.
    tool: RefCell<Option<String>>,
}

/// The span of a call that is passed on to a server. Dropping it ends it as cancelled.
pub(crate) struct ForwardSpan(Option<OpenSpan>);

impl RequestSpan {
    /// Begins the span of a request, within the one that the client names in `_meta`.
    pub(crate) fn begin(
        spans: Option<&Spans>,
        (id, method, params): (&Id, &str, Option<&Json>),
        (agent, client): (&str, &Client),
    ) -> Self {
        let begin = || {
            let spans = spans?;
            let method = METHODS.into_iter().find(|it| *it == method);
            let method = method.unwrap_or(OTHER);
            let parent = params.and_then(|it| it.member("_meta")?.member("traceparent"));
            let parent = parent.and_then(|it| TraceContext::parse(&it.string()?));
            let open = OpenSpan::begin(spans, Kind::Server, method, parent)?;
            open.with(|span| {
                span.text("mcp.method.name", method);
                span.text("jsonrpc.request.id", &shown(id));
                span.text("agent.client.id", &client.id);
                if !agent.is_empty() {
                    span.text("agent.name", agent);
                }
                if method == CALL {
                    span.text("gen_ai.operation.name", "execute_tool");
                }
                let is_local = client.kind == "local";
                transport(span, !is_local);
                if let (false, Some(session)) = (is_local, &client.session) {
                    span.text("mcp.session.id", session);
                }
            });
            Some(open)
        };
        Self {
            open: begin(),
            tool: RefCell::default(),
        }
    }

    /// Takes the version of the protocol.
    pub(crate) fn speaks(&self, version: Option<Version>) {
        if let (Some(open), Some(version)) = (&self.open, version) {
            open.with(|span| span.text("mcp.protocol.version", version.name()));
        }
    }

    /// Takes what was decided about a call.
    pub(crate) fn decided(&self, records: &[AuditRecord]) {
        let Some(open) = &self.open else { return };
        each(records, "decision", |record, content| {
            open.with(|span| {
                span.text("agent.decision", text(content, "action"));
                span.set("agent.observe", Value::Flag(is(record, "observe")));
                span.text("agent.call.id", text(content, "call"));
                codes(
                    span,
                    list(content, "reasons").iter().map(|it| text(it, "code")),
                );
                let lock = member(content, "documents").map_or("", |it| text(it, "lock"));
                for (name, value) in [
                    ("agent.lock.digest", lock),
                    ("agent.server.id", text(content, "server")),
                    ("agent.server.version", text(content, "version")),
                ] {
                    if !value.is_empty() {
                        span.text(name, value);
                    }
                }
                // A name that no server has is a text of the client.
                let (name, tool) = (text(content, "name"), text(content, "tool"));
                if text(content, "server").is_empty() {
                    return;
                }
                span.rename(&format!("{CALL} {name}"));
                span.text("gen_ai.tool.name", name);
                if tool != name {
                    span.text("agent.tool.name", tool);
                }
                self.tool.replace(Some(tool.to_owned()));
            });
        });
    }

    /// Begins the span of the call that is passed on.
    pub(crate) fn forward(&self, link: Option<&Link>) -> ForwardSpan {
        let begin = || {
            let open = self.open.as_ref()?;
            let tool = self.tool.borrow().clone()?;
            let name = format!("{CALL} {tool}");
            let forward = OpenSpan::begin(open.spans(), Kind::Client, &name, open.context())?;
            forward.with(|span| {
                span.text("mcp.method.name", CALL);
                span.text("gen_ai.operation.name", "execute_tool");
                span.text("gen_ai.tool.name", &tool);
                let Some(link) = link else { return };
                span.text("mcp.protocol.version", &link.protocol);
                transport(span, link.address.is_some());
                if let Some((host, port)) = &link.address {
                    span.text("server.address", host);
                    span.set("server.port", Value::Number((*port).into()));
                }
            });
            Some(forward)
        };
        ForwardSpan(begin())
    }

    /// Ends the span with the response; `None` for a request that was cancelled.
    pub(crate) fn ends(self, method: &str, response: Option<&Response>) {
        let Some(open) = self.open else { return };
        match response {
            Some(Response {
                error: Some(code), ..
            }) => rpc_error(&open, *code),
            Some(response) if method == CALL && is_tool_error(&response.message) => {
                open.fail(TOOL_ERROR);
            }
            Some(_) => {}
            None => open.fail(CANCELLED),
        }
        open.end();
    }
}

impl ForwardSpan {
    /// Returns the `traceparent` of the server's span, if spans are recorded.
    pub(crate) fn traceparent(&self) -> Option<String> {
        let context = self.0.as_ref()?.context()?;
        Some(context.traceparent())
    }

    /// Takes the result of the call.
    pub(crate) fn received(&self, called: Result<&Json, &CallFailure>) {
        let Some(open) = &self.0 else { return };
        match called {
            Ok(result) if has_error(result) => open.fail(TOOL_ERROR),
            Ok(_) => {}
            Err(CallFailure::ServerError(error)) => rpc_error(open, error.code),
            Err(CallFailure::TimedOut) => open.fail("timeout"),
            Err(CallFailure::Closed) => open.fail("connection_closed"),
            Err(CallFailure::TooLarge) => open.fail("response_too_large"),
            Err(CallFailure::Unreadable) => open.fail("response_unreadable"),
            Err(CallFailure::Cancelled) => open.fail(CANCELLED),
        }
    }

    /// Ends the span with what the client gets.
    pub(crate) fn end(self, records: &[AuditRecord]) {
        let Some(open) = self.0 else { return };
        each(records, "effect", |_, content| {
            open.with(|span| {
                span.text("agent.outcome", text(content, "outcome"));
                codes(
                    span,
                    list(content, "codes").iter().map(super::overview::plain),
                );
            });
        });
        open.end();
    }
}

/// Reads the records of a kind, each with its content.
fn each(records: &[AuditRecord], kind: &str, mut read: impl FnMut(&Node<'_>, &Node<'_>)) {
    for record in records {
        if let Some(record) = parse_strict(&record.line)
            && text(&record, "kind") == kind
            && let Some(content) = member(&record, "content")
        {
            read(&record, content);
        }
    }
}

fn codes<'c>(span: &mut Span, codes: impl Iterator<Item = &'c str>) {
    let codes: Vec<_> = codes.map(str::to_owned).collect();
    if let Some(first) = codes.first() {
        span.text("agent.code", first);
        span.set("agent.codes", Value::Texts(codes));
    }
}

fn transport(span: &mut Span, is_http: bool) {
    span.text("network.transport", if is_http { "tcp" } else { "pipe" });
    if is_http {
        span.text("network.protocol.name", "http");
    }
}

fn rpc_error(open: &OpenSpan, code: i64) {
    let code = code.to_string();
    open.with(|span| span.text("rpc.response.status_code", &code));
    open.fail(&code);
}

/// Returns the text of an id.
fn shown(id: &Id) -> String {
    let json = id.to_json();
    let text = Json::new(json.clone().into_bytes()).ok();
    text.and_then(|it| it.string()).unwrap_or(json)
}

fn is_tool_error(message: &str) -> bool {
    let message = Json::new(message.as_bytes().to_vec()).ok();
    let result = message.and_then(|it| it.member("result"));
    result.is_some_and(|it| has_error(&it))
}

fn has_error(result: &Json) -> bool {
    let error = result.member("isError");
    error.is_some_and(|it| it.as_str() == "true")
}
