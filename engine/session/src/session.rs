//! The session as its host sees it.

use super::approval::{Approvals, Consent};
use super::audit::{Chain, Record, Recorder, write_content};
use super::basis::{Basis, Digests};
use super::calls::{Calls, OpenCall};
use super::client::{Caller, Client, Generation};
use super::decision::{Decision, Reasons, Target, Via};
use super::delivery::{Passed, pass};
use super::documents::Documents;
use super::expanded::ExpandedTools;
use super::health::{Observation, ServerHealth};
use super::limits::{APPROVAL_WAIT_MS, CALL_TIMEOUT_MS, OPEN_CALLS_MAX, QUOTE_MAX_CHARS};
use super::live::{Comparison, Deviation, Drifted, Live, Withheld, compare};
use super::options::{Expansion, Options};
use super::quota::Quotas;
use super::refusal::{Refusal, result, write_reasons};
use super::request::{Operation, Request, arguments_form};
use super::stub::{Stub, StubAnswer};
use super::surface::Surface;
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::explain::CallReason;
use agent_api::lower::digest;
use agent_api::model::Serve;
use agent_api::text::visible;
use agent_record::{Clock, Redactor};
use agent_syntax::json::{Writer, parse_strict};
use std::sync::Arc;

/// JSON-RPC: the parameters are invalid.
const INVALID_PARAMS: i64 = -32602;

/// JSON-RPC: the host failed.
const INTERNAL_ERROR: i64 = -32603;

/// Maximum number of characters of arguments that a human sees before an approval.
const SHOWN_ARGUMENTS: usize = 4_000;

/// An agent's session with its servers.
#[derive(Debug)]
pub struct Session {
    pub(crate) basis: Arc<Basis>,
    pub(crate) settings: Settings,
    pub(crate) redactor: Redactor,
    pub(crate) state: State,
}

/// What a host decided about a session.
#[derive(Debug)]
pub(crate) struct Settings {
    seed: [u8; 32],
    pub(crate) expansion: Expansion,
    pub(crate) budget: Option<u64>,
    pub(crate) observe: bool,
    audit_arguments: bool,
    payload_max_bytes: u64,
}

/// What outlives a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) chain: Chain,
    /// By number of the server.
    pub(crate) lives: Vec<Live>,
    /// By number of the server.
    pub(crate) health: Vec<ServerHealth>,
    pub(crate) quotas: Quotas,
    pub(crate) approvals: Approvals,
    pub(crate) calls: Calls,
    pub(crate) expanded: ExpandedTools,
}

/// A server that a host starts or connects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedServer {
    /// Its name within the session, which a host gives back: its id, or `id@version` if the lock has
    /// several of its versions.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Its locked version.
    pub version: String,
    /// Its locked endpoint.
    pub endpoint: String,
    /// Whether its resources are passed on. A lock says so with `serve`; without it they are withheld.
    pub resources: bool,
    /// Whether its prompts are passed on, likewise.
    pub prompts: bool,
}

/// A live list, compared with the lock.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// The locked tools that clients get.
    pub exposed: Vec<String>,
    /// The others, which no client gets.
    pub withheld: Vec<Withheld>,
    /// The locked tools that are quarantined.
    pub drifted: Vec<Drifted>,
    /// Whether the list of clients is another one now.
    pub list_changed: bool,
    /// What to record.
    pub records: Vec<Record>,
}

/// A list of tools.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The result of `tools/list`: the same for every client of a lock and a generation, but for what a
    /// session of 2025-11-25 added with [`Expansion::List`].
    pub result: Vec<u8>,
    /// What to record.
    pub records: Vec<Record>,
}

/// A decided call.
#[derive(Debug, Clone)]
pub struct Called {
    /// The id of the call. It is open if it is passed on or waits for an approval.
    pub id: u64,
    /// What to do.
    pub action: CallAction,
    /// What to record.
    pub records: Vec<Record>,
    /// Whether the list of this client's session is another one now.
    pub list_changed: bool,
}

/// What to do with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallAction {
    /// Pass it on, and give what came of it to [`Session::result`] or [`Session::failed`].
    Forward {
        /// The name of the server within the session.
        server: String,
        /// The parameters of `tools/call` for the server.
        params: Vec<u8>,
        /// Maximum time in milliseconds.
        timeout_ms: u64,
        /// Maximum size of the result in bytes.
        max_bytes: u64,
    },
    /// Answer with this result.
    Answer(Vec<u8>),
    /// Ask a human. When [`Session::approve`] names the call, give its parameters to [`Session::call`]
    /// once more; when the time is over, answer with what [`Session::failed`] returns for
    /// [`Failure::TimedOut`].
    AskApproval {
        /// The id of the approval.
        approval: String,
        /// What the human decides about.
        text: String,
        /// The end of the time that the call waits, in milliseconds since 1970.
        expires_unix_ms: u64,
    },
    /// Answer with an error of JSON-RPC.
    Error {
        /// A code that JSON-RPC defines.
        code: i64,
        /// A sentence.
        message: String,
        /// The `data` of the error, as JSON.
        data: Option<Vec<u8>>,
    },
}

