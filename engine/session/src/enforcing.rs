//! Messages between a client and one locked server, as an enforcement point between the two sees them \[4, MCP\].
//!
//! Nothing is kept from one message to the next. A request passes on or is answered in the server's place; a result passes
//! on as a session would deliver it.

use super::calling::{INTERNAL_ERROR, INVALID_PARAMS, what};
use super::calls::OpenCall;
use super::client::{Caller, Generation};
use super::contents;
use super::decision::Target;
use super::decision_point::{CallSubject, DecisionPoint, Found, rules_about, state_required};
use super::delivery::{Passed, continues, pass};
use super::effects::{Sent, invalid, withheld};
use super::entries;
use super::limits::LIST_TTL_MS;
use super::live::{Deviation, Live, Watch, compare};
use super::messages::CallAction;
use super::method::{ListKind, Method};
use super::refusal::Refusal;
use super::request::{Arguments, Request, read_params};
use super::requesting::{METHOD_NOT_FOUND, error};
use agent_api::diagnostic::Code;
use agent_api::explain::CallReason;
use agent_api::model::Serve;
use agent_api::text::sort::sort_by;
use agent_api::text::visible;
use agent_record::Clock;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{member, string};
use agent_syntax::{Node, Value};

/// The request that opens a session, and its namesake of MCP 2026-07-28.
const OPENINGS: [&str; 2] = ["initialize", "server/discover"];

/// Further requests that concern no tool, no resource and no prompt.
const HARMLESS: [&str; 2] = ["ping", "subscriptions/listen"];

/// The parameters of `tools/call` that a decision covers, or that change nothing for it.
const CALL_PARAMETERS: [&str; 4] = ["_meta", "arguments", "name", "requestState"];

/// A request of a client to a server.
#[derive(Debug, Clone)]
pub struct AskedRequest {
    /// The locked server: its id, or `id@version`.
    pub server: String,
    /// The method.
    pub method: String,
    /// The parameters, if there are any: a JSON object.
    pub params: Option<Vec<u8>>,
    /// Who asks.
    pub subject: CallSubject,
    /// The agent that asks, if the caller knows it.
    pub agent: Option<String>,
    /// The generation of the protocol.
    pub generation: Generation,
}

/// A result of a server.
#[derive(Debug, Clone)]
pub struct ReceivedResult {
    /// The locked server, as [`AskedRequest::server`].
    pub server: String,
    /// The method of the request.
    pub method: String,
    /// The name that the server has for the tool that was called.
    pub tool: Option<String>,
    /// The generation of the protocol.
    pub generation: Generation,
    /// The result: JSON.
    pub result: Vec<u8>,
}

/// What an enforcement point does with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enforced {
    /// It passes on as it is.
    Passed,
    /// The client gets this result in place of the server's.
    Answered(Vec<u8>),
    /// The client gets an error of JSON-RPC.
    Failed {
        /// The code.
        code: i64,
        /// A sentence.
        message: String,
        /// The member `data`, as JSON.
        data: Option<Vec<u8>>,
    },
}

impl Enforced {
    fn failed(code: i64, message: impl Into<String>) -> Self {
        Self::Failed {
            code,
            message: message.into(),
            data: None,
        }
    }

    fn of(action: CallAction) -> Self {
        match action {
            CallAction::Error {
                code,
                message,
                data,
            } => Self::Failed {
                code,
                message,
                data,
            },
            CallAction::Answer(result) => Self::Answered(result),
            _ => Self::failed(INTERNAL_ERROR, "the request can't be decided"),
        }
    }
}

impl DecisionPoint {
    /// Decides on a request to a server.
    ///
    /// # Errors
    /// The subject is too large or unreadable, or no locked server has the name.
    pub fn request(&self, asked: &AskedRequest, now: Clock) -> Result<Enforced, (Code, String)> {
        self.enforced(asked, now, |caller, named, arguments| {
            let reasons = self.reasons_against(caller, named, arguments, now);
            Ok(Found::from(reasons))
        })
    }

