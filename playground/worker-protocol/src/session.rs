//! The messages between the page of sessions and its worker.
//!
//! A session is a function of the documents and of what happened in it so far. The page sends all of it with
//! each request and holds no session: so every event can be taken back, and a new worker goes on where the old
//! one was.

use agent_answer::{Code, Diagnostic};
use serde::{Deserialize, Serialize};

/// Maximum number of events of a session.
pub const EVENTS_MAX: usize = 200;

/// A question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What is asked for.
    pub kind: RequestKind,
    /// Who calls.
    pub caller: Caller,
    /// What happened so far, in order. Those after the first [`EVENTS_MAX`] are ignored.
    pub events: Vec<Event>,
}

/// A kind of question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestKind {
    /// What does an agent get, and what is decided about its calls?
    #[default]
    Session,
    /// Which calls of a log are decided otherwise?
    Log,
}

/// The client, and what it sees of tools on demand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The id of the client.
    pub id: String,
    /// Its kind, such as `local`.
    pub kind: String,
    /// Its properties, as JSON; blank without any.
    pub properties: String,
    /// Whether it speaks MCP 2026-07-28, where every request stands alone.
    pub is_stateless: bool,
    /// What it sees of tools on demand.
    pub expansion: Expansion,
    /// Maximum tokens of the definitions that it gets; `None` for those of the tenant.
    pub budget: Option<u64>,
}

impl Default for Caller {
    fn default() -> Self {
        Self {
            id: "an-agent".to_owned(),
            kind: "local".to_owned(),
            properties: String::new(),
            is_stateless: false,
            expansion: Expansion::Stub,
            budget: Some(4_000),
        }
    }
}

/// What a client sees of tools on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expansion {
    /// A helper for each server.
    Stub,
    /// A helper, and in the list what it expanded.
    List,
    /// Every tool.
    None,
}

/// What happens in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The client calls with these parameters of `tools/call`, as JSON.
    Call(String),
    /// A server answers a call that was passed on.
    Answer {
        /// The number of the call.
        call: u64,
        /// The result, as JSON.
        result: String,
    },
    /// A human answers the question about a call.
    Decide {
        /// The id of the approval.
        approval: String,
        /// Whether the call may be made.
        yes: bool,
    },
    /// Nothing happens for some time, in milliseconds.
    Wait(u64),
    /// A server ends.
    Exit(String),
    /// A server starts again, and lists its tools as the index has them.
    Start(String),
}

/// An answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The problems of the documents, or why they can't be obeyed.
    pub problems: Vec<Diagnostic>,
    /// The lock that was made from the manifest.
    pub lock: Option<String>,
    /// The session; `None` if the documents can't be obeyed.
    pub session: Option<SessionView>,
    /// The calls of the log, decided again; `None` if it was not asked for, or there is no log.
    pub log: Option<LogView>,
}

/// A session after its events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionView {
    /// The name and the version of the agent.
    pub agent: String,
    /// The result of `tools/list`, as the client gets it.
    pub list: String,
    /// Estimated tokens of the definitions on the list.
    pub tokens: u64,
    /// Estimated tokens of the definitions that a list without helpers has.
    pub all_tokens: u64,
    /// The servers, by name.
    pub servers: Vec<Server>,
    /// The tools of the lock and the helpers: those on the list first, and tools on demand below their helper.
    pub tools: Vec<Tool>,
    /// The effect of each event.
    pub past: Vec<Past>,
    /// The calls that wait for a server.
    pub open: Vec<OpenCall>,
    /// The questions that wait for a human.
    pub questions: Vec<Question>,
    /// What is decided about the call that was not made yet.
    pub draft: Option<Decided>,
    /// The arguments of that call.
    pub draft_arguments: Arguments,
    /// The records of the session, as lines of an audit log.
    pub records: String,
    /// The time since the start, in milliseconds.
    pub elapsed_ms: u64,
    /// What the client did before; `None` if neither the tenant nor the policy asks for a history.
    pub history: Option<History>,
}

/// What a client did before, as rules about earlier calls see it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The calls that were passed on, oldest first.
    pub calls: Vec<EarlierCall>,
    /// The number of older calls, of which only counts are kept.
    pub folded: u64,
    /// The labels of the data that the client got.
    pub labels: Vec<String>,
    /// What the calls of the tool of the draft are, in words.
    pub draft: Vec<String>,
}

/// An earlier call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierCall {
    /// The number of its record.
    pub record: u64,
    /// The line of its record.
    pub line: u32,
    /// The id of its server.
    pub server: String,
    /// The name that the server has for its tool.
    pub tool: String,
    /// The time.
    pub time: String,
    /// The labels of its data.
    pub labels: Vec<String>,
    /// Whether the decision on the draft names it.
    pub decides: bool,
}

