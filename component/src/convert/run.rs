//! Conversions for runs.

use super::all;
use crate::bindings::exports::agent::engine::run;

same! {
    agent_api::decide::CallResult = run::CallResult {
        ToolResult ToolResultWithSummary NeedsMoreInfo Blocked Error
    }
    agent_run::DriverKind = run::DriverKind { Noop Http McpProxy RestrictedShell }
    agent_run::FailureKind = run::FailureKind { Timeout LimitExceeded Unavailable Failed }
    agent_run::Mode = run::Mode { CarryOut Decide Preview Ask }
    agent_run::PlannerTask = run::PlannerTask { Steps Call Summary }
    agent_run::StoreMode = run::StoreMode { Replace Append }
}

alike! {
    agent_run::Aborted = run::Aborted { stderr, stderr_truncated; failure; }
    agent_run::Approval = run::Approval { step_id, digest, subject; ; }
    agent_run::Clock = run::Clock { unix_ms, monotonic_ms, utc_offset_minutes; ; }
    agent_run::Exited = run::Exited { code, stdout, stderr, stderr_truncated; ; }
    agent_run::Failure = run::Failure { message; kind; }
    agent_run::Goal = run::Goal { text, context, planner; ; }
    agent_run::Handler = run::Handler { digest, is_builtin; driver_kind; }
    agent_run::HandlerCall = run::HandlerCall {
        handler, input, max_output_bytes, max_log_bytes, timeout_ms; driver_kind;
    }
    agent_run::HandlerRequest = run::HandlerRequest { method, url, headers, body; ; }
    agent_run::Header = run::Header { name; value; }
    agent_run::Opened = run::Opened { protocol, is_unsandboxed, has_host_network, package; ; }
    agent_run::Planning = run::Planning { request, max_bytes, timeout_ms; task; }
    agent_run::Program = run::Program {
        path, arguments, stdin, max_output_bytes, max_log_bytes, timeout_ms; ;
    }
    agent_run::Resolve = run::Resolve { host, port, timeout_ms; ; }
    agent_run::Response = run::HttpResponse { status, content_type, body; ; }
    agent_run::Secret = run::Secret { name, value; ; }
    agent_run::Store = run::Store { path, content; mode; }
    agent_run::ToolCall = run::ToolCall { tool, arguments, timeout_ms; ; }
}

impl From<agent_run::Action> for run::Action {
    fn from(action: agent_run::Action) -> Self {
        use agent_run::Action;
        match action {
            Action::Store(it) => Self::Store(it.into()),
            Action::Approve(it) => Self::Approve(it.into()),
            Action::Plan(it) => Self::Plan(it.into()),
            Action::Resolve(it) => Self::Resolve(it.into()),
            Action::Request(it) => Self::Request(it.into()),
            Action::CallHandler(it) => Self::CallHandler(it.into()),
            Action::ResumeHandler(it) => Self::ResumeHandler(it.into()),
            Action::RunProgram(it) => Self::RunProgram(it.into()),
            Action::OpenServer(it) => Self::OpenServer(it.into()),
            Action::ListTools { timeout_ms } => Self::ListTools(timeout_ms),
            Action::CallTool(it) => Self::CallTool(it.into()),
            Action::Finished(it) => Self::Finished(it.into()),
        }
    }
}

impl From<agent_run::Connection> for run::Connection {
    fn from(connection: agent_run::Connection) -> Self {
        Self {
            tls: connection.tls,
            host: connection.host,
            port: connection.port,
            address: connection.address.to_string(),
        }
    }
}

impl From<agent_run::Request> for run::HttpRequest {
    fn from(request: agent_run::Request) -> Self {
        Self {
            connection: request.connection.into(),
            method: request.method,
            target: request.target,
            headers: all(request.headers),
            body: request.body,
            max_body_bytes: request.max_body_bytes,
            timeout_ms: request.timeout_ms,
        }
    }
}