    /// Decides on a request to a server, on a call by what a function finds against it.
    pub(super) fn enforced(
        &self,
        asked: &AskedRequest,
        now: Clock,
        find: impl FnOnce(&Caller<'_>, (&str, Target), &Arguments<'_>) -> Result<Found, (Code, String)>,
    ) -> Result<Enforced, (Code, String)> {
        let server = self.server(&asked.server)?;
        let client = asked.subject.client(asked.generation);
        let caller = Caller::read(&client)?;
        if asked.method == "tools/call" {
            return self.call(asked, server, &caller, find);
        }
        if let Some(reason) = self.other_agent(asked.agent.as_deref()) {
            return Ok(self.refused(&asked.method, vec![reason]));
        }
        let method = match Method::named(&asked.method) {
            Some(method) => method,
            None if is_about_nothing(&asked.method) => return Ok(Enforced::Passed),
            None => {
                let text = format!("the method `{}` is not passed on", visible(&asked.method));
                return Ok(Enforced::failed(METHOD_NOT_FOUND, text));
            }
        };
        let basis = &self.session.basis;
        let own = &basis.servers[server];
        let serve = method.serve();
        if !basis.serves(own, serve) {
            let text = format!("the lock passes on no {} of `{}`", serve.as_str(), own.name);
            return Ok(Enforced::failed(METHOD_NOT_FOUND, text));
        }
        if let Err(message) = read_params(asked.params.as_deref().unwrap_or(b"{}")) {
            return Ok(Enforced::failed(INVALID_PARAMS, message));
        }
        let decision = self.session.decision(now);
        let rules = rules_about(&decision, (&own.id, method.name()));
        let mut reasons: Vec<_> = rules.into_iter().map(state_required).collect();
        let vetoed = decision.surface.vetoed(server);
        reasons.extend(vetoed.map(|(reason, _)| reason));
        Ok(match reasons.is_empty() {
            true => Enforced::Passed,
            false => self.refused(&asked.method, reasons),
        })
    }

    /// Decides on a call by what a function finds against it.
    fn call(
        &self,
        asked: &AskedRequest,
        server: usize,
        caller: &Caller<'_>,
        find: impl FnOnce(&Caller<'_>, (&str, Target), &Arguments<'_>) -> Result<Found, (Code, String)>,
    ) -> Result<Enforced, (Code, String)> {
        let params = asked.params.as_deref().unwrap_or(b"{}");
        let request = match Request::read(params) {
            Ok(request) => request,
            Err(message) => return Ok(Enforced::failed(INVALID_PARAMS, message)),
        };
        let mut names = request.names();
        if let Some(other) = names.find(|it| !CALL_PARAMETERS.contains(it)) {
            let text = format!("`{}` of the parameters is not passed on", visible(other));
            return Ok(Enforced::failed(INVALID_PARAMS, text));
        }
        // The route says the server: a name with `/` is no other server's.
        let named = (&*request.name, self.own_tool(server, &request.name));
        let other_agent = self.other_agent(asked.agent.as_deref());
        let mut reasons: Vec<_> = other_agent.into_iter().collect();
        let found = find(caller, named, &request.arguments())?;
        reasons.extend(found.reasons);
        if reasons.is_empty() {
            return Ok(Enforced::Passed);
        }
        let refusal = Refusal {
            approval: found.approval,
            ..Refusal::new(what(&request.name), reasons)
        };
        let refused = refusal.result(asked.generation, &self.session.redactor);
        Ok(Enforced::Answered(refused))
    }

    /// Decides what a client gets of a result.
    ///
    /// # Errors
    /// No locked server has the name.
    pub fn result(
        &self,
        received: &ReceivedResult,
        now: Clock,
    ) -> Result<Enforced, (Code, String)> {
        let server = self.server(&received.server)?;
        let ReceivedResult {
            method,
            generation,
            result,
            ..
        } = received;
        Ok(match (&**method, Method::named(method)) {
            ("tools/call", _) => return self.result_of_call(server, received),
            ("tools/list", _) => self.tools_of(server, *generation, result, now),
            (_, Some(method)) => match method.list() {
                Some(kind) => self.entries(server, kind, *generation, result),
                None => return self.contents(server, method, received),
            },
            (opening, None) if OPENINGS.contains(&opening) => self.opening(server, result),
            (harmless, None) if HARMLESS.contains(&harmless) => Enforced::Passed,
            _ => Enforced::failed(INTERNAL_ERROR, "nobody asked for the result"),
        })
    }

