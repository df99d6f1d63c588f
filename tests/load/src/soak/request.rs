//! Requests of clients, and what may come of each.

use crate::{ECHOES, SERVERS};
use agent_load::message::call;
use agent_load::random::Random;
use serde_json::{Value, json};

/// The key of `_meta` with the refusal of a call.
const REFUSAL: &str = "io.github.agent-engine/refusal";

/// The codes with which a call of a server may fail that was killed, stopped or has failed before.
const FAULTS: [&str; 2] = ["HEALTH_VETO", "SERVER_FAILED"];

/// JSON-RPC: the parameters are invalid.
const INVALID_PARAMS: i64 = -32602;

/// The code of the errors of the tool `fail`.
const OF_SERVER: i64 = 7;

/// The longest time of a slow call that is not cancelled, in milliseconds.
const SLOW_MS: u64 = 300;

/// The time of a call that the client cancels, in milliseconds.
pub(crate) const CANCELLED_MS: u64 = 4_000;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A call that returns its text.
    Echo,
    Slow,
    /// A call that the client cancels.
    Cancelled,
    /// A call whose result has another form than the lock says.
    AnotherForm,
    /// A call whose answer is no message, but for its id.
    Garbage,
    /// A call that the server answers with an error.
    Fail,
    /// A call that ends the server.
    Exit,
    InvalidArguments,
    /// A call of an unknown tool.
    Unknown,
    List,
}

/// A request of a client.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) kind: Kind,
    pub(crate) method: &'static str,
    /// The tool that is called.
    pub(crate) tool: Option<String>,
    pub(crate) params: Value,
}

impl Request {
    /// Returns a random request.
    pub(crate) fn random(random: &mut Random) -> Self {
        // Calls that harm a server are few: for some seconds, all its other calls are refused.
        let kind = match random.below(10_000) {
            0..7_500 => Kind::Echo,
            7_500..8_300 => Kind::Slow,
            8_300..8_600 => Kind::Cancelled,
            8_600..8_700 => Kind::AnotherForm,
            8_700..8_710 => Kind::Garbage,
            8_710..8_720 => Kind::Fail,
            8_720..8_725 => Kind::Exit,
            8_725..9_200 => Kind::InvalidArguments,
            9_200..9_500 => Kind::Unknown,
            _ => Kind::List,
        };
        let server = random.below(SERVERS as u64);
        let (tool, arguments) = match kind {
            Kind::Echo => {
                let echo = random.below(ECHOES as u64);
                let length = match random.below(50) {
                    0 => 200_000,
                    _ => random.below(2_000),
                };
                let text = format!("{:x}", random.number());
                let text = text.repeat(usize::try_from(length).unwrap_or(0) / 16 + 1);
                (format!("echo_{echo}"), json!({ "text": text }))
            }
            Kind::Slow => {
                let ms = random.below(SLOW_MS);
                ("slow".to_owned(), json!({ "ms": ms }))
            }
            Kind::Cancelled => ("slow".to_owned(), json!({ "ms": CANCELLED_MS })),
            Kind::InvalidArguments => ("slow".to_owned(), json!({ "ms": "soon" })),
            Kind::AnotherForm => ("another_form".to_owned(), json!({})),
            Kind::Garbage => ("garbage".to_owned(), json!({})),
            Kind::Fail => ("fail".to_owned(), json!({})),
            Kind::Exit => ("exit".to_owned(), json!({})),
            Kind::Unknown => ("nothing".to_owned(), json!({})),
            Kind::List => {
                return Self {
                    kind,
                    method: "tools/list",
                    tool: None,
                    params: json!({}),
                };
            }
        };
        let tool = format!("s{server}_{tool}");
        Self {
            kind,
            method: "tools/call",
            params: call(&tool, arguments),
            tool: Some(tool),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Echo => "echo",
            Kind::Slow => "slow",
            Kind::Cancelled => "cancelled",
            Kind::AnotherForm => "another form",
            Kind::Garbage => "garbage",
            Kind::Fail => "fail",
            Kind::Exit => "exit",
            Kind::InvalidArguments => "invalid arguments",
            Kind::Unknown => "unknown tool",
            Kind::List => "list",
        }
    }