/// Why an open call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The client cancelled it.
    Cancelled,
    /// The server, or the human, did not answer in time.
    TimedOut,
    /// The connection to the server closed.
    Closed,
    /// The server answered with an error of JSON-RPC.
    ServerError {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// The result is larger than its limit, so the host did not read it.
    TooLarge,
}

/// What a client gets for a call that was passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// The result as it was received.
    AsReceived(Vec<Record>),
    /// This result in its place.
    Changed(Vec<u8>, Vec<Record>),
    /// A refusal in its place.
    Refused(Vec<u8>, Vec<Record>),
    /// Nothing: the call was cancelled, or no such call is open.
    Nothing(Vec<Record>),
}

/// An answered approval.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approved {
    /// Whether somebody asks for it.
    pub is_known: bool,
    /// The calls that wait for it. They are closed: give their parameters to [`Session::call`] once more.
    pub waiting: Vec<u64>,
    /// What to record.
    pub records: Vec<Record>,
}

/// The health of a server after an observation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transition {
    /// The status, if it is another one now.
    pub status: Option<&'static str>,
    /// Whether the list of clients is another one now.
    pub list_changed: bool,
    /// What to record.
    pub records: Vec<Record>,
}

/// Other documents of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// Whether the list of clients is another one now.
    pub list_changed: bool,
    /// What to record.
    pub records: Vec<Record>,
}

/// A decided call, before it is recorded.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) action: CallAction,
    phase: &'static str,
    server: Option<usize>,
    /// The name of the tool.
    tool: String,
    pub(crate) reasons: Vec<CallReason>,
    /// The id of the approval that was given or denied.
    approval: Option<String>,
    arguments: String,
    list_changed: bool,
    open: Option<OpenCall>,
}

impl Session {
    /// Opens a session.
    ///
    /// # Errors
    /// The documents can't be read; the lock differs from the index, the policy or the definitions; names
    /// are not unique; a definition contains invisible characters; or the state is not one that a session
    /// exported.
    pub fn open(
        documents: Documents,
        options: Options,
        now: Clock,
    ) -> Result<(Self, Vec<Record>), Vec<Diagnostic>> {
        let basis = Arc::new(Basis::read(documents)?);
        let state = match &options.state {
            None => State::new(&basis, now),
            Some(bytes) => State::import(bytes, &basis, now)?,
        };
        let mut session = Self {
            redactor: Redactor::new(&options.secrets),
            basis,
            settings: Settings {
                seed: options.seed,
                expansion: options.expansion,
                budget: options.budget,
                observe: options.observe,
                audit_arguments: options.audit_arguments,
                payload_max_bytes: options.payload_max_bytes,
            },
            state,
        };
        let record = session.opened("opened", now);
        Ok((session, vec![record]))
    }

    /// Takes other documents. Calls that are open keep the lock that they were decided under. Servers that
    /// both locks have keep their health and quotas; under another lock they must list their tools again,
    /// and what was expanded or asked for under the earlier one is forgotten.
    ///
    /// # Errors
    /// As [`Session::open`]. The session then goes on as it was.
    pub fn reload(
        &mut self,
        documents: Documents,
        now: Clock,
    ) -> Result<Reloaded, Vec<Diagnostic>> {
        let basis = Arc::new(Basis::read(documents)?);
        let list = |session: &Self| session.surface().list(Generation::Stateless, None);
        let before = list(self);
        let is_same = basis.digests.lock == self.basis.digests.lock;
        let mut state = State::new(&basis, now);
        for (number, server) in basis.servers.iter().enumerate() {
            if let Some(before) = self.basis.server_number(&server.name) {
                state.health[number] = self.state.health[before];
            }
        }
        self.state.health = state.health;
        let mut list_changed = false;
        if !is_same {
            self.state.lives = state.lives;
            // They name tools of the earlier lock.
            self.state.approvals.pending.clear();
            let expanded = core::mem::take(&mut self.state.expanded);
            let joins_lists = self.settings.expansion == Expansion::List;
            list_changed = joins_lists && !expanded.sessions.is_empty();
        }
        self.basis = basis;
        Ok(Reloaded {
            list_changed: list_changed || list(self) != before,
            records: vec![self.opened("reloaded", now)],
        })
    }

    /// Returns the servers to start or to connect to, ordered by name.
    pub fn servers(&self) -> Vec<LockedServer> {
        let servers = self.basis.servers.iter();
        let servers = servers.map(|server| LockedServer {
            name: server.name.clone(),
            id: server.id.clone(),
            version: server.version.clone(),
            endpoint: server.endpoint.clone(),
            resources: self.basis.serves(server, Serve::Resources),
            prompts: self.basis.serves(server, Serve::Prompts),
        });
        servers.collect()
    }

