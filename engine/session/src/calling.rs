//! Decisions on calls, by the name of a tool or through a stub.

use super::approval::{AskedResult, Consent};
use super::approving::approval_wanted;
use super::audit::{Record, write_content};
use super::calls::{OpenCall, tool_key};
use super::client::{Caller, Client, Key};
use super::continuation::{Continued, ServerState, Subject};
use super::decision::{Reasons, Target, Via};
use super::limits::{CALL_TIMEOUT_MS, OPEN_CALLS_MAX, QUOTE_MAX_CHARS};
use super::messages::{CallAction, Called, Forwarded};
use super::options::Expansion;
use super::records::write_client;
use super::refusal::{EFFECT_KEY, Effect, Refusal, result};
use super::request::{Arguments, Operation, Request};
use super::session::Session;
use super::stub::{Stub, StubAnswer};
use agent_api::diagnostic::Code;
use agent_api::explain::CallReason;
use agent_api::lower::digest;
use agent_api::policy::HistoryFinding;
use agent_api::text::sort::sort_by;
use agent_api::text::visible;
use agent_record::Clock;
use agent_syntax::json::Writer;
use std::sync::Arc;

/// JSON-RPC: the parameters are invalid.
pub(crate) const INVALID_PARAMS: i64 = -32602;

/// The message for a `requestState` that does not continue the call.
pub(crate) const OTHER_STATE: &str =
    "`requestState` is not that of this call, or is expired or used";

/// Why a human must approve a call that is made again.
pub(crate) const ASKED_RESULT: &str = "the policy asks about its result";

/// JSON-RPC: the host failed.
pub(crate) const INTERNAL_ERROR: i64 = -32603;

/// A decided call, before it is recorded.
#[derive(Debug)]
pub(crate) struct Decided<'r> {
    pub(crate) action: CallAction,
    pub(crate) phase: &'static str,
    pub(crate) server: Option<usize>,
    /// The name that the server has for the tool.
    pub(crate) tool: String,
    /// The name that clients call, if it is another one.
    pub(crate) served_as: Option<String>,
    pub(crate) reasons: Vec<CallReason>,
    /// The id of the approval that was given, denied or asked for.
    pub(crate) approval: Option<String>,
    /// Whether a server continues the call.
    pub(crate) continues: bool,
    pub(crate) arguments: Arguments<'r>,
    pub(crate) list_changed: bool,
    /// What built-in rules about the history say that do not refuse the call.
    pub(crate) findings: Vec<HistoryFinding>,
    pub(crate) open: Option<OpenCall>,
    /// What to record before the decision.
    pub(crate) before: Vec<Record>,
}

impl Session {
    /// Decides on the parameters of a client's `tools/call`.
    pub fn call(&mut self, client: &Client, params: &[u8], now: Clock) -> Called {
        self.call_with(client, params, None, now)
    }

    /// Decides on the parameters of a call once more, with the state of [`Delivered::Repeat`].
    ///
    /// [`Delivered::Repeat`]: super::messages::Delivered::Repeat
    pub fn repeat(&mut self, client: &Client, params: &[u8], state: &str, now: Clock) -> Called {
        self.call_with(client, params, Some(state), now)
    }

    fn call_with(
        &mut self,
        client: &Client,
        params: &[u8],
        state: Option<&str>,
        now: Clock,
    ) -> Called {
        let id = self.state.calls.next();
        let read = Caller::read(client).map_err(|(_, message)| (INTERNAL_ERROR, message));
        let read = read.and_then(|caller| {
            let request = Request::read(params).map_err(|message| (INVALID_PARAMS, message))?;
            Ok((caller, request))
        });
        match read {
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
            Ok((caller, mut request)) => {
                // Clients of the other generation have no `requestState` of their own.
                let own = request.state.take().filter(|_| caller.is_stateless());
                request.state = state.map(str::to_owned).or(own);
                let decided = self.decide(&caller, &request, now);
                let record = self.record_decision(id, (&caller, &request.name), &decided, now);
                if let Some(open) = decided.open {
                    self.state.calls.insert(id, open);
                }
                Called {
                    id,
                    action: decided.action,
                    records: decided.before.into_iter().chain([record]).collect(),
                    list_changed: decided.list_changed,
                }
            }
        }
    }

