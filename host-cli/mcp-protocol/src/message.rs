//! The messages of JSON-RPC 2.0 as MCP uses them: read from frames, and written.

use crate::id::Id;
use crate::json::{Json, Malformed, Member};
use agent_syntax::json::Kind;
use agent_syntax::json_string;
use agent_way_out::quote;
use bytes::Bytes;
use std::fmt;

/// The code of an unknown method.
pub const METHOD_NOT_FOUND: i64 = -32601;

/// JSON-RPC: the receiver does not take more requests now. One of the codes that implementations define.
pub const OVERLOADED: i64 = -32000;

/// Maximum number of characters kept of the message of an error.
const ERROR_CHARS: usize = 500;
/// Maximum number of bytes of the name of a method.
const METHOD_BYTES: usize = 256;

/// A message. Payloads are the bytes that were received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A request.
    Request {
        /// The id that the response repeats.
        id: Id,
        /// The method.
        method: String,
        /// The parameters, an object.
        params: Option<Json>,
    },
    /// A notification, which has no response.
    Notification {
        /// The method.
        method: String,
        /// The parameters, an object.
        params: Option<Json>,
    },
    /// A response to a request.
    Response {
        /// The id of the request. Errors about unreadable requests have none.
        id: Option<Id>,
        /// The result, an object, or the error.
        outcome: Result<Json, RpcError>,
    },
}

/// The error of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The message of the peer, bounded and printable.
    pub message: String,
    /// Additional data of the peer.
    pub data: Option<Json>,
}

impl fmt::Display for RpcError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "error {}: {}", self.code, self.message)
    }
}

impl Message {
    /// Reads a frame: exactly one message. Batches are refused.
    ///
    /// # Errors
    ///
    /// When the frame is not strict JSON, or not a message.
    pub fn read(frame: impl Into<Bytes>) -> Result<Self, Malformed> {
        let json = Json::new(frame)?;
        let names = ["jsonrpc", "id", "method", "params", "result", "error"];
        let Some([version, id, method, params, result, error]) = json.pick(names) else {
            return Err(Malformed::new(
                match json.kind() {
                    Some(Kind::Array) => "a batch",
                    _ => "not an object",
                },
                0,
            ));
        };
        let Some(version) = version else {
            return Err(Malformed::new("`jsonrpc` is missing", 0));
        };
        if version.value.string().as_deref() != Some("2.0") {
            return Err(version.wrong("`jsonrpc` is not \"2.0\""));
        }
        match (method, result, error) {
            (Some(_), Some(other), _) | (Some(_), None, Some(other)) => {
                Err(other.wrong("both a request and a response"))
            }
            (Some(method), None, None) => call(id, &method, params),
            (None, Some(_), Some(error)) => Err(error.wrong("both a result and an error")),
            (None, Some(result), None) => response(id, result),
            (None, None, Some(error)) => refusal(id, &error),
            (None, None, None) => {
                let what = "neither `method`, `result` nor `error`";
                Err(Malformed::new(what, 0))
            }
        }
    }
}

impl Member {
    fn wrong(&self, what: &str) -> Malformed {
        Malformed::new(what, self.offset)
    }

    fn is(&self, kind: Kind) -> bool {
        self.value.kind() == Some(kind)
    }
}

fn read_id(id: Option<Member>) -> Result<Option<Id>, Malformed> {
    let read = |id: Member| Id::read(&id.value).map_err(|what| id.wrong(what));
    id.map(read).transpose()
}

fn call(id: Option<Member>, method: &Member, params: Option<Member>) -> Result<Message, Malformed> {
    let name = method.value.string();
    let name = name.ok_or_else(|| method.wrong("`method` is not a string"))?;
    if name.len() > METHOD_BYTES {
        return Err(method.wrong("`method` is longer than 256 bytes"));
    }
    if let Some(params) = params.as_ref().filter(|params| !params.is(Kind::Object)) {
        return Err(params.wrong("`params` is not an object"));
    }
    let (method, params) = (name, params.map(|params| params.value));
    Ok(match read_id(id)? {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    })
}

fn response(id: Option<Member>, result: Member) -> Result<Message, Malformed> {
    if !result.is(Kind::Object) {
        return Err(result.wrong("`result` is not an object"));
    }
    let id = read_id(id)?;
    if id.is_none() {
        return Err(Malformed::new("a result without `id`", 0));
    }
    let outcome = Ok(result.value);
    Ok(Message::Response { id, outcome })
}

