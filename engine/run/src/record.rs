//! What evidence holds of actions and their outcomes: facts and digests, no content.

use super::action::{
    Action, Connection, Failure, FailureKind, HandlerEvent, Header, HeaderValue, Outcome, Reply,
};
use agent_api::lower::bytes_digest;
use agent_api::text::Span;
use agent_record::Redactor;
use agent_syntax::json::{Writer, parse_strict};

/// Maximum size of a list of tools that evidence keeps as a whole, in bytes. It keeps the digest of a larger
/// one.
const KEPT_LIST_MAX_BYTES: usize = 1 << 20;

/// Writes the facts of an action.
pub(crate) fn action(w: &mut Writer, action: &Action) {
    match action {
        // Evidence about evidence would never end.
        Action::Store(_) | Action::Finished(_) => {}
        Action::Approve(approval) => w.key("digest").string(&approval.digest),
        Action::Plan(planning) => {
            number(w, "max_bytes", planning.max_bytes);
            w.key("request")
                .object(|w| content(w, planning.request.as_bytes()));
            w.key("task").string(planning.task.name());
            number(w, "timeout_ms", planning.timeout_ms);
        }
        Action::Resolve(resolve) => {
            w.key("host").string(&resolve.host);
            number(w, "port", resolve.port.into());
        }
        Action::Request(request) => {
            w.key("body")
                .object(|w| content(w, request.body.as_deref().unwrap_or_default()));
            connection(w, &request.connection);
            w.key("headers")
                .array(|w| request.headers.iter().for_each(|it| header(w, it)));
            number(w, "max_body_bytes", request.max_body_bytes);
            w.key("method").string(&request.method);
            w.key("target").string(&request.target);
            number(w, "timeout_ms", request.timeout_ms);
        }
        Action::CallHandler(call) => {
            w.key("driver_kind").string(call.driver_kind.name());
            if let Some(handler) = &call.handler {
                w.key("handler").string(handler);
            }
            w.key("input").object(|w| content(w, call.input.as_bytes()));
            number(w, "max_log_bytes", call.max_log_bytes);
            number(w, "max_output_bytes", call.max_output_bytes);
            number(w, "timeout_ms", call.timeout_ms);
        }
        Action::ResumeHandler(reply) => {
            w.key("reply").string(match reply {
                Reply::Response(_) => "response",
                Reply::Exited(_) => "exited",
                Reply::Payload(_) => "payload",
            });
        }
        Action::RunProgram(program) => {
            let arguments = program.arguments.iter().map(|it| &**it);
            w.key("arguments").strings(arguments);
            number(w, "max_log_bytes", program.max_log_bytes);
            number(w, "max_output_bytes", program.max_output_bytes);
            w.key("path").string(&program.path);
            w.key("stdin").object(|w| content(w, &program.stdin));
            number(w, "timeout_ms", program.timeout_ms);
        }
        Action::OpenServer(server) => {
            if let Some(it) = &server.connection {
                connection(w, it);
            }
            w.key("endpoint").string(&server.endpoint);
            w.key("id").string(&server.id);
            number(w, "timeout_ms", server.timeout_ms);
            w.key("version").string(&server.version);
        }
        Action::ListTools { timeout_ms } => number(w, "timeout_ms", *timeout_ms),
        Action::CallTool(call) => {
            w.key("arguments")
                .object(|w| content(w, call.arguments.as_bytes()));
            number(w, "timeout_ms", call.timeout_ms);
            w.key("tool").string(&call.tool);
        }
    }
}