    /// Takes the result of a server's `tools/list`, all pages joined. What it lists otherwise than it was
    /// locked is quarantined until it lists it as locked again.
    pub fn tools(&mut self, server: &str, list: &[u8], now: Clock) -> Observed {
        let Some(number) = self.basis.server_number(server) else {
            return Observed::default();
        };
        let before = self.surface().withheld();
        let others = self.state.lives.iter().enumerate();
        let others = others.filter(|(it, _)| *it != number).map(|(_, live)| live);
        let known = others.fold((0, 0), |(deviations, names), live| {
            (
                deviations + live.deviations.len(),
                names + live.unlocked.len(),
            )
        });
        let Comparison {
            live,
            drifted,
            withheld,
        } = compare(&self.basis, number, list, known);
        self.state.lives[number] = live;
        let surface = self.surface();
        let exposed = self.basis.tools_of(number);
        let exposed = exposed.filter(|tool| !surface.is_withheld(*tool));
        let exposed: Vec<_> = exposed
            .map(|tool| self.basis.tools[tool].name().to_owned())
            .collect();
        let list_changed = surface.withheld() != before;
        let record = self.record("tools", now, |w| {
            w.key("drifted").array(|w| {
                for drift in &drifted {
                    w.object(|w| write_drift(w, drift));
                }
            });
            w.key("exposed").strings(exposed.iter().map(|it| &**it));
            w.key("list").object(|w| write_content(w, list));
            w.key("list_changed").bool(list_changed);
            w.key("server").string(server);
            w.key("withheld").array(|w| {
                for it in &withheld {
                    w.object(|w| {
                        w.key("code").string(it.code.name());
                        w.key("tool").string(&it.tool);
                    });
                }
            });
        });
        Observed {
            exposed,
            withheld,
            drifted,
            list_changed,
            records: vec![record],
        }
    }

    /// Returns the result of `tools/list` for a client.
    pub fn list(&mut self, client: &Client, now: Clock) -> Listed {
        let caller = Caller::read(client).ok();
        let session = caller.as_ref().and_then(|it| it.session.as_ref());
        let text = self.surface().list(client.generation, session);
        let record = self.record("list", now, |w| {
            write_client(w, client);
            w.key("list").object(|w| write_content(w, text.as_bytes()));
        });
        Listed {
            result: text.into_bytes(),
            records: vec![record],
        }
    }

    /// Decides on the parameters of a client's `tools/call`.
    pub fn call(&mut self, client: &Client, params: &[u8], now: Clock) -> Called {
        let id = self.state.calls.next();
        let decided = match Caller::read(client) {
            Err(message) => Err((INTERNAL_ERROR, message)),
            Ok(caller) => match Request::read(params) {
                Err(message) => Err((INVALID_PARAMS, message)),
                Ok(request) => {
                    let decided = self.decide(&caller, &request, now);
                    Ok((caller, request.name, decided))
                }
            },
        };
        match decided {
            Err((code, message)) => {
                let record = self.record("decision", now, |w| {
                    w.key("action").string("error");
                    w.key("call").json(&id.to_string());
                    write_client(w, client);
                    w.key("params").object(|w| write_content(w, params));
                    w.key("text").string(&message);
                });
                Called {
                    id,
                    action: CallAction::Error {
                        code,
                        message,
                        data: None,
                    },
                    records: vec![record],
                    list_changed: false,
                }
            }
            Ok((caller, name, decided)) => {
                let record = self.record_decision(id, (&caller, &name), &decided, now);
                if let Some(open) = decided.open {
                    self.state.calls.open.insert(id, open);
                }
                Called {
                    id,
                    action: decided.action,
                    records: vec![record],
                    list_changed: decided.list_changed,
                }
            }
        }
    }

    /// Takes the result of a call that was passed on.
    pub fn result(&mut self, id: u64, result: &[u8], now: Clock) -> Delivered {
        let Some(call) = self.close(id) else {
            return Delivered::Nothing(vec![self.unexpected(id, now)]);
        };
        let max_bytes = self.settings.payload_max_bytes;
        match pass(&call, result, max_bytes, &self.redactor) {
            Ok((passed, is_error)) => {
                let outcome = if is_error { "tool_error" } else { "delivered" };
                let records = vec![self.effect(id, &call, outcome, Some(result), &[], now)];
                match passed {
                    Passed::AsReceived => Delivered::AsReceived(records),
                    Passed::Changed(changed) => Delivered::Changed(changed, records),
                }
            }
            Err(texts) => {
                let texts = texts.into_iter();
                let reasons = texts.map(|text| {
                    let help = "Do without the result; its server must correct it.";
                    CallReason::new(Code::OutputInvalid, text).help(help)
                });
                self.withhold(id, &call, "withheld", reasons.collect(), Some(result), now)
            }
        }
    }