fn refusal(id: Option<Member>, error: &Member) -> Result<Message, Malformed> {
    let members = error.value.pick(["code", "message", "data"]);
    let [code, message, data] = members.unwrap_or([const { None }; 3]);
    let code = code.ok_or_else(|| error.wrong("the error has no `code`"))?;
    let number = code.value.as_str().parse();
    let number = number.map_err(|_| {
        let what = "the error's `code` is not an integer";
        Malformed::new(what, error.offset + code.offset)
    })?;
    let message = message.and_then(|message| message.value.string());
    let message = message.ok_or_else(|| error.wrong("the error has no `message`"))?;
    // JSON-RPC writes `null` where the id of a request could not be read.
    let id = read_id(id.filter(|id| !id.is(Kind::Null)))?;
    let outcome = Err(RpcError {
        code: number,
        message: quote(&message, ERROR_CHARS),
        data: data.map(|data| data.value),
    });
    Ok(Message::Response { id, outcome })
}

/// Writes a request on one line. `params` is an object in JSON without line breaks.
#[must_use]
pub fn write_request(id: &Id, method: &str, params: &str) -> String {
    let (id, method) = (id.to_json(), json_string(method));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

/// Writes a notification on one line. `params` is an object in JSON without line breaks.
#[must_use]
pub fn write_notification(method: &str, params: Option<&str>) -> String {
    let method = json_string(method);
    match params {
        Some(params) => format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#),
        None => format!(r#"{{"jsonrpc":"2.0","method":{method}}}"#),
    }
}

/// Writes a result on one line. `result` is an object in JSON without line breaks.
#[must_use]
pub fn write_result(id: &Id, result: &str) -> String {
    let id = id.to_json();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Writes an error on one line.
#[must_use]
pub fn write_error(id: &Id, code: i64, message: &str) -> String {
    let (id, message) = (id.to_json(), json_string(message));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#)
}

/// Writes an error about a message whose id could not be read, on one line.
#[must_use]
pub fn write_unanswered_error(code: i64, message: &str) -> String {
    let message = json_string(message);
    format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"message":{message}}}}}"#)
}

/// Returns JSON without line breaks. Outside of strings they are blanks, and inside they are escapes.
#[must_use]
pub fn on_one_line(json: &Json) -> String {
    json.as_str().replace(['\n', '\r'], "")
}