    /// Decides on a call.
    pub(crate) fn decide<'r>(
        &mut self,
        caller: &Caller<'_>,
        request: &'r Request<'_>,
        now: Clock,
    ) -> Decided<'r> {
        let target = self.decision(now).target(&request.name);
        let unknown = Decided {
            action: CallAction::Answer(Vec::new()),
            phase: "call",
            server: None,
            tool: request.name.clone(),
            served_as: None,
            reasons: Vec::new(),
            approval: None,
            continues: false,
            arguments: request.arguments(),
            list_changed: false,
            findings: Vec::new(),
            open: None,
            before: Vec::new(),
        };
        if request.state.is_some() && !matches!(target, Target::Tool(_) | Target::Stub(_)) {
            return invalid(unknown, OTHER_STATE);
        }
        match target {
            Target::Tool(tool) => {
                let how = (tool, Via::Name);
                self.decide_tool(caller, request, how, request.arguments(), now)
            }
            Target::Stub(server) => self.decide_stub(caller, request, server, now),
            Target::Unlocked(server, own_name) => {
                self.decide_unlocked(caller, request, (server, &own_name), now)
            }
            Target::Unknown => {
                let sharing = self.basis.tools_named(&request.name);
                let mut instead: Vec<_> = sharing.map(|tool| tool.name().to_owned()).collect();
                let offers = self.surface(now).offers().into_iter();
                let offers =
                    offers.filter(|(_, it)| it.own_name == request.name && it.offered.is_listed());
                instead.extend(offers.map(|(name, _)| name));
                let is_shared = !instead.is_empty();
                if !is_shared {
                    let decision = self.decision(now);
                    instead = decision.similar(&request.name, caller.session.as_ref());
                }
                let mut w = Writer::dense();
                w.object(|w| w.key("instead").strings(instead.iter().map(|it| &**it)));
                let data = w.finish().trim_end().as_bytes().to_vec();
                let message = unknown_tool(&request.name, is_shared);
                Decided {
                    action: CallAction::Error {
                        code: INVALID_PARAMS,
                        message: self.redactor.text(&message),
                        data: Some(data),
                    },
                    ..unknown
                }
            }
        }
    }

    /// Decides on a call of a tool that the lock does not have.
    fn decide_unlocked<'r>(
        &mut self,
        caller: &Caller<'_>,
        request: &'r Request<'_>,
        (server, own_name): (usize, &str),
        now: Clock,
    ) -> Decided<'r> {
        let reasons = self.basis.unlocked_reasons(server, own_name);
        let drift = self.surface(now).offers().remove(&request.name);
        let drift = drift.and_then(|offer| self.surface(now).offer_drift(&offer));
        let is_live = self.state.lives[server].is_listed;
        let decided = Decided {
            action: CallAction::Answer(Vec::new()),
            phase: "call",
            server: Some(server),
            tool: own_name.to_owned(),
            served_as: (own_name != request.name).then(|| request.name.clone()),
            approval: None,
            continues: false,
            arguments: request.arguments(),
            list_changed: false,
            findings: Vec::new(),
            open: None,
            before: Vec::new(),
            reasons,
        };
        if let Some(drift) = drift {
            let refusal = Refusal::new(what(&request.name), vec![drift]);
            return self.refuse(decided, caller, &refusal);
        }
        if self.settings.observe && is_live && self.has_room() {
            let form = decided.arguments.form();
            let call = self.open_call(caller, (server, None), form, &decided.reasons);
            return Decided {
                action: self.forward(server, own_name, (request, &decided.arguments), None),
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
    pub(crate) fn decide_tool<'r>(
        &mut self,
        caller: &Caller<'_>,
        request: &Request<'_>,
        (tool, via): (usize, Via),
        arguments: Arguments<'r>,
        now: Clock,
    ) -> Decided<'r> {
        let basis = Arc::clone(&self.basis);
        let own = &basis.tools[tool];
        let decision = self.decision(now);
        let reasons = decision.reasons(caller, (tool, via), &arguments);
        let mut decided = Decided {
            action: CallAction::Answer(Vec::new()),
            phase: "call",
            server: Some(own.server),
            tool: own.own_name().to_owned(),
            served_as: (own.name() != own.own_name()).then(|| own.name().to_owned()),
            approval: None,
            continues: false,
            reasons: Vec::new(),
            arguments,
            list_changed: false,
            findings: Vec::new(),
            open: None,
            before: Vec::new(),
        };
        let continued = match self.continued(caller, request, tool, &decided.arguments, now) {
            Ok(continued) => continued,
            Err(message) => return invalid(decided, message),
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
        let asked = AskedResult {
            client: caller.key.clone(),
            tool: tool_key(&basis.servers[own.server], own),
            arguments: Key::of_form(decided.arguments.form()),
        };
        let asks_result = self.state.approvals.results.contains(&asked);
        let wanted = reasons.approval().map(str::to_owned);
        let wanted = wanted.or_else(|| asks_result.then(|| ASKED_RESULT.to_owned()));
        decided.findings.clone_from(&reasons.findings);
        let mut would = reasons.into_all();
        let mut approval = None;
        if own.served.needs_approval() || wanted.is_some() {
            if self.settings.observe {
                let text = approval_wanted(wanted.as_deref());
                would.push(CallReason::new(Code::ApprovalRequired, text));
            } else if let Some(Continued::Server(ServerState {
                approval: Some(id), ..
            })) = &continued
            {
                // The call was passed on with this approval, and its server asked for the repetition.
                approval = Some(id.clone());
            } else {
                let digest = digest(decided.arguments.form());
                if let (Some(Continued::Approval), Some(Some(answer))) =
                    (&continued, request.approval)
                {
                    let answered = self.answer_by_client(caller, (tool, &digest), answer, now);
                    decided.before.extend(answered);
                }
                let seed = (&self.settings.seed, now.unix_ms);
                let consent = (self.state.approvals).consent(&caller.key, tool, &digest, seed);
                match consent {
                    Consent::Given(id) => approval = Some(id),
                    other => {
                        // A human who did not decide is not asked in the same way again.
                        let elicits = match caller.is_stateless() {
                            true => request.elicits && request.approval.is_none(),
                            false => caller.elicits,
                        };
                        let asked = (caller, elicits);
                        return self.without_consent(
                            decided,
                            asked,
                            (tool, wanted.as_deref()),
                            other,
                            now,
                        );
                    }
                }
            }
        }
        if asks_result && approval.is_some() {
            self.state.approvals.results.retain(|it| *it != asked);
        }
        if own.served.is_rate_limited() {
            let server = &basis.servers[own.server].key;
            let now_ms = now.unix_ms;
            self.state.quotas.count(&caller.key, server, now_ms);
        }
        let mut open = self.open_call(
            caller,
            (own.server, Some(tool)),
            decided.arguments.form(),
            &would,
        );
        open.approved.clone_from(&approval);
        let mut state = None;
        if let Some(Continued::Server(of)) = continued {
            open.repetition = of.repetition;
            state = Some(of.state);
        }
        Decided {
            continues: state.is_some(),
            action: self.forward(
                own.server,
                own.own_name(),
                (request, &decided.arguments),
                state,
            ),
            open: Some(open),
            reasons: would,
            approval,
            ..decided
        }
    }

    /// Refuses a call of a locked tool.
    fn refuse_tool<'r>(
        &mut self,
        decided: Decided<'r>,
        caller: &Caller<'_>,
        (tool, via): (usize, Via),
        reasons: Reasons,
        now: Clock,
    ) -> Decided<'r> {
        let basis = Arc::clone(&self.basis);
        let own = &basis.tools[tool];
        let mut refusal = Refusal::new(what(own.name()), Vec::new());
        refusal.retry_after_ms = reasons.retry_after_ms;
        refusal.instead.clone_from(&reasons.instead);
        if via == Via::Name && self.surface(now).is_behind_stub(tool) {
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

    /// Decides on a call of a stub.
    fn decide_stub<'r>(
        &mut self,
        caller: &Caller<'_>,
        request: &'r Request<'_>,
        server: usize,
        now: Clock,
    ) -> Decided<'r> {
        let basis = Arc::clone(&self.basis);
        let name = &basis.servers[server].stub;
        let mut decided = Decided {
            action: CallAction::Answer(Vec::new()),
            phase: "list_services",
            server: Some(server),
            tool: name.clone(),
            served_as: None,
            reasons: Vec::new(),
            approval: None,
            continues: false,
            arguments: request.arguments(),
            list_changed: false,
            findings: Vec::new(),
            open: None,
            before: Vec::new(),
        };
        let operation = match Operation::read(&decided.arguments) {
            Ok(operation) => operation,
            Err(invalid) => {
                let reason = invalid_operation(invalid);
                let refusal = Refusal {
                    definition: self.surface(now).stub(server),
                    ..Refusal::new(what(name), vec![reason])
                };
                return self.refuse(decided, caller, &refusal);
            }
        };
        if request.state.is_some() && !matches!(operation, Operation::Call { .. }) {
            return invalid(decided, OTHER_STATE);
        }
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
                match self.decision(now).behind_stub(server, &tool) {
                    Ok(number) => {
                        let how = (number, Via::Stub);
                        self.decide_tool(caller, request, how, arguments, now)
                    }
                    Err(reason) => {
                        let refusal = Refusal::new(what(&tool), vec![reason]);
                        decided.phase = "call";
                        decided.tool = tool;
                        decided.arguments = arguments;
                        self.refuse(decided, caller, &refusal)
                    }
                }
            }
        }
    }

    /// Returns what the `requestState` of a call continues, if there is one. It is used up.
    ///
    /// # Errors
    /// It was not issued for this call, or is expired or used.
    fn continued(
        &mut self,
        caller: &Caller<'_>,
        request: &Request<'_>,
        tool: usize,
        arguments: &Arguments<'_>,
        now: Clock,
    ) -> Result<Option<Continued>, &'static str> {
        let Some(text) = request.state.as_deref() else {
            return Ok(None);
        };
        let own = &self.basis.tools[tool];
        let subject = Subject {
            client: &caller.key,
            tool: &tool_key(&self.basis.servers[own.server], own),
            arguments: &Key::of_form(arguments.form()),
        };
        let continuations = &mut self.state.continuations;
        let found = continuations.take(&self.settings.seed, subject, text, now.unix_ms);
        found.map(Some).ok_or(OTHER_STATE)
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

    pub(crate) fn has_room(&self) -> bool {
        self.state.calls.open.len() < OPEN_CALLS_MAX
    }

    pub(crate) fn open_call(
        &self,
        caller: &Caller<'_>,
        (server, tool): (usize, Option<usize>),
        arguments: &str,
        observed: &[CallReason],
    ) -> OpenCall {
        let mut observed: Vec<_> = observed.iter().map(|it| it.code).collect();
        sort_by(&mut observed, Ord::cmp);
        observed.dedup();
        OpenCall {
            basis: Arc::clone(&self.basis),
            client: caller.key.clone(),
            generation: caller.client.generation,
            server,
            tool,
            method: None,
            uri: None,
            arguments: Key::of_form(arguments),
            approval: None,
            approved: None,
            repetition: 0,
            observed,
            exported: String::new(),
        }
    }

    fn forward(
        &self,
        server: usize,
        tool: &str,
        (request, arguments): (&Request<'_>, &Arguments<'_>),
        request_state: Option<String>,
    ) -> CallAction {
        CallAction::Forward(Forwarded {
            server: self.basis.servers[server].name.clone(),
            tool: tool.to_owned(),
            arguments: arguments.text().map(str::to_owned),
            request_state,
            progress_token: request.progress_token.map(str::to_owned),
            timeout_ms: CALL_TIMEOUT_MS,
            max_bytes: self.settings.payload_max_bytes,
        })
    }

    fn answer<'r>(&self, decided: Decided<'r>, caller: &Caller<'_>, text: String) -> Decided<'r> {
        let generation = caller.client.generation;
        let meta = |w: &mut Writer| w.key(EFFECT_KEY).string(Effect::None.name());
        let result = result(&[text], false, &meta, generation, &self.redactor);
        Decided {
            action: CallAction::Answer(result),
            ..decided
        }
    }

    pub(crate) fn refuse<'r>(
        &self,
        decided: Decided<'r>,
        caller: &Caller<'_>,
        refusal: &Refusal,
    ) -> Decided<'r> {
        let result = refusal.result(caller.client.generation, &self.redactor);
        Decided {
            action: CallAction::Answer(result),
            reasons: refusal.reasons.clone(),
            open: None,
            ..decided
        }
    }
}