    /// Takes that an open call has no result.
    pub fn failed(&mut self, id: u64, how: &Failure, now: Clock) -> Delivered {
        let Some(call) = self.state.calls.open.remove(&id) else {
            return Delivered::Nothing(vec![self.unexpected(id, now)]);
        };
        if *how == Failure::Cancelled {
            if let Some(approval) = &call.approval
                && self.state.calls.waiting(approval).is_empty()
            {
                self.state.approvals.withdraw(approval);
            }
            let record = self.effect(id, &call, "cancelled", None, &[], now);
            return Delivered::Nothing(vec![record]);
        }
        if call.approval.is_some() {
            let reasons = vec![CallReason::new(
                Code::ApprovalRequired,
                "nobody approved the call in time",
            )];
            return self.withhold(id, &call, "not_approved", reasons, None, now);
        }
        let (outcome, code, text) = match how {
            Failure::TooLarge => (
                "withheld",
                Code::OutputInvalid,
                format!(
                    "the result is larger than {} bytes",
                    self.settings.payload_max_bytes
                ),
            ),
            Failure::TimedOut => (
                "timed_out",
                Code::ServerFailed,
                format!("the server did not answer within {CALL_TIMEOUT_MS} ms"),
            ),
            Failure::ServerError { code, message } => {
                let quoted: String = visible(message).chars().take(QUOTE_MAX_CHARS).collect();
                let text = format!("the server answered with the error {code}: {quoted}");
                ("failed", Code::ServerFailed, text)
            }
            Failure::Closed | Failure::Cancelled => (
                "closed",
                Code::ServerFailed,
                "the server closed the connection before it answered".to_owned(),
            ),
        };
        let reasons = vec![CallReason::new(code, text)];
        self.withhold(id, &call, outcome, reasons, None, now)
    }

    /// Takes the answer of a human to an approval. Only what the host itself shows to the human may give
    /// it, never a client.
    pub fn approve(&mut self, approval: &str, answer: bool, by: &str, now: Clock) -> Approved {
        let now_ms = now.unix_ms;
        let known = self.state.approvals.answer(approval, answer, now_ms);
        let tool = known.map(|known| known.tool);
        let waiting = match tool {
            Some(_) => self.state.calls.waiting(approval),
            None => Vec::new(),
        };
        for id in &waiting {
            self.state.calls.open.remove(id);
        }
        let name = tool.map(|tool| self.basis.tools[tool].name().to_owned());
        let record = self.record("approval", now, |w| {
            w.key("answer").bool(answer);
            w.key("approval").string(approval);
            w.key("by").string(by);
            w.key("calls").array(|w| {
                waiting.iter().for_each(|id| w.json(&id.to_string()));
            });
            w.key("is_known").bool(tool.is_some());
            w.key("tool").optional(name.as_deref());
        });
        Approved {
            is_known: tool.is_some(),
            waiting,
            records: vec![record],
        }
    }

    /// Takes what a host observed of a server.
    pub fn observe(&mut self, server: &str, observation: Observation, now: Clock) -> Transition {
        let Some(number) = self.basis.server_number(server) else {
            return Transition::default();
        };
        let before = self.state.health[number];
        let after = before.after(observation, now.unix_ms);
        self.state.health[number] = after;
        if before.status == after.status {
            return Transition::default();
        }
        let record = self.record("health", now, |w| {
            w.key("after").string(after.name());
            w.key("before").string(before.name());
            w.key("server").string(server);
        });
        Transition {
            status: Some(after.name()),
            // Only the fall-back of a vetoed tool joins a list.
            list_changed: before.passes() != after.passes()
                && (self.basis.tools_of(number)).any(|it| self.basis.fallback(it).is_some()),
            records: vec![record],
        }
    }