    /// Returns the outcome that an answer says. The error is an answer that this request may not have.
    pub(crate) fn outcome(&self, id: u64, answer: &Value) -> Result<String, String> {
        let wrong = || Err(format!("was answered with {}", shortened(answer)));
        if answer["id"] != id || answer["jsonrpc"] != "2.0" {
            return wrong();
        }
        if let Some(code) = answer["error"]["code"].as_i64() {
            return match (self.kind, code) {
                (Kind::Unknown, INVALID_PARAMS) | (Kind::Fail, OF_SERVER) => Ok(code.to_string()),
                _ => wrong(),
            };
        }
        let result = &answer["result"];
        if let Some(code) = result["_meta"][REFUSAL]["code"].as_str() {
            let is_fault = FAULTS.contains(&code);
            return match self.kind {
                Kind::List | Kind::Unknown => wrong(),
                Kind::InvalidArguments if code == "ARGUMENT_INVALID" => Ok(code.to_owned()),
                Kind::AnotherForm | Kind::Garbage if code == "OUTPUT_INVALID" => {
                    Ok(code.to_owned())
                }
                _ if is_fault => Ok(code.to_owned()),
                _ => wrong(),
            };
        }
        let is_expected = match self.kind {
            Kind::Echo => {
                result["structuredContent"]["text"] == self.params["arguments"]["text"]
                    && result.get("isError").is_none()
            }
            Kind::Slow | Kind::Cancelled => result["content"][0]["text"] == "woke up",
            Kind::List => result["tools"].as_array().is_some_and(|tools| {
                // Drifted tools would not be listed, and no server's tools change.
                tools.len() == SERVERS * (ECHOES + 5)
            }),
            _ => false,
        };
        match is_expected {
            true => Ok("answered".to_owned()),
            false => wrong(),
        }
    }
}

/// Returns the beginning of an answer.
fn shortened(answer: &Value) -> String {
    answer.to_string().chars().take(500).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, REFUSAL, Request};
    use agent_load::message::call;
    use serde_json::{Value, json};

    fn request(kind: Kind) -> Request {
        Request {
            kind,
            method: "tools/call",
            tool: None,
            params: call("s0_echo_0", json!({ "text": "a" })),
        }
    }

    fn answered(result: Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": 1, "result": result })
    }

    fn refused(code: &str) -> Value {
        answered(json!({ "isError": true, "_meta": { REFUSAL: { "code": code } } }))
    }

    #[test]
    fn an_answer_is_that_of_its_request() {
        let echo = request(Kind::Echo);
        let right = answered(json!({ "structuredContent": { "text": "a" } }));
        assert_eq!(echo.outcome(1, &right).unwrap(), "answered");
        echo.outcome(2, &right).unwrap_err();
        let other = answered(json!({ "structuredContent": { "text": "b" } }));
        echo.outcome(1, &other).unwrap_err();
    }

    #[test]
    fn a_refusal_has_a_code_that_the_request_may_have() {
        let echo = request(Kind::Echo);
        assert_eq!(
            echo.outcome(1, &refused("HEALTH_VETO")).unwrap(),
            "HEALTH_VETO"
        );
        for code in ["ARGUMENT_INVALID", "OUTPUT_INVALID", "TOOL_NOT_LOCKED", ""] {
            echo.outcome(1, &refused(code)).unwrap_err();
        }
        let invalid = request(Kind::InvalidArguments);
        invalid.outcome(1, &refused("ARGUMENT_INVALID")).unwrap();
        let error = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32603 } });
        echo.outcome(1, &error).unwrap_err();
    }
}