    /// Returns the tools of a server as its client may list them: those that the lock has, as it has them.
    ///
    /// # Errors
    /// No locked server has the name.
    pub fn list(&self, server: &str, generation: Generation) -> Result<Vec<u8>, (Code, String)> {
        let server = self.server(server)?;
        let tools: Vec<_> = self.session.basis.tools_of(server).collect();
        Ok(self.written(&tools, generation, None))
    }

    /// Decides on the result of `tools/list`: a page of it.
    fn tools_of(
        &self,
        server: usize,
        generation: Generation,
        result: &[u8],
        now: Clock,
    ) -> Enforced {
        let session = &self.session;
        let watch = Watch {
            before: &Live::default(),
            deviations: 0,
            names: 0,
            observe: false,
            redactor: &session.redactor,
        };
        let live = compare(&session.basis, server, result, watch).live;
        if let Some(Deviation::Unreadable) = live.whole {
            return Enforced::failed(INTERNAL_ERROR, "the server's list of tools can't be read");
        }
        let surface = session.surface(now);
        let is_passed_on = |it: &usize| live.deviation(*it).is_none() && !surface.is_withheld(*it);
        let tools: Vec<_> = match surface.is_vetoed(server) {
            true => Vec::new(),
            false => session
                .basis
                .tools_of(server)
                .filter(is_passed_on)
                .collect(),
        };
        let text = core::str::from_utf8(result).ok();
        let root = text.and_then(parse_strict);
        let cursor = root.as_ref().and_then(|it| member(it, "nextCursor"));
        Enforced::Answered(self.written(&tools, generation, cursor.and_then(string)))
    }

    /// Writes a list of tools under the names that their server has for them.
    fn written(&self, tools: &[usize], generation: Generation, cursor: Option<&str>) -> Vec<u8> {
        let basis = &self.session.basis;
        list(generation, "tools", cursor, |w| {
            for tool in tools {
                w.json(&basis.tools[*tool].own_entry(generation));
            }
        })
    }

    /// Decides on a page of a list of resources or prompts.
    fn entries(
        &self,
        server: usize,
        kind: ListKind,
        generation: Generation,
        result: &[u8],
    ) -> Enforced {
        let basis = &self.session.basis;
        if !basis.serves(&basis.servers[server], kind.method().serve()) {
            return Enforced::failed(METHOD_NOT_FOUND, "the lock does not pass the list on");
        }
        let found = entries::read(kind, result, 1, &self.session.redactor);
        let root = core::str::from_utf8(result).ok().and_then(parse_strict);
        let cursor = root.as_ref().and_then(|it| member(it, "nextCursor"));
        let cursor = cursor.and_then(string);
        Enforced::Answered(list(generation, kind.member(), cursor, |w| {
            for entry in &found.entries {
                entry.write(w, kind, &entry.key);
            }
        }))
    }

    /// Decides on a resource or a prompt.
    fn contents(
        &self,
        server: usize,
        method: Method,
        received: &ReceivedResult,
    ) -> Result<Enforced, (Code, String)> {
        let call = OpenCall {
            method: Some(method),
            ..self.passed_on(server, None, received.generation)?
        };
        let (max_bytes, redactor) = (
            self.session.settings.payload_max_bytes,
            &self.session.redactor,
        );
        Ok(
            match contents::pass(&call, method, &received.result, max_bytes, redactor) {
                Ok(Passed::AsReceived) => Enforced::Passed,
                Ok(Passed::Changed(changed)) => Enforced::Answered(changed),
                Err(texts) => {
                    let what = format!("The result of `{}`", method.name());
                    Enforced::of(error(&Refusal::new(what, invalid(texts)), redactor))
                }
            },
        )
    }

    /// Decides on the result of a call.
    fn result_of_call(
        &self,
        server: usize,
        received: &ReceivedResult,
    ) -> Result<Enforced, (Code, String)> {
        let session = &self.session;
        let name = received.tool.as_deref().unwrap_or_default();
        let mut own = session.basis.tools_of(server);
        let tool = own.find(|it| session.basis.tools[*it].own_name() == name);
        let call = self.passed_on(server, tool, received.generation)?;
        let result = &received.result;
        let (max_bytes, redactor) = (session.settings.payload_max_bytes, &session.redactor);
        let texts = match (tool, continues(&call, result, max_bytes, redactor)) {
            (None, _) => vec!["its tool is not locked".to_owned()],
            (Some(_), Some(Ok(_))) => return Ok(Enforced::Passed),
            (Some(_), Some(Err(texts))) => texts,
            (Some(_), None) => match pass(&call, result, max_bytes, redactor) {
                Ok(delivery) => return Ok(Enforced::Answered(delivery.result)),
                Err(texts) => texts,
            },
        };
        let refusal = withheld(Some(name), invalid(texts), Sent::of(result));
        let refused = refusal.result(received.generation, redactor);
        Ok(Enforced::Answered(refused))
    }