/// Writes the facts of an outcome.
pub(crate) fn outcome(w: &mut Writer, outcome: &Outcome) {
    match outcome {
        Outcome::Stored => {}
        Outcome::Failed(it) => w.key("failure").object(|w| failure(w, it)),
        Outcome::Aborted(aborted) => {
            w.key("failure").object(|w| failure(w, &aborted.failure));
            w.key("stderr").object(|w| content(w, &aborted.stderr));
        }
        Outcome::Decision { approved, by } => {
            w.key("approved").bool(*approved);
            w.key("by").string(by);
        }
        Outcome::Addresses(addresses) => {
            w.key("addresses").strings(addresses.iter().map(|it| &**it));
        }
        Outcome::Handler(handled) => {
            w.key("log").object(|w| content(w, &handled.log));
            match &handled.event {
                HandlerEvent::Returned(output) => {
                    w.key("returned").object(|w| content(w, output));
                }
                HandlerEvent::Failed(it) => w.key("rose").object(|w| failure(w, it)),
                HandlerEvent::Request(request) => w.key("wants_request").object(|w| {
                    let body = request.body.as_deref().unwrap_or_default();
                    w.key("body").object(|w| content(w, body));
                    w.key("headers")
                        .strings(request.headers.iter().map(|(name, _)| &**name));
                    w.key("method").string(&request.method);
                    w.key("url").string(&request.url);
                }),
                HandlerEvent::Program {
                    path,
                    arguments,
                    stdin,
                } => w.key("wants_program").object(|w| {
                    w.key("arguments").strings(arguments.iter().map(|it| &**it));
                    w.key("path").string(path);
                    w.key("stdin").object(|w| content(w, stdin));
                }),
                HandlerEvent::Tool { arguments } => w.key("wants_tool").object(|w| {
                    w.key("arguments").object(|w| content(w, arguments));
                }),
            }
        }
        Outcome::Response(response) => {
            w.key("body").object(|w| content(w, &response.body));
            w.key("content_type").string(&response.content_type);
            number(w, "status", response.status.into());
        }
        Outcome::Exited(exited) => {
            w.key("exit_code").json(&exited.code.to_string());
            w.key("stderr").object(|w| content(w, &exited.stderr));
            w.key("stdout").object(|w| content(w, &exited.stdout));
        }
        Outcome::Opened(opened) => {
            w.key("host_network").bool(opened.has_host_network);
            if let Some(package) = &opened.package {
                w.key("package").string(package);
            }
            w.key("protocol").string(&opened.protocol);
            w.key("unsandboxed").bool(opened.is_unsandboxed);
        }
        Outcome::Bytes(bytes) => w.key("received").object(|w| content(w, bytes)),
    }
}

fn failure(w: &mut Writer, failure: &Failure) {
    w.key("kind").string(kind(failure.kind));
    w.key("message").string(&failure.message);
}

/// Writes the size and the digest of a content.
pub(crate) fn content(w: &mut Writer, bytes: &[u8]) {
    number(w, "bytes", bytes.len() as u64);
    w.key("digest").string(&bytes_digest(bytes));
}

/// Writes a content with its size and the digest of its raw bytes, without its secret parts. Bytes that are
/// not JSON are recorded as text.
pub(crate) fn value(
    w: &mut Writer,
    bytes: &[u8],
    redactor: &Redactor,
    secret: impl Fn(&str) -> Vec<Span>,
) {
    content(w, bytes);
    let text = core::str::from_utf8(bytes).ok();
    let json = text.filter(|text| may_be_embedded(text));
    match json.and_then(|json| redactor.marked(json, &secret(json))) {
        Some(json) => w.key("value").json(&json),
        None => w.key("text").string(&redactor.log(bytes)),
    }
}

/// Returns whether a text is JSON that is also strict JSON within an episode, three levels down: the
/// limit of nesting is the same for both. A list of values, or none, is JSON only between brackets.
fn may_be_embedded(text: &str) -> bool {
    parse_strict(text).is_some() && parse_strict(&format!("[[[{text}]]]")).is_some()
}

/// Writes a list of tools as text, with its size and digest, if it is small enough to be kept as a whole.
/// It is not written as JSON: a schema is no secret, though a property may be called `password`.
pub(crate) fn listing(w: &mut Writer, list: &str, redactor: &Redactor) {
    content(w, list.as_bytes());
    if list.len() <= KEPT_LIST_MAX_BYTES {
        w.key("text").string(&redactor.text(list));
    }
}

/// Writes a member that is a whole number.
pub(crate) fn number(w: &mut Writer, key: &str, value: u64) {
    w.key(key).json(&value.to_string());
}

fn connection(w: &mut Writer, connection: &Connection) {
    w.key("connection").object(|w| {
        w.key("address").string(&connection.address.to_string());
        w.key("host").string(&connection.host);
        number(w, "port", connection.port.into());
        w.key("tls").bool(connection.tls);
    });
}

fn header(w: &mut Writer, header: &Header) {
    w.object(|w| {
        w.key("name").string(&header.name);
        match &header.value {
            HeaderValue::Literal(value) => w.key("value").string(value),
            HeaderValue::Secret(name) => w.key("value_of").string(name),
        }
    });
}

/// Returns the word of evidence for the kind of a failure.
fn kind(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Timeout => "timeout",
        FailureKind::LimitExceeded => "limit_exceeded",
        FailureKind::Unavailable => "unavailable",
        FailureKind::Failed => "failed",
    }
}
