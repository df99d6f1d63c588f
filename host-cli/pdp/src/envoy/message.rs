//! The message of MCP in a request, and who answers it.

use super::super::answer::Refusal;
use super::Verdict;
use super::attributes::{Attributes, Head};
use agent_host::contract::decision_point::{AskedRequest, Enforced, ReceivedResult};
use agent_host::contract::session;
use agent_mcp_protocol::message::{
    METHOD_NOT_FOUND, Message, on_one_line, write_result, write_unanswered_error,
};
use agent_mcp_protocol::{Generation, Id, Json, MirroredHeaders};
use agent_mcp_server::{HEADER_MISMATCH, check_given, check_mirrored, generation, single};
use agent_syntax::json::Writer;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName};
use hyper::{Method, StatusCode};
use std::rc::Rc;

/// JSON-RPC: the body is not a message.
const PARSE_ERROR: i64 = -32700;

/// JSON-RPC: the message is not one for a server.
const INVALID_REQUEST: i64 = -32600;

/// The notifications of a client that pass on.
const NOTIFICATIONS: [&str; 3] = [
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
];

/// Says that Envoy kept only a part of the body.
const PARTIAL: HeaderName = HeaderName::from_static("x-envoy-auth-partial-body");

/// The request that asks nothing of a server. What has no answer is decided like it.
const PING: &str = "ping";

/// What is asked about a request.
pub(crate) enum Asked {
    /// Nothing: this is its answer.
    Nothing(Verdict),
    /// Whether a message of MCP passes on.
    Message(Box<AskedRequest>, Passed),
}

/// A message of MCP that a client has sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passed {
    /// None of a message that has no answer.
    pub(super) id: Option<Id>,
    generation: Generation,
    server: String,
    tenant: Option<String>,
    method: String,
    params: Option<Json>,
}

/// Reads a request. `list` returns the locked tools of its server, as a result of `tools/list`.
///
/// # Errors
///
/// The request is none of MCP over HTTP, or its body was cut off.
pub(crate) fn asked(
    attributes: Attributes,
    list: impl FnOnce(&str) -> Result<Vec<u8>, Refusal>,
) -> Result<Asked, Refusal> {
    let Attributes {
        server,
        agent,
        tenant,
        subject,
        head: Head { method, headers },
        body,
    } = attributes;
    let message = |id, method: String, params: Option<Json>, generation| {
        let asked = AskedRequest {
            server: server.clone(),
            method: method.clone(),
            params: params.as_ref().map(|it| it.as_str().as_bytes().to_vec()),
            subject,
            agent,
            generation: of_contract(generation),
        };
        let request = Passed {
            id,
            generation,
            server: server.clone(),
            tenant,
            method,
            params,
        };
        Ok(Asked::Message(Box::new(asked), request))
    };
    let of_head = generation(&headers, None);
    match method {
        Method::POST => {}
        // A stream of notifications, and the end of a session.
        Method::GET | Method::DELETE if body.is_empty() => {
            return message(None, PING.to_owned(), None, of_head);
        }
        _ => {
            let text = "the request is none of MCP over HTTP";
            return Err(Refusal::of_http(StatusCode::METHOD_NOT_ALLOWED, text));
        }
    }
    refuse_unreadable(&headers)?;
    let invalid = |code, text: &str| {
        let body = write_unanswered_error(code, text);
        Ok(Asked::Nothing(Verdict::Answered { status: 400, body }))
    };
    let (id, method, params) = match Message::read(body) {
        Err(malformed) => return invalid(PARSE_ERROR, &malformed.what),
        Ok(Message::Notification { method, .. }) if NOTIFICATIONS.contains(&&*method) => {
            return message(None, PING.to_owned(), None, of_head);
        }
        Ok(Message::Notification { .. }) => {
            return invalid(INVALID_REQUEST, "the notification is not passed on");
        }
        // Servers get no answers. One that only says that the client is there, or that it has none, passes on.
        Ok(Message::Response { outcome, .. }) if outcome.as_ref().is_ok_and(|it| !is_empty(it)) => {
            let text = "answers to a server's requests are not passed on";
            return invalid(INVALID_REQUEST, text);
        }
        Ok(Message::Response { .. }) => return message(None, PING.to_owned(), None, of_head),
        Ok(Message::Request { id, method, params }) => (id, method, params),
    };
    let generation = generation(&headers, params.as_ref());
    let checked = match (generation, &*method) {
        // Older clients need not send them.
        (Generation::Sessions, _) => check_given(&headers, &method, params.as_ref()),
        (Generation::Stateless, "tools/call") => {
            let list = Json::new(list(&server)?).unwrap_or_else(|_| Json::empty_object());
            let tools = || Rc::new(MirroredHeaders::of_list(&list));
            check_mirrored(&headers, &method, params.as_ref(), tools)
        }
        // No other method has arguments that headers repeat.
        (Generation::Stateless, _) => {
            check_mirrored(&headers, &method, params.as_ref(), Rc::default)
        }
    };
    if let Err(text) = checked {
        let request = Passed {
            id: Some(id),
            generation,
            server,
            tenant: None,
            method,
            params: None,
        };
        let (status, body) = request.error(HEADER_MISMATCH, &text, None);
        return Ok(Asked::Nothing(Verdict::Answered { status, body }));
    }
    message(Some(id), method, params, generation)
}