    /// Decides on the result that opens a session: a client learns of nothing that is not passed on, and gets no
    /// instructions that no lock has.
    fn opening(&self, server: usize, result: &[u8]) -> Enforced {
        let unreadable = || Enforced::failed(INTERNAL_ERROR, "the server's answer can't be read");
        let Ok(text) = core::str::from_utf8(result) else {
            return unreadable();
        };
        let Some(root) = parse_strict(text) else {
            return unreadable();
        };
        let Value::Mapping(members) = &root.value else {
            return unreadable();
        };
        let mut w = Writer::dense();
        w.object(|w| {
            let mut members: Vec<_> = members.iter().collect();
            sort_by(&mut members, |a, b| a.key.cmp(&b.key));
            for entry in members {
                match &*entry.key {
                    "instructions" => {}
                    "capabilities" => {
                        let given = w.key("capabilities");
                        self.write_capabilities(given, server, &entry.value, text);
                    }
                    key => w.key(key).json(entry.value.span.of(text)),
                }
            }
        });
        let mut kept = w.finish();
        kept.pop();
        Enforced::Answered(kept.into_bytes())
    }

    fn write_capabilities(&self, w: &mut Writer, server: usize, given: &Node<'_>, text: &str) {
        let basis = &self.session.basis;
        let own = &basis.servers[server];
        let is_kept = |name: &str| match name {
            "prompts" => basis.serves(own, Serve::Prompts),
            "resources" => basis.serves(own, Serve::Resources),
            _ => true,
        };
        w.object(|w| {
            for name in ["prompts", "resources", "tools"] {
                if let Some(node) = member(given, name).filter(|_| is_kept(name)) {
                    w.key(name).json(node.span.of(text));
                }
            }
        });
    }

    /// Returns the number of a locked server.
    pub(super) fn server(&self, name: &str) -> Result<usize, (Code, String)> {
        self.server_named(name).ok_or_else(|| {
            let text = format!("the lock has no server `{}`", visible(name));
            (Code::ToolNotLocked, text)
        })
    }

    /// Returns a call as if it had been passed on.
    fn passed_on(
        &self,
        server: usize,
        tool: Option<usize>,
        generation: Generation,
    ) -> Result<OpenCall, (Code, String)> {
        let client = CallSubject::default().client(generation);
        let caller = Caller::read(&client)?;
        Ok(self.session.open_call(&caller, (server, tool), "", &[]))
    }

    pub(super) fn refused(&self, method: &str, reasons: Vec<CallReason>) -> Enforced {
        let what = format!("The request `{}`", visible(method));
        Enforced::of(error(&Refusal::new(what, reasons), &self.session.redactor))
    }
}

/// Returns whether a request concerns no resource and no prompt, and no call of a tool.
fn is_about_nothing(method: &str) -> bool {
    method == "tools/list" || OPENINGS.contains(&method) || HARMLESS.contains(&method)
}

/// Returns the result of a list.
fn list(
    generation: Generation,
    name: &str,
    cursor: Option<&str>,
    write: impl FnOnce(&mut Writer),
) -> Vec<u8> {
    let is_new = generation == Generation::Stateless;
    let mut w = Writer::dense();
    w.object(|w| {
        if is_new {
            w.key("cacheScope").string("private");
        }
        if let Some(cursor) = cursor {
            w.key("nextCursor").string(cursor);
        }
        let typed = |w: &mut Writer| {
            if is_new {
                w.key("resultType").string("complete");
            }
        };
        match name < "resultType" {
            true => {
                w.key(name).array(write);
                typed(w);
            }
            false => {
                typed(w);
                w.key(name).array(write);
            }
        }
        if is_new {
            w.key("ttlMs").number(LIST_TTL_MS);
        }
    });
    let mut text = w.finish();
    text.pop();
    text.into_bytes()
}
