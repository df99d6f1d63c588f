//! A recorded decision on a call.

use super::verification::Recorded;
use crate::basis::Digests;
use crate::calling::OTHER_STATE;
use crate::client::{Client, Generation};
use crate::request::arguments_form;
use agent_api::diagnostic::Code;
use agent_api::lower::digest;
use agent_record::{Clock, MARKER, mark_in};
use agent_syntax::json::Writer;
use agent_syntax::members::{items, member, string};
use agent_syntax::{Node, Value};

/// The verdict on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It was passed on or answered.
    Allowed,
    /// A human is asked.
    Asked,
    /// It was refused.
    Refused,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Asked => "asked",
            Self::Refused => "refused",
        }
    }
}

/// A reason of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason {
    /// The name of its code.
    pub(crate) code: String,
    pub(crate) pointer: Option<String>,
    pub(crate) text: String,
}

impl Reason {
    /// Returns the code, if this engine knows it.
    pub(crate) fn known(&self) -> Option<Code> {
        Code::ALL.iter().copied().find(|it| it.name() == self.code)
    }
}

/// The arguments of a recorded call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// A JSON object.
    Kept(String),
    /// They were not kept, for a reason.
    Lost(&'static str),
}

/// A recorded decision on a call.
#[derive(Debug)]
pub(crate) struct RecordedCall {
    pub(crate) action: String,
    pub(crate) approval: Option<String>,
    /// Whether a server continued the call.
    pub(crate) continues: bool,
    pub(crate) arguments: Arguments,
    /// The digest of the arguments; empty for a request.
    pub(crate) arguments_digest: String,
    pub(crate) client: Client,
    /// Whether a part of the client is redacted.
    pub(crate) is_client_redacted: bool,
    pub(crate) now: Clock,
    /// The digest of the definition of the locked tool.
    pub(crate) definition: Option<String>,
    pub(crate) documents: Digests,
    /// The digest of the endpoint of the server, if the log has it.
    pub(crate) endpoint: Option<String>,
    /// Whether its `requestState` was refused.
    pub(crate) was_state_refused: bool,
    /// The name that was called; `None` if it is redacted.
    pub(crate) name: Option<String>,
    pub(crate) phase: String,
    /// Without a lock, none is that the tool is not in it.
    pub(crate) reasons: Vec<Reason>,
    /// Whether no lock had the tool.
    pub(crate) was_unlocked: bool,
    /// The id of the server.
    pub(crate) server: Option<String>,
    pub(crate) version: Option<String>,
    /// The name that the server has for the tool.
    pub(crate) tool: String,
    /// The name that clients call, if it is another one.
    pub(crate) served_as: Option<String>,
    pub(crate) observe: bool,
}

impl RecordedCall {
    /// Reads a decision. Returns `None` for one on parameters that no tool was named in.
    pub(crate) fn read(record: &Recorded<'_, '_>) -> Option<Self> {
        let content = record.content;
        let text = |name| member(content, name).and_then(string).map(str::to_owned);
        let subject = member(content, "subject")?;
        let client = member(content, "client")?;
        let of_client = |name| member(client, name).and_then(string).map(str::to_owned);
        let properties = member(subject, "properties");
        let properties = properties.filter(|it| !matches!(it.value, Value::Null));
        let time = member(member(content, "context")?, "time").and_then(string)?;
        let reasons = member(content, "reasons").and_then(items)?.iter();
        let documents = documents(member(content, "documents")?);
        let mut reasons: Vec<_> = reasons.map(reason).collect();
        let is_unlocked = |it: &Reason| it.known() == Some(Code::ToolNotLocked);
        let was_unlocked = reasons.iter().any(is_unlocked);
        if documents.lock.is_none() {
            // No lock refused the call.
            reasons.retain(|it| !is_unlocked(it));
        }
        Some(Self {
            action: text("action")?,
            approval: text("approval"),
            continues: member(content, "continues").is_some(),
            arguments: arguments(member(content, "arguments")?),
            arguments_digest: member(content, "arguments")
                .and_then(|it| member(it, "digest"))
                .and_then(string)
                .unwrap_or_default()
                .to_owned(),
            client: Client {
                id: of_client("id").unwrap_or_default(),
                kind: of_client("kind").unwrap_or_default(),
                properties: properties.map(|it| it.span.of(record.text).as_bytes().to_vec()),
                generation: match of_client("generation").as_deref() {
                    Some("sessions") => Generation::Sessions,
                    _ => Generation::Stateless,
                },
                session: of_client("session"),
                capabilities: None,
            },
            is_client_redacted: mark_in(subject).is_some() || mark_in(client).is_some(),
            now: Clock::read(time)?,
            definition: text("definition"),
            documents,
            endpoint: text("endpoint"),
            was_state_refused: text("text").is_some_and(|it| it == OTHER_STATE),
            name: text("name").filter(|name| !name.contains(MARKER)),
            phase: text("phase")?,
            reasons,
            was_unlocked,
            server: text("server"),
            version: text("version"),
            tool: text("tool").unwrap_or_default(),
            served_as: text("served_as"),
            observe: record.observe,
        })
    }