/// A server of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its endpoint.
    pub endpoint: String,
    /// Its health.
    pub health: String,
    /// Whether it runs.
    pub runs: bool,
    /// The names of its tools that the lock does not have.
    pub unlocked: Vec<String>,
}

/// A tool of a lock, or a helper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The name that clients call.
    pub name: String,
    /// The server.
    pub server: String,
    /// What its definition says about it.
    pub about: String,
    /// How a client gets it.
    pub shown: Shown,
    /// Estimated tokens of its definition, if a client gets that.
    pub tokens: Option<u64>,
    /// The definition, if a client gets that.
    pub definition: Option<String>,
    /// The parameters of a call of it, as JSON.
    pub call: String,
    /// The parameters of a call that expands it, if it is on demand.
    pub expand: Option<String>,
}

/// How a client gets a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shown {
    /// On its list.
    Listed,
    /// On its list, as a helper for tools on demand.
    Helper,
    /// By the helper of this name.
    Behind(String),
    /// Not at all.
    Withheld(Vec<CallReason>),
}

/// A reason against a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallReason {
    /// The code.
    pub code: Option<Code>,
    /// The reason in a sentence.
    pub text: String,
    /// What would change it.
    pub help: String,
    /// The argument that the reason is about.
    pub pointer: Option<String>,
}

/// The arguments of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arguments {
    /// The tool that gets them: behind a helper, the tool that it calls.
    pub tool: String,
    /// The arguments in the order of the call, and then the required ones that it lacks.
    pub rows: Vec<Argument>,
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: ArgumentValue,
    /// Its type and its limits, as the input schema declares them; empty if no schema is known.
    pub declared: String,
    /// What the input schema says about it.
    pub about: String,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArgumentValue {
    /// The text of a string.
    Text(String),
    /// The JSON of another value.
    Json(String),
    /// The call has no value.
    Missing,
}

/// A decision on a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decided {
    /// It is passed on.
    Forward {
        /// To this server.
        server: String,
        /// With these parameters, as JSON.
        params: String,
        /// Time for the answer, in milliseconds.
        timeout_ms: u64,
    },
    /// The session answers it, as a helper.
    Answer {
        /// The texts for the model.
        texts: Vec<String>,
        /// The result, as JSON.
        result: String,
    },
    /// It is refused.
    Refuse(Refusal),
    /// A human is asked.
    Ask {
        /// The id of the approval.
        approval: String,
        /// The question.
        text: String,
        /// How long the call waits, in milliseconds.
        wait_ms: u64,
    },
    /// It is an error of the protocol.
    Error {
        /// The code of JSON-RPC.
        code: i64,
        /// A sentence.
        message: String,
        /// The names that may be called instead.
        instead: Vec<String>,
    },
}

/// A refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The reasons.
    pub reasons: Vec<CallReason>,
    /// The names that may be called instead.
    pub instead: Vec<String>,
    /// When to try again, if time alone changes the decision, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// The texts for the model.
    pub texts: Vec<String>,
    /// The result, as JSON.
    pub result: String,
}

/// The effect of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Past {
    /// A call was decided.
    Called {
        /// Its number.
        call: u64,
        /// The name that was called; empty if the parameters have no name.
        tool: String,
        /// Its arguments.
        arguments: Arguments,
        /// The decision.
        decided: Decided,
    },
    /// A server answered.
    Answered {
        /// The number of the call.
        call: u64,
        /// What the client gets.
        delivered: Delivered,
    },
    /// A human answered.
    Decided {
        /// The answer.
        yes: bool,
        /// Whether the question was open.
        is_known: bool,
        /// The calls that waited, decided again: number and decision.
        again: Vec<(u64, Decided)>,
    },
    /// Time passed, in milliseconds, and the calls of these numbers were not approved in time.
    Waited(u64, Vec<u64>),
    /// A server ended.
    Exited(String),
    /// A server started again.
    Started(String),
}

/// What a client gets for a call that was passed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delivered {
    /// The result as it was received.
    AsReceived,
    /// Another result in its place.
    Changed {
        /// The result, as JSON.
        result: String,
        /// What a policy redacted in it: JSON pointers, and `patterns`.
        redacted: Vec<String>,
    },
    /// A refusal in its place.
    Refused(Refusal),
    /// Nothing yet: its server wants the call repeated, so that it was decided again.
    Repeated {
        /// The number of the repeated call.
        call: u64,
        /// The decision on it.
        decided: Decided,
    },
    /// Nothing: no such call is open.
    Nothing,
}