impl From<agent_run::HeaderValue> for run::HeaderValue {
    fn from(value: agent_run::HeaderValue) -> Self {
        match value {
            agent_run::HeaderValue::Literal(value) => Self::Literal(value),
            agent_run::HeaderValue::Secret(name) => Self::Secret(name),
        }
    }
}

impl From<run::HeaderValue> for agent_run::HeaderValue {
    fn from(value: run::HeaderValue) -> Self {
        match value {
            run::HeaderValue::Literal(value) => Self::Literal(value),
            run::HeaderValue::Secret(name) => Self::Secret(name),
        }
    }
}

impl From<agent_run::Reply> for run::Reply {
    fn from(reply: agent_run::Reply) -> Self {
        match reply {
            agent_run::Reply::Response(it) => Self::Response(it.into()),
            agent_run::Reply::Exited(it) => Self::Exited(it.into()),
            agent_run::Reply::Payload(it) => Self::Payload(it),
        }
    }
}

impl From<agent_run::Server> for run::Server {
    fn from(server: agent_run::Server) -> Self {
        Self {
            id: server.id,
            version: server.version,
            endpoint: server.endpoint,
            connection: server.connection.map(Into::into),
            target: server.target,
            max_message_bytes: server.max_message_bytes,
            timeout_ms: server.timeout_ms,
        }
    }
}

impl From<agent_run::Finished> for run::Finished {
    fn from(finished: agent_run::Finished) -> Self {
        Self {
            status: match finished.status {
                agent_run::Status::Completed => run::Status::Completed,
                agent_run::Status::Cancelled => run::Status::Cancelled,
                // A run is never skipped, as a step can be.
                agent_run::Status::Failed | agent_run::Status::Skipped => run::Status::Failed,
            },
            code: finished.code.map(Into::into),
            message: finished.message,
            directory: finished.directory,
            evidence_complete: finished.evidence_complete,
            summary: finished.summary,
            result: finished.result.map(Into::into),
            answer: finished.answer,
            text: all(finished.text),
            diagnostics: all(finished.diagnostics),
        }
    }
}

impl From<run::Handled> for agent_run::Handled {
    fn from(handled: run::Handled) -> Self {
        Self {
            event: handled.event.into(),
            log: handled.log,
            log_truncated: handled.log_truncated,
        }
    }
}

impl From<run::HandlerEvent> for agent_run::HandlerEvent {
    fn from(event: run::HandlerEvent) -> Self {
        match event {
            run::HandlerEvent::Returned(output) => Self::Returned(output),
            run::HandlerEvent::Failed(failure) => Self::Failed(failure.into()),
            run::HandlerEvent::Request(request) => Self::Request(request.into()),
            run::HandlerEvent::Program(program) => Self::Program {
                path: program.path,
                arguments: program.arguments,
                stdin: program.stdin,
            },
            run::HandlerEvent::Tool(arguments) => Self::Tool { arguments },
        }
    }
}

impl From<run::Outcome> for agent_run::Outcome {
    fn from(outcome: run::Outcome) -> Self {
        match outcome {
            run::Outcome::Stored => Self::Stored,
            run::Outcome::Failed(failure) => Self::Failed(failure.into()),
            run::Outcome::Aborted(aborted) => Self::Aborted(aborted.into()),
            run::Outcome::Decision(decision) => Self::Decision {
                approved: decision.approved,
                by: decision.by,
            },
            run::Outcome::Addresses(addresses) => Self::Addresses(addresses),
            run::Outcome::Handler(handled) => Self::Handler(handled.into()),
            run::Outcome::Response(response) => Self::Response(response.into()),
            run::Outcome::Exited(exited) => Self::Exited(exited.into()),
            run::Outcome::Opened(opened) => Self::Opened(opened.into()),
            run::Outcome::Bytes(bytes) => Self::Bytes(bytes),
        }
    }
}