    /// Returns what clients see now.
    pub(crate) fn surface(&self) -> Surface<'_> {
        Surface {
            basis: &self.basis,
            lives: &self.state.lives,
            expanded: &self.state.expanded,
            expansion: self.settings.expansion,
        }
    }

    /// Returns everything that decides on a call now.
    pub(crate) fn decision(&self, now: Clock) -> Decision<'_> {
        Decision {
            surface: self.surface(),
            health: &self.state.health,
            quotas: &self.state.quotas,
            now,
        }
    }

    /// Decides on a call.
    pub(crate) fn decide(
        &mut self,
        caller: &Caller<'_>,
        request: &Request<'_>,
        now: Clock,
    ) -> Decided {
        let target = self.decision(now).target(&request.name);
        match target {
            Target::Tool(tool) => {
                let how = (tool, Via::Name);
                self.decide_tool(caller, request, how, request.arguments, now)
            }
            Target::Stub(server) => self.decide_stub(caller, request, server, now),
            Target::Unlocked(server) => self.decide_unlocked(caller, request, server, now),
            Target::Unknown => {
                let similar = self
                    .decision(now)
                    .similar(&request.name, caller.session.as_ref());
                let name = visible(&request.name);
                let mut w = Writer::dense();
                w.object(|w| w.key("instead").strings(similar.iter().map(|it| &**it)));
                let data = w.finish().trim_end().as_bytes().to_vec();
                let name: String = name.chars().take(QUOTE_MAX_CHARS).collect();
                let message = format!("no locked server has a tool `{name}`");
                Decided {
                    action: CallAction::Error {
                        code: INVALID_PARAMS,
                        message: self.redactor.text(&message),
                        data: Some(data),
                    },
                    phase: "call",
                    server: None,
                    tool: request.name.clone(),
                    reasons: Vec::new(),
                    approval: None,
                    arguments: arguments_form(request.arguments),
                    list_changed: false,
                    open: None,
                }
            }
        }
    }

    /// Decides on a call of a tool that the lock does not have.
    fn decide_unlocked(
        &mut self,
        caller: &Caller<'_>,
        request: &Request<'_>,
        server: usize,
        now: Clock,
    ) -> Decided {
        let reasons = self.basis.unlocked_reasons(server, &request.name);
        let is_live = self.state.lives[server].is_listed;
        let decided = Decided {
            action: CallAction::Answer(Vec::new()),
            phase: "call",
            server: Some(server),
            tool: request.name.clone(),
            approval: None,
            arguments: arguments_form(request.arguments),
            list_changed: false,
            open: None,
            reasons,
        };
        if self.settings.observe && is_live && self.has_room() {
            let params = request.forwarded(&request.name, request.arguments);
            let call = self.open_call(caller, server, None, decided.reasons.clone());
            return Decided {
                action: self.forward(server, params),
                open: Some(call),
                ..decided
            };
        }
        let instead = self
            .decision(now)
            .similar(&request.name, caller.session.as_ref());
        let refusal = Refusal {
            instead,
            ..Refusal::new(what(&request.name), decided.reasons.clone())
        };
        self.refuse(decided, caller, &refusal)
    }

    /// Decides on a call of a locked tool, by its name or by a stub.
    fn decide_tool(
        &mut self,
        caller: &Caller<'_>,
        request: &Request<'_>,
        (tool, via): (usize, Via),
        arguments: Option<&str>,
        now: Clock,
    ) -> Decided {
        let basis = Arc::clone(&self.basis);
        let own = &basis.tools[tool];
        let form = arguments_form(arguments);
        let decision = self.decision(now);
        let reasons = decision.reasons(caller, (tool, via), arguments);
        let decided = Decided {
            action: CallAction::Answer(Vec::new()),
            phase: "call",
            server: Some(own.server),
            tool: own.name().to_owned(),
            reasons: Vec::new(),
            approval: None,
            arguments: form,
            list_changed: false,
            open: None,
        };
        let observes = self.settings.observe && reasons.drift.is_empty();
        if !reasons.is_empty() && !observes {
            return self.refuse_tool(decided, caller, (tool, via), reasons, now);
        }
        if !self.has_room() {
            let text = format!("{OPEN_CALLS_MAX} calls are open");
            let reasons = vec![CallReason::new(Code::SessionLimit, text)];
            let refusal = Refusal::new(what(own.name()), reasons);
            return self.refuse(decided, caller, &refusal);
        }
        let mut would = reasons.into_all();
        let mut approval = None;
        if own.served.needs_approval() {
            if self.settings.observe {
                let text = "a human must approve the call";
                would.push(CallReason::new(Code::ApprovalRequired, text));
            } else {
                let digest = digest(&decided.arguments);
                let seed = (&self.settings.seed, now.unix_ms);
                let consent = (self.state.approvals).consent(&caller.key, tool, &digest, seed);
                match consent {
                    Consent::Given(id) => approval = Some(id),
                    other => return self.without_consent(decided, caller, tool, other, now),
                }
            }
        }
        if own.served.is_rate_limited() {
            let server = &basis.servers[own.server].key;
            let now_ms = now.unix_ms;
            self.state.quotas.count(&caller.key, server, now_ms);
        }
        let params = request.forwarded(own.name(), arguments);
        Decided {
            action: self.forward(own.server, params),
            open: Some(self.open_call(caller, own.server, Some(tool), would.clone())),
            reasons: would,
            approval,
            ..decided
        }
    }

    /// Refuses a call of a locked tool.
    fn refuse_tool(
        &mut self,
        decided: Decided,
        caller: &Caller<'_>,
        (tool, via): (usize, Via),
        reasons: Reasons,
        now: Clock,
    ) -> Decided {
        let basis = Arc::clone(&self.basis);
        let own = &basis.tools[tool];
        let mut refusal = Refusal::new(what(own.name()), Vec::new());
        refusal.retry_after_ms = reasons.retry_after_ms;
        refusal.instead.extend(reasons.fallback.clone());
        if via == Via::Name && self.surface().is_behind_stub(tool) {
            refusal.instead.push(basis.server_of(tool).stub.clone());
        }
        if via == Via::Stub && reasons.is_of_arguments() && reasons.may_expand {
            let stub = self.stub(own.server, now);
            refusal.definition = stub.definition(caller, tool);
            if let (Some(session), Some(_)) = (&caller.session, &refusal.definition)
                && self.state.expanded.has_room(session, &[tool])
                && self.settings.expansion == Expansion::Stub
            {
                self.state.expanded.add(session, &[tool]);
            }
        }
        refusal.reasons = reasons.into_all();
        self.refuse(decided, caller, &refusal)
    }

    /// Refuses a call without an approval, or asks for it.
    fn without_consent(
        &mut self,
        mut decided: Decided,
        caller: &Caller<'_>,
        tool: usize,
        consent: Consent,
        now: Clock,
    ) -> Decided {
        let basis = Arc::clone(&self.basis);
        let own = &basis.tools[tool];
        let reason = match &consent {
            Consent::Denied(_) => CallReason::new(Code::ApprovalDenied, "a human denied the call"),
            Consent::Asked(_) | Consent::Given(_) => {
                CallReason::new(Code::ApprovalRequired, "a human must approve the call")
            }
            Consent::TooMany => {
                CallReason::new(Code::SessionLimit, "too many calls wait for an approval")
            }
        };
        let mut refusal = Refusal::new(what(own.name()), vec![reason]);
        if let Consent::Denied(id) = &consent {
            refusal.approval = Some(id.clone());
            decided.approval = Some(id.clone());
        }
        let Consent::Asked(approval) = consent else {
            return self.refuse(decided, caller, &refusal);
        };
        let mut call = self.open_call(caller, own.server, Some(tool), Vec::new());
        call.approval = Some(approval.clone());
        Decided {
            action: CallAction::AskApproval {
                approval: approval.clone(),
                text: self.approval_text(caller, tool, &decided.arguments),
                expires_unix_ms: now.unix_ms.saturating_add(APPROVAL_WAIT_MS),
            },
            reasons: refusal.reasons,
            approval: Some(approval),
            open: Some(call),
            ..decided
        }
    }

    /// Returns what a human decides about.
    fn approval_text(&self, caller: &Caller<'_>, tool: usize, arguments: &str) -> String {
        let redacted = self.redactor.json(arguments).unwrap_or_default();
        let shown = visible(&redacted);
        let arguments = match shown.char_indices().nth(SHOWN_ARGUMENTS) {
            None => shown.into_owned(),
            Some((end, _)) => format!(
                "{}… (cut: {} bytes in all, {})",
                &shown[..end],
                arguments.len(),
                digest(arguments)
            ),
        };
        let client = caller.client;
        format!(
            "The client `{}` ({}) calls `{}` of `{}` with {arguments}",
            visible(&client.id),
            visible(&client.kind),
            visible(self.basis.tools[tool].name()),
            self.basis.server_of(tool).name,
        )
    }

    /// Decides on a call of a stub.
    fn decide_stub(
        &mut self,
        caller: &Caller<'_>,
        request: &Request<'_>,
        server: usize,
        now: Clock,
    ) -> Decided {
        let basis = Arc::clone(&self.basis);
        let name = &basis.servers[server].stub;
        let mut decided = Decided {
            action: CallAction::Answer(Vec::new()),
            phase: "list_services",
            server: Some(server),
            tool: name.clone(),
            reasons: Vec::new(),
            approval: None,
            arguments: arguments_form(request.arguments),
            list_changed: false,
            open: None,
        };
        let operation = match Operation::read(request.arguments) {
            Ok(operation) => operation,
            Err((pointer, predicate)) => {
                let reason = CallReason {
                    pointer: Some(pointer.to_owned()),
                    ..CallReason::new(
                        Code::ArgumentInvalid,
                        format!("`arguments{pointer}` {predicate}"),
                    )
                };
                let refusal = Refusal {
                    definition: self.surface().stub(server),
                    ..Refusal::new(what(name), vec![reason])
                };
                return self.refuse(decided, caller, &refusal);
            }
        };
        let stub = self.stub(server, now);
        match operation {
            Operation::ListServices => match stub.services() {
                StubAnswer::Text(text, _) => self.answer(decided, caller, text),
                StubAnswer::Refused(refusal) => self.refuse(decided, caller, &refusal),
            },
            Operation::Expand(names) => {
                decided.phase = "expand";
                match stub.expand(caller, &names) {
                    StubAnswer::Text(text, tools) => {
                        decided.list_changed = self.expanded(caller, &tools);
                        self.answer(decided, caller, text)
                    }
                    StubAnswer::Refused(refusal) => {
                        let is_drift = |it: &CallReason| {
                            matches!(it.code, Code::DefinitionChanged | Code::ToolUnknown)
                        };
                        let observes =
                            self.settings.observe && !refusal.reasons.iter().any(is_drift);
                        let unrefused = match observes {
                            true => stub.expand_unrefused(&names),
                            false => None,
                        };
                        match unrefused {
                            Some(text) => {
                                decided.reasons = refusal.reasons;
                                self.answer(decided, caller, text)
                            }
                            None => self.refuse(decided, caller, &refusal),
                        }
                    }
                }
            }
            Operation::Call { tool, arguments } => {
                let number = basis.tool_number(&tool);
                match number.filter(|number| basis.tools[*number].server == server) {
                    Some(number) => {
                        let how = (number, Via::Stub);
                        self.decide_tool(caller, request, how, arguments, now)
                    }
                    None => {
                        let text = format!(
                            "the lock does not have `{}` of `{}`",
                            visible(&tool),
                            basis.servers[server].name
                        );
                        let reason = CallReason::new(Code::ToolNotLocked, text);
                        let help = format!("Call `{name}` with the operation `list_services`.");
                        let refusal = Refusal::new(what(&tool), vec![reason.help(help)]);
                        decided.phase = "call";
                        decided.tool = tool;
                        decided.arguments = arguments_form(arguments);
                        self.refuse(decided, caller, &refusal)
                    }
                }
            }
        }
    }

    fn stub(&self, server: usize, now: Clock) -> Stub<'_> {
        Stub {
            decision: self.decision(now),
            server,
            budget: self.settings.budget,
        }
    }

    /// Notes definitions that a client of the generation of sessions has got. Returns whether they joined
    /// its list.
    fn expanded(&mut self, caller: &Caller<'_>, tools: &[usize]) -> bool {
        let Some(session) = &caller.session else {
            return false;
        };
        self.state.expanded.add(session, tools) && self.settings.expansion == Expansion::List
    }

    fn has_room(&self) -> bool {
        self.state.calls.open.len() < OPEN_CALLS_MAX
    }

    fn open_call(
        &self,
        caller: &Caller<'_>,
        server: usize,
        tool: Option<usize>,
        observed: Vec<CallReason>,
    ) -> OpenCall {
        let mut observed: Vec<_> = observed.iter().map(|it| it.code).collect();
        observed.sort_unstable();
        observed.dedup();
        OpenCall {
            basis: Arc::clone(&self.basis),
            client: caller.key.clone(),
            generation: caller.client.generation,
            server,
            tool,
            approval: None,
            observed,
        }
    }

    fn forward(&self, server: usize, params: Vec<u8>) -> CallAction {
        CallAction::Forward {
            server: self.basis.servers[server].name.clone(),
            params,
            timeout_ms: CALL_TIMEOUT_MS,
            max_bytes: self.settings.payload_max_bytes,
        }
    }

    fn answer(&self, decided: Decided, caller: &Caller<'_>, text: String) -> Decided {
        let generation = caller.client.generation;
        let result = result(&[text], false, None, generation, &self.redactor);
        Decided {
            action: CallAction::Answer(result),
            ..decided
        }
    }

    fn refuse(&self, decided: Decided, caller: &Caller<'_>, refusal: &Refusal) -> Decided {
        let result = refusal.result(caller.client.generation, &self.redactor);
        Decided {
            action: CallAction::Answer(result),
            reasons: refusal.reasons.clone(),
            open: None,
            ..decided
        }
    }

    /// Closes a call that was passed on. A server can't answer for the human.
    fn close(&mut self, id: u64) -> Option<OpenCall> {
        let is_waiting = self.state.calls.open.get(&id)?.approval.is_some();
        if is_waiting {
            return None;
        }
        self.state.calls.open.remove(&id)
    }

    /// Returns the refusal of a result, with its record.
    fn withhold(
        &mut self,
        id: u64,
        call: &OpenCall,
        outcome: &str,
        reasons: Vec<CallReason>,
        result: Option<&[u8]>,
        now: Clock,
    ) -> Delivered {
        let name = call.tool().map(|tool| tool.name());
        let what = match (name, result) {
            (Some(name), Some(_)) => format!("The result of `{}`", visible(name)),
            (Some(name), None) => what(name),
            (None, _) => "The call".to_owned(),
        };
        let refusal = Refusal {
            approval: call.approval.clone(),
            ..Refusal::new(what, reasons)
        };
        let codes = refusal.codes();
        let record = self.effect(id, call, outcome, result, &codes, now);
        let bytes = refusal.result(call.generation, &self.redactor);
        Delivered::Refused(bytes, vec![record])
    }

    fn opened(&mut self, kind: &str, now: Clock) -> Record {
        let basis = Arc::clone(&self.basis);
        let expansion = self.settings.expansion.name();
        let audit_arguments = self.settings.audit_arguments;
        self.record(kind, now, |w| {
            w.key("agent").object(|w| {
                w.key("name").string(&basis.lock.agent.name.to_string());
                w.key("version")
                    .string(&basis.lock.agent.version.to_string());
            });
            w.key("audit_arguments").bool(audit_arguments);
            w.key("documents").object(|w| basis.digests.write(w));
            w.key("expansion").string(expansion);
            let servers = basis.servers.iter();
            w.key("servers").strings(servers.map(|it| &*it.name));
            w.key("tools").json(&basis.tools.len().to_string());
        })
    }

    fn record_decision(
        &mut self,
        id: u64,
        (caller, name): (&Caller<'_>, &str),
        decided: &Decided,
        now: Clock,
    ) -> Record {
        let basis = Arc::clone(&self.basis);
        let keeps = self.settings.audit_arguments;
        let server = decided.server.map(|number| &basis.servers[number]);
        let tool = basis.tool_number(&decided.tool).map(|it| &basis.tools[it]);
        let tool = tool.filter(|tool| Some(tool.server) == decided.server);
        let time = now.local_time();
        self.record("decision", now, |w| {
            w.key("action").string(match &decided.action {
                CallAction::Forward { .. } => "forward",
                CallAction::AskApproval { .. } => "ask",
                CallAction::Error { .. } => "error",
                CallAction::Answer(_) if decided.reasons.is_empty() => "answer",
                CallAction::Answer(_) => "refuse",
            });
            if let Some(approval) = &decided.approval {
                w.key("approval").string(approval);
            }
            w.key("arguments").object(|w| {
                let form = &decided.arguments;
                write_content(w, form.as_bytes());
                // A record holds them within other objects.
                let fits = || parse_strict(&format!("[[[[{form}]]]]")).is_some();
                if keeps && fits() {
                    w.key("value").json(form);
                }
            });
            w.key("call").json(&id.to_string());
            write_client(w, caller.client);
            w.key("context").object(|w| {
                w.key("hour").number(time.hour.into());
                w.key("time").string(&time.time);
                w.key("weekday").string(time.weekday);
            });
            w.key("definition").optional(tool.map(|it| &*it.digest));
            w.key("documents").object(|w| basis.digests.write(w));
            w.key("name").string(name);
            w.key("phase").string(decided.phase);
            write_reasons(w.key("reasons"), &decided.reasons, false);
            w.key("server").optional(server.map(|it| &*it.id));
            w.key("subject").json(&caller.subject.json);
            if let CallAction::Error { message, .. } = &decided.action {
                w.key("text").string(message);
            }
            w.key("tool").string(&decided.tool);
            w.key("version").optional(server.map(|it| &*it.version));
        })
    }

    fn effect(
        &mut self,
        id: u64,
        call: &OpenCall,
        outcome: &str,
        result: Option<&[u8]>,
        codes: &[Code],
        now: Clock,
    ) -> Record {
        let server = &call.basis.servers[call.server];
        self.record("effect", now, |w| {
            w.key("call").json(&id.to_string());
            w.key("codes").strings(codes.iter().map(|code| code.name()));
            w.key("outcome").string(outcome);
            if let Some(result) = result {
                w.key("result").object(|w| write_content(w, result));
            }
            w.key("server").string(&server.id);
            w.key("tool").optional(call.tool().map(|tool| tool.name()));
            w.key("version").string(&server.version);
        })
    }

    fn unexpected(&mut self, id: u64, now: Clock) -> Record {
        self.record("effect", now, |w| {
            w.key("call").json(&id.to_string());
            w.key("outcome").string("unexpected");
        })
    }

    fn record(&mut self, kind: &str, now: Clock, content: impl FnOnce(&mut Writer)) -> Record {
        let mut recorder = Recorder {
            chain: &mut self.state.chain,
            redactor: &self.redactor,
            observe: self.settings.observe,
            now,
        };
        recorder.record(kind, content)
    }
}