/// A call that waits for a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// Its number.
    pub call: u64,
    /// The tool.
    pub tool: String,
    /// The server.
    pub server: String,
    /// Its arguments.
    pub arguments: Arguments,
    /// A result that the output schema of the tool allows, as JSON.
    pub example: String,
}

/// A question that waits for a human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The id of the approval.
    pub approval: String,
    /// The question as the human gets it.
    pub text: String,
    /// The arguments of the call.
    pub arguments: Arguments,
    /// How long the call still waits, in milliseconds.
    pub wait_ms: u64,
}

/// A log whose calls were decided again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogView {
    /// The problems of the log, or the calls that are decided otherwise, each at its record.
    pub problems: Vec<Diagnostic>,
    /// Whether the log is one that sessions wrote. Otherwise nothing was decided.
    pub is_valid: bool,
    /// Whether every verdict is the recorded one; `None` if that can't be known.
    pub is_same: Option<bool>,
    /// The numbers of calls with another verdict, with the same for other reasons, with the same, and of
    /// those that can't be decided again.
    pub counts: [u64; 4],
    /// The documents that are other ones than those of the log.
    pub documents: Vec<String>,
    /// The calls that are not decided as recorded.
    pub calls: Vec<LoggedCall>,
}

/// A call of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedCall {
    /// The number of its record.
    pub sequence: u64,
    /// The line of its record.
    pub line: u32,
    /// The tool.
    pub tool: String,
    /// The server.
    pub server: Option<String>,
    /// The client.
    pub client: String,
    /// The time.
    pub time: String,
    /// The recorded verdict.
    pub recorded: Verdict,
    /// The verdict now; otherwise the reason why it is missing.
    pub now: Result<Verdict, String>,
    /// The inputs that the verdict depends on.
    pub depends_on: Vec<String>,
    /// The earlier calls that the reasons of the verdict name.
    pub earlier: Vec<EarlierCall>,
}

/// A verdict on a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Its name, such as `allowed`.
    pub name: String,
    /// The reasons.
    pub reasons: Vec<CallReason>,
}

/// The properties of an engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version.
    pub version: String,
}

#[cfg(test)]
mod tests {
    use super::{
        Answer, Argument, ArgumentValue, Arguments, CallReason, Decided, Delivered, LogView,
        LoggedCall, Past, Refusal, Request, SessionView, Shown, Tool, Verdict,
    };
    use crate::{from_bytes, to_bytes};
    use agent_answer::Code;

    #[test]
    fn answers_come_back_from_their_bytes() {
        let reason = CallReason {
            code: Some(Code::ToolNotLocked),
            text: "\u{202e}𝄞".to_owned(),
            help: String::new(),
            pointer: Some("/a~1b".to_owned()),
        };
        let refusal = Refusal {
            reasons: vec![reason.clone()],
            retry_after_ms: Some(u64::MAX),
            ..Refusal::default()
        };
        let error = Decided::Error {
            code: -32602,
            message: "no".to_owned(),
            instead: vec![],
        };
        let session = SessionView {
            tools: vec![Tool {
                name: "read".to_owned(),
                server: "files".to_owned(),
                about: String::new(),
                shown: Shown::Withheld(vec![reason.clone()]),
                tokens: None,
                definition: None,
                call: String::new(),
                expand: None,
            }],
            past: vec![
                Past::Called {
                    call: 1,
                    tool: String::new(),
                    arguments: Arguments {
                        tool: "read".to_owned(),
                        rows: vec![Argument {
                            name: "path".to_owned(),
                            value: ArgumentValue::Json("[1]".to_owned()),
                            declared: "array of number".to_owned(),
                            about: String::new(),
                        }],
                    },
                    decided: error,
                },
                Past::Answered {
                    call: 1,
                    delivered: Delivered::Refused(refusal.clone()),
                },
            ],
            draft: Some(Decided::Refuse(refusal)),
            ..SessionView::default()
        };
        let log = LogView {
            calls: vec![LoggedCall {
                sequence: 7,
                line: 7,
                tool: "read".to_owned(),
                server: None,
                client: "c".to_owned(),
                time: String::new(),
                recorded: Verdict {
                    name: "allowed".to_owned(),
                    reasons: vec![reason],
                },
                now: Err("the log has no arguments".to_owned()),
                depends_on: vec![],
                earlier: vec![],
            }],
            ..LogView::default()
        };
        let answer = Answer {
            session: Some(session),
            log: Some(log),
            ..Answer::default()
        };
        let bytes = to_bytes(&answer);
        assert_eq!(from_bytes(&bytes), Some(answer));
        for length in 0..bytes.len() {
            assert_eq!(from_bytes::<Answer>(&bytes[..length]), None);
        }
        let request = Request::default();
        assert_eq!(from_bytes(&to_bytes(&request)), Some(request));
    }
}