    /// Reads a decision on a request for a resource or a prompt. Returns `None` for one that names none.
    pub(crate) fn read_request(record: &Recorded<'_, '_>) -> Option<Self> {
        let content = record.content;
        let text = |name| member(content, name).and_then(string).map(str::to_owned);
        let client = member(content, "client")?;
        let of_client = |name| member(client, name).and_then(string).map(str::to_owned);
        let time = member(member(content, "context")?, "time").and_then(string)?;
        let reasons = member(content, "reasons").and_then(items)?.iter();
        Some(Self {
            action: text("action")?,
            approval: None,
            continues: false,
            arguments: Arguments::Lost("the log does not contain the parameters"),
            arguments_digest: String::new(),
            client: Client {
                id: of_client("id").unwrap_or_default(),
                kind: of_client("kind").unwrap_or_default(),
                properties: None,
                generation: Generation::Stateless,
                session: None,
                capabilities: None,
            },
            is_client_redacted: mark_in(client).is_some(),
            now: Clock::read(time)?,
            definition: None,
            documents: documents(member(content, "documents")?),
            endpoint: None,
            was_state_refused: false,
            name: text("name").filter(|name| !name.contains(MARKER)),
            phase: text("method")?,
            reasons: reasons.map(reason).collect(),
            server: text("server"),
            version: text("version"),
            tool: text("name").unwrap_or_default(),
            served_as: None,
            observe: record.observe,
            was_unlocked: false,
        })
    }

    /// Returns the verdict on the call: of an observing session, the one without `--observe`. Without a lock every
    /// tool was allowed.
    pub(crate) fn verdict(&self) -> Verdict {
        let asks = |it: &Reason| it.known() == Some(Code::ApprovalRequired);
        match &*self.action {
            "ask" => Verdict::Asked,
            "refuse" | "error" => Verdict::Refused,
            _ if !self.observe || self.reasons.is_empty() => Verdict::Allowed,
            _ if self.reasons.iter().all(asks) => Verdict::Asked,
            _ => Verdict::Refused,
        }
    }

    /// Returns the name that clients call.
    pub(crate) fn served(&self) -> &str {
        self.served_as.as_ref().unwrap_or(&self.tool)
    }

    pub(crate) fn has(&self, code: Code) -> bool {
        self.reasons.iter().any(|it| it.known() == Some(code))
    }

    /// Returns whether the call is one of a tool through a stub.
    pub(crate) fn is_through_stub(&self) -> bool {
        self.phase == "call" && self.name.as_ref().is_some_and(|name| name != self.served())
    }

    /// Returns parameters of `tools/call` with these arguments of the tool or stub.
    pub(crate) fn params(&self, name: &str, arguments: &str) -> String {
        let mut w = Writer::dense();
        w.object(|w| {
            match self.is_through_stub() {
                false => w.key("arguments").json(arguments),
                true => w.key("arguments").object(|w| {
                    w.key("arguments").json(arguments);
                    w.key("operation").string(agent_api::lower::CALL);
                    w.key("tool").string(self.served());
                }),
            }
            w.key("name").string(name);
        });
        w.finish()
    }
}

/// Returns the kept arguments, if they are those that were decided about.
fn arguments(node: &Node<'_>) -> Arguments {
    let Some(value) = member(node, "value") else {
        return Arguments::Lost("the log does not contain the arguments");
    };
    let form = arguments_form(value);
    let recorded = member(node, "digest").and_then(string);
    match recorded == Some(&digest(&form)) && matches!(value.value, Value::Mapping(_)) {
        true => Arguments::Kept(form),
        false => Arguments::Lost("the arguments are redacted"),
    }
}

fn documents(node: &Node<'_>) -> Digests {
    let digest = |name| member(node, name).and_then(string).map(str::to_owned);
    Digests {
        lock: digest("lock"),
        index: digest("index"),
        definitions: digest("definitions"),
        policy: digest("policy"),
        policy_context: digest("policy_context"),
        tenant: digest("tenant"),
        tenant_id: digest("tenant_id"),
        task: digest("task"),
        health: digest("health"),
    }
}

fn reason(node: &Node<'_>) -> Reason {
    let text = |name| member(node, name).and_then(string).map(str::to_owned);
    Reason {
        code: text("code").unwrap_or_default(),
        pointer: text("pointer"),
        text: text("text").unwrap_or_default(),
    }
}