/// Names the call of a tool in a refusal.
pub(crate) fn what(tool: &str) -> String {
    let name: String = visible(tool).chars().take(QUOTE_MAX_CHARS).collect();
    format!("The call of `{name}`")
}

/// Says that a name means no tool, as several tools have it or none.
pub(crate) fn unknown_tool(name: &str, is_shared: bool) -> String {
    let name: String = visible(name).chars().take(QUOTE_MAX_CHARS).collect();
    match is_shared {
        true => format!("several tools have the name `{name}`"),
        false => format!("no locked server has a tool `{name}`"),
    }
}

/// Returns the reason against arguments of a stub that are no operation: a pointer to one of them, and a predicate.
pub(crate) fn invalid_operation((pointer, predicate): (&str, &str)) -> CallReason {
    let text = format!("`arguments{pointer}` {predicate}");
    CallReason {
        pointer: Some(pointer.to_owned()),
        ..CallReason::new(Code::ArgumentInvalid, text)
    }
}

/// Returns the error of parameters that are invalid for the call.
fn invalid<'r>(decided: Decided<'r>, message: &str) -> Decided<'r> {
    Decided {
        action: CallAction::Error {
            code: INVALID_PARAMS,
            message: message.to_owned(),
            data: None,
        },
        open: None,
        ..decided
    }
}