impl Digests {
    /// Writes the digests of the documents, with null for those that nobody gave.
    pub(crate) fn write(&self, w: &mut Writer) {
        w.key("definitions").optional(self.definitions.as_deref());
        w.key("health").optional(self.health.as_deref());
        w.key("index").string(&self.index);
        w.key("lock").string(&self.lock);
        w.key("policy").optional(self.policy.as_deref());
        w.key("policy_context")
            .optional(self.policy_context.as_deref());
        w.key("task").optional(self.task.as_deref());
        w.key("tenant").optional(self.tenant.as_deref());
        w.key("tenant_id").optional(self.tenant_id.as_deref());
    }
}

fn write_client(w: &mut Writer, client: &Client) {
    w.key("client").object(|w| {
        w.key("generation").string(match client.generation {
            Generation::Sessions => "sessions",
            Generation::Stateless => "stateless",
        });
        w.key("id").string(&client.id);
        w.key("kind").string(&client.kind);
        w.key("session").optional(client.session.as_deref());
    });
}

fn write_drift(w: &mut Writer, drift: &Drifted) {
    w.key("changes")
        .strings(drift.changes.iter().map(|it| &**it));
    w.key("deviation").string(drift.deviation.name());
    if let Deviation::Changed { present, widens } = &drift.deviation {
        w.key("present").string(present);
        w.key("tool").string(&drift.tool);
        w.key("widens").bool(*widens);
    } else {
        w.key("tool").string(&drift.tool);
    }
}

/// Names the call of a tool in a refusal.
fn what(tool: &str) -> String {
    let name: String = visible(tool).chars().take(QUOTE_MAX_CHARS).collect();
    format!("The call of `{name}`")
}