/// Refuses a body that Envoy did not keep whole, or that is not plain JSON.
fn refuse_unreadable(headers: &HeaderMap) -> Result<(), Refusal> {
    let one = |name: &HeaderName| single(headers, name).ok().flatten();
    if headers.contains_key(&PARTIAL) && one(&PARTIAL) != Some("false") {
        let text = "Envoy kept only a part of the body";
        return Err(Refusal::of_http(StatusCode::PAYLOAD_TOO_LARGE, text));
    }
    let kind = one(&CONTENT_TYPE).and_then(|it| it.split(';').next());
    let is_json = kind.is_some_and(|it| it.trim().eq_ignore_ascii_case("application/json"));
    match is_json && !headers.contains_key(CONTENT_ENCODING) {
        true => Ok(()),
        false => {
            let text = "the body is not plain `application/json`";
            Err(Refusal::of_http(StatusCode::UNSUPPORTED_MEDIA_TYPE, text))
        }
    }
}

impl Passed {
    /// Returns what Envoy does with the message.
    pub(crate) fn verdict(self, enforced: Enforced) -> Verdict {
        match self.answer(enforced) {
            None => Verdict::Passes(self),
            Some((status, body)) => Verdict::Answered { status, body },
        }
    }

    /// Returns the status and the body of what the client gets. Nothing if the message, or its answer, passes as it is.
    pub(super) fn answer(&self, enforced: Enforced) -> Option<(u16, String)> {
        match enforced {
            Enforced::Passed => None,
            Enforced::Answered(result) => Some(self.result(result)),
            Enforced::Failed(error) => Some(self.error(error.code, &error.message, error.data)),
        }
    }

    /// Returns the tenant that has to decide, if its route says one.
    pub(crate) fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Returns what is asked about a result of the server for it.
    pub(crate) fn received(&self, result: &Json) -> ReceivedResult {
        let name = self.params.as_ref().and_then(|it| it.member("name"));
        ReceivedResult {
            server: self.server.clone(),
            method: self.method.clone(),
            tool: name.and_then(|it| it.string()),
            generation: of_contract(self.generation),
            result: result.as_str().as_bytes().to_vec(),
        }
    }

    fn result(&self, result: Vec<u8>) -> (u16, String) {
        match (&self.id, Json::new(result)) {
            (Some(id), Ok(result)) => (200, write_result(id, &on_one_line(&result))),
            _ => self.error(INVALID_REQUEST, "the message is not passed on", None),
        }
    }

    /// Returns the status and the body of an error.
    pub(super) fn error(&self, code: i64, message: &str, data: Option<Vec<u8>>) -> (u16, String) {
        let data = data.and_then(|it| String::from_utf8(it).ok());
        let id = self.id.as_ref().map(Id::to_json);
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("error").object(|w| {
                w.key("code").json(&code.to_string());
                if let Some(data) = &data {
                    w.key("data").json(data);
                }
                w.key("message").string(message);
            });
            w.key("id").json(id.as_deref().unwrap_or("null"));
            w.key("jsonrpc").string("2.0");
        });
        let status = match (&self.id, self.generation, code) {
            (None, ..) => 403,
            (_, Generation::Stateless, METHOD_NOT_FOUND) => 404,
            (_, _, HEADER_MISMATCH) => 400,
            _ => 200,
        };
        (status, w.finish())
    }
}

fn of_contract(generation: Generation) -> session::Generation {
    match generation {
        Generation::Sessions => session::Generation::Sessions,
        Generation::Stateless => session::Generation::Stateless,
    }
}

/// Returns whether an object has no member.
fn is_empty(object: &Json) -> bool {
    object.as_str()[1..].trim_start().starts_with('}')
}