#[cfg(test)]
mod tests {
    use super::{
        Message, RpcError, on_one_line, write_error, write_notification, write_request,
        write_result,
    };
    use crate::{Id, Json};
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert, proptest};
    use proptest::sample::select;

    #[test]
    fn what_is_written_is_read_again() {
        for id in [
            Id::from(7),
            Id::String("a\"\n\u{0}ü".to_owned()),
            Id::Integer("-9".to_owned()),
        ] {
            let read = Message::read(write_request(&id, "a/b", r#"{"c": 1}"#)).unwrap();
            let params = Some(Json::new(r#"{"c": 1}"#).unwrap());
            let method = "a/b".to_owned();
            assert_eq!(
                read,
                Message::Request {
                    id: id.clone(),
                    method,
                    params
                }
            );

            let read = Message::read(write_result(&id, r#"{"x" : []}"#)).unwrap();
            let outcome = Ok(Json::new(r#"{"x" : []}"#).unwrap());
            assert_eq!(
                read,
                Message::Response {
                    id: Some(id.clone()),
                    outcome
                }
            );

            let read = Message::read(write_error(&id, -32601, "no")).unwrap();
            let (code, message, data) = (-32601, "no".to_owned(), None);
            let outcome = Err(RpcError {
                code,
                message,
                data,
            });
            assert_eq!(
                read,
                Message::Response {
                    id: Some(id),
                    outcome
                }
            );
        }
        let read = Message::read(write_notification("a", None)).unwrap();
        let method = "a".to_owned();
        assert_eq!(
            read,
            Message::Notification {
                method,
                params: None
            }
        );
    }

    #[test]
    fn payloads_are_the_received_bytes() {
        let result = "{ \"a\":1.0e2 ,\"\\u0062\":\"\\u0041\u{200b}\" }";
        let frame =
            format!(" {{\"x-new\":[1],\"result\": {result}, \"id\":1,\"jsonrpc\":\"2.0\"}} \r");
        let Ok(Message::Response {
            outcome: Ok(received),
            ..
        }) = Message::read(frame)
        else {
            panic!("a response");
        };
        assert_eq!(received.as_str(), result);
    }

    #[test]
    fn frames_that_are_no_message_are_refused_with_their_place() {
        let refused = [
            (r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#, "batch", 0),
            ("null", "not an object", 0),
            (r#"{"id":1,"result":{}}"#, "`jsonrpc` is missing", 0),
            (r#"{"jsonrpc":2.0,"id":1,"result":{}}"#, "not \"2.0\"", 11),
            (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "not \"2.0\"", 11),
            (r#"{"jsonrpc":"2.0","id":1}"#, "neither", 0),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
                "both a result",
                44,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"method":"a"}"#,
                "both a request",
                33,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":[]}"#,
                "`result` is not an object",
                33,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
                "`result` is not an object",
                33,
            ),
            (r#"{"jsonrpc":"2.0","result":{}}"#, "without `id`", 0),
            (
                r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
                "neither a string",
                22,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.0,"result":{}}"#,
                "another notation",
                22,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1e0,"result":{}}"#,
                "another notation",
                22,
            ),
            (
                r#"{"jsonrpc":"2.0","id":true,"result":{}}"#,
                "neither a string",
                22,
            ),
            (
                r#"{"jsonrpc":"2.0","id":[1],"result":{}}"#,
                "neither a string",
                22,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "`method`", 33),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
                "neither a string",
                22,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#,
                "`params`",
                46,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}"#,
                "no `code`",
                32,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}"#,
                "`code`",
                40,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"m"}}"#,
                "`code`",
                40,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#,
                "no `message`",
                32,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, "no `code`", 32),
        ];
        for (frame, what, offset) in refused {
            let malformed = Message::read(frame).unwrap_err();
            assert!(malformed.what.contains(what), "{frame}: {malformed:?}");
            assert_eq!(malformed.offset, offset, "{frame}");
        }
        let long = format!(
            r#"{{"jsonrpc":"2.0","id":"{}","method":"a"}}"#,
            "x".repeat(257)
        );
        assert!(Message::read(long).unwrap_err().what.contains("longer"));
    }

    #[test]
    fn messages_of_errors_are_bounded_and_printable() {
        let text = format!("\\u001b[2J\u{202e}{}", "x".repeat(10_000));
        let frame = format!(
            r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-1,"message":"{text}","data":[1 ]}}}}"#
        );
        let Ok(Message::Response {
            id: None,
            outcome: Err(error),
        }) = Message::read(frame)
        else {
            panic!("an error without an id");
        };
        assert!(
            error.message.starts_with("<U+001B>[2J<U+202E>xxx"),
            "{error}"
        );
        assert!(error.message.chars().count() < 600);
        assert_eq!(error.data.unwrap().as_str(), "[1 ]");
    }

    proptest! {
        #[test]
        fn any_frame_is_read_or_refused_within_itself(
            pieces in vec(select(PIECES), 0..24),
            bytes in vec(any::<u8>(), 0..4),
        ) {
            let mut frame = pieces.concat().into_bytes();
            frame.extend(bytes);
            match Message::read(frame.clone()) {
                Ok(Message::Response { outcome: Ok(payload), .. }
                    | Message::Request { params: Some(payload), .. }
                    | Message::Notification { params: Some(payload), .. }) => {
                    let payload = payload.bytes();
                    prop_assert!(frame.windows(payload.len()).any(|part| part == payload));
                }
                Ok(_) => {}
                Err(malformed) => prop_assert!(malformed.offset <= frame.len()),
            }
        }
    }

    /// What frames are made of.
    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\n",
        "\"",
        "1",
        "-0",
        "null",
        "{}",
        "\\u0041",
        "\"jsonrpc\":\"2.0\"",
        "\"id\":1",
        "\"id\":\"x\"",
        "\"method\":\"m\"",
        "\"params\":{}",
        "\"result\":{ }",
        "\"error\":{\"code\":-1,\"message\":\"m\"}",
        "\u{feff}",
        "{\"jsonrpc\":\"2.0\",",
        "\"result\":{\"a\":[1]}}",
    ];

    #[test]
    fn line_breaks_between_tokens_are_removed() {
        let json = Json::new("{\r\n  \"a\": \"\\n\"\n}").unwrap();
        assert_eq!(on_one_line(&json), "{  \"a\": \"\\n\"}");
    }
}
