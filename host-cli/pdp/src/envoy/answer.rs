//! What a client gets of a server's answer.

use super::message::Passed;
use super::{Decide, INTERNAL_ERROR};
use agent_mcp_protocol::message::{Message, RpcError, on_one_line};
use agent_mcp_protocol::sse::{Decoder, Event};
use agent_mcp_protocol::{Id, Json};
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};

/// Maximum size of an answer in JSON, and of an event, in bytes.
pub(super) const ANSWER_BYTES: usize = 4 << 20;

/// The type of events that have messages.
const MESSAGE: &str = "message";

/// A comment, which keeps connections open.
const COMMENT: &[u8] = b":\n\n";

/// The notifications of a server that pass on.
const NOTIFICATIONS: [&str; 6] = [
    "notifications/cancelled",
    "notifications/progress",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/subscriptions/acknowledged",
    "notifications/tools/list_changed",
];

/// An answer to a request that has passed on.
pub(super) struct Answer {
    request: Passed,
    is_success: bool,
    body: Body,
}

/// What has come of its body, and has not passed on.
enum Body {
    /// One message, or a part of it.
    Whole(Vec<u8>),
    /// A part of an event.
    Events(Box<Decoder>),
    /// Nothing of it passes on.
    Withheld,
}

impl Answer {
    /// Returns the answer that begins with a head. Nothing if it is not one of MCP.
    pub(super) fn begin(request: Passed, status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let kind = kind.and_then(|it| it.split(';').next()).unwrap_or_default();
        let is = |name| kind.trim().eq_ignore_ascii_case(name);
        let is_plain = !headers.contains_key(CONTENT_ENCODING);
        let body = match status.is_success() {
            _ if is_plain && is("application/json") => Body::Whole(Vec::new()),
            true if is_plain && is("text/event-stream") => {
                Body::Events(Box::new(Decoder::new(ANSWER_BYTES)))
            }
            true => return None,
            // The status says enough.
            false => Body::Withheld,
        };
        Some(Self {
            request,
            is_success: status.is_success(),
            body,
        })
    }

    /// Returns what passes on for the next part of the body.
    pub(super) fn pass(&mut self, part: &[u8], is_last: bool, decide: &impl Decide) -> Vec<u8> {
        match &mut self.body {
            Body::Withheld => Vec::new(),
            Body::Whole(held) => {
                if held.len() + part.len() > ANSWER_BYTES {
                    self.body = Body::Withheld;
                    return self.too_large().into_bytes();
                }
                held.extend_from_slice(part);
                match is_last {
                    true => {
                        let whole = Bytes::from(std::mem::take(held));
                        self.body = Body::Withheld;
                        self.whole(whole, decide)
                    }
                    false => Vec::new(),
                }
            }
            Body::Events(decoder) => {
                let is_read = decoder.push(part).is_ok();
                let mut passed = Vec::new();
                while let Some(event) = decoder.next_event() {
                    if let Some(message) = of_event(&self.request, event, decide) {
                        write_event(&mut passed, &message);
                    }
                }
                if !is_read {
                    self.body = Body::Withheld;
                    write_event(&mut passed, &self.too_large());
                }
                // What is not whole at the end is no event.
                if passed.is_empty() && !is_last {
                    passed.extend_from_slice(COMMENT);
                }
                passed
            }
        }
    }

    /// Returns what passes on of a body in JSON.
    fn whole(&self, body: Bytes, decide: &impl Decide) -> Vec<u8> {
        let passed = of_message(&self.request, body.clone(), decide);
        match passed {
            Some(Given::AsReceived(_)) => body.to_vec(),
            Some(Given::Changed(text)) => text.into_bytes(),
            None if self.is_success && self.request.id.is_some() => {
                let text = "the server's answer is none to the request";
                self.request
                    .error(INTERNAL_ERROR, text, None)
                    .1
                    .into_bytes()
            }
            None => Vec::new(),
        }
    }

    fn too_large(&self) -> String {
        let text = format!("the server's answer is larger than {ANSWER_BYTES} bytes");
        self.request.error(INTERNAL_ERROR, &text, None).1
    }
}

/// What a client gets of a message.
enum Given {
    AsReceived(Json),
    Changed(String),
}

/// Returns what passes on for an event, on one line.
fn of_event(request: &Passed, event: Event, decide: &impl Decide) -> Option<String> {
    if event.name != MESSAGE {
        return None;
    }
    Some(match of_message(request, event.data, decide)? {
        Given::AsReceived(message) => on_one_line(&message),
        Given::Changed(text) => text,
    })
}

/// Returns what passes on for a message of the server. It is decided if it is the result for the request. Other results pass
/// to nobody: what they are about is not known.
fn of_message(request: &Passed, message: Bytes, decide: &impl Decide) -> Option<Given> {
    let as_received = || Json::new(message.clone()).ok().map(Given::AsReceived);
    match Message::read(message.clone()).ok()? {
        Message::Response { id, outcome } => match outcome {
            Ok(result) if is_to(request, id.as_ref()) => {
                let decided = decide.result(request, &result);
                match decided.map(|it| request.answer(it)) {
                    Ok(None) => as_received(),
                    Ok(Some((_, text))) => Some(Given::Changed(text)),
                    Err(refusal) => {
                        let (_, text) = request.error(INTERNAL_ERROR, &refusal.text, None);
                        Some(Given::Changed(text))
                    }
                }
            }
            Ok(_) => None,
            Err(RpcError { .. }) => as_received(),
        },
        Message::Notification { method, .. } => match NOTIFICATIONS.contains(&&*method) {
            true => as_received(),
            false => None,
        },
        // A client's answers to others do not pass on.
        Message::Request { method, .. } if method == "ping" => as_received(),
        Message::Request { .. } => None,
    }
}

fn is_to(request: &Passed, id: Option<&Id>) -> bool {
    id.is_some() && request.id.as_ref() == id
}

fn write_event(stream: &mut Vec<u8>, message: &str) {
    stream.extend_from_slice(b"event: message\ndata: ");
    stream.extend_from_slice(message.as_bytes());
    stream.extend_from_slice(b"\n\n");
}
