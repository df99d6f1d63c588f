//! A recorded call, decided again by the code of sessions.
//!
//! What depends on the state of the session is kept as recorded: health, quotas, drift, approvals, the
//! token budget and the limits of sessions. The state that led to it is set before the decision.

use super::recorded_call::{Arguments, Reason, RecordedCall, Verdict};
use super::verification::Recorded;
use crate::approval::{Approval, AskedResult};
use crate::approving::approval_wanted;
use crate::basis::{Basis, Digests};
use crate::calling::ASKED_RESULT;
use crate::client::{Caller, Key};
use crate::decision::{Target, Via};
use crate::history::{Earlier, Event, History, Remembered};
use crate::limits::APPROVAL_LIFETIME_MS;
use crate::live::Deviation;
use crate::messages::CallAction;
use crate::options::Expansion;
use crate::request::{Arguments as Given, Operation, Request};
use crate::session::{Session, State};
use agent_api::diagnostic::Code;
use agent_api::explain::CallReason;
use agent_api::lower::digest;
use agent_api::model::HealthStatus;
use agent_api::text::sort::sort_by;
use agent_api::text::visible;
use agent_syntax::Node;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{items, member, number, string};
use std::sync::Arc;

/// The reasons that depend on the state of the session.
const OF_STATE: [Code; 9] = [
    Code::ApprovalDenied,
    Code::ApprovalRequired,
    Code::DefinitionChanged,
    Code::HealthVeto,
    Code::HistoryUnavailable,
    Code::QuotaExceeded,
    Code::SessionLimit,
    Code::TokenBudgetExceeded,
    Code::ToolUnknown,
];

/// The reasons that depend on the arguments and the definition of the tool.
const OF_ARGUMENTS: [Code; 3] = [
    Code::ArgumentInvalid,
    Code::ArgumentUnknown,
    Code::SchemaBudget,
];

/// The reasons of policies.
const OF_POLICY: [Code; 2] = [Code::PolicyDenied, Code::PolicyError];

/// The reasons of a call whose arguments and policy were looked at.
const AFTER_ARGUMENTS: [Code; 11] = [
    Code::ApprovalDenied,
    Code::ApprovalRequired,
    Code::ArgumentInvalid,
    Code::ArgumentUnknown,
    Code::HealthVeto,
    Code::PolicyDenied,
    Code::PolicyError,
    Code::QuotaExceeded,
    Code::QuotaMissing,
    Code::SchemaBudget,
    Code::SessionLimit,
];

/// A decision that was made again.
#[derive(Debug)]
pub(crate) struct Second {
    pub(crate) verdict: Verdict,
    pub(crate) reasons: Vec<Reason>,
    /// Where an allowed call would go now, if not to where it went: in words.
    pub(crate) moved: Vec<String>,
    /// The names of the inputs that the decision depends on, but for the lock and the index: sorted.
    pub(crate) depends_on: Vec<&'static str>,
    /// The codes of reasons that were kept as recorded.
    pub(crate) kept: Vec<&'static str>,
    /// The earlier calls that the reasons name.
    pub(crate) earlier: Vec<Earlier>,
}

/// Why a decision can't be made again.
#[derive(Debug)]
pub(crate) struct Undecidable(pub(crate) String);

/// Decides recorded calls again.
#[derive(Debug)]
pub(crate) struct Decider {
    session: Session,
    /// What clients saw of tools on demand, if the log says so.
    pub(crate) expansion: Option<Expansion>,
    /// The number and the time of the first record of the log, in milliseconds since 1970.
    first: Option<(u64, u64)>,
    /// The other one of two histories, since a call was decided under other documents: with calls as they were recorded, and as
    /// the documents of now would take them. The session has the one that the present call follows.
    other_history: Option<History>,
    /// Whether the session has the history as the documents of now would take it.
    is_revised: bool,
    /// The calls that were passed on and have no result yet, by id.
    open: Vec<(u64, AskedResult)>,
}

/// The parts of a decision that can't be made again, each with its reason.
#[derive(Debug, Default)]
struct Lacking {
    schema: Option<String>,
    policy: Option<String>,
}

impl Decider {
    pub(crate) fn new(session: Session) -> Self {
        Self {
            session,
            expansion: None,
            first: None,
            other_history: None,
            is_revised: false,
            open: Vec::new(),
        }
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Returns what was derived from the documents of now.
    pub(crate) fn basis(&self) -> &Basis {
        &self.session.basis
    }

    /// Returns the digests of the documents of now.
    pub(crate) fn documents(&self) -> &Digests {
        &self.session.basis.digests
    }

    /// Decides on a recorded call again.
    ///
    /// # Errors
    /// The record lacks what the decision needs.
    pub(crate) fn decide(&mut self, call: &RecordedCall) -> Result<Second, Undecidable> {
        let Some(name) = call.name.clone() else {
            return Err(Undecidable("the name of the tool is redacted".to_owned()));
        };
        let client = call.client.clone();
        let Ok(caller) = Caller::read(&client) else {
            return Err(Undecidable("the client is redacted".to_owned()));
        };
        if call.was_state_refused {
            // It was used, expired or another call's, which no document tells.
            return Ok(Second {
                kept: vec!["requestState"],
                ..as_recorded(call)
            });
        }
        self.session.settings.expansion = self.expansion.unwrap_or_default();
        let spends = call.has(Code::TokenBudgetExceeded);
        self.session.settings.budget = Some(if spends { 0 } else { u64::MAX });
        let ready = State::ready(&self.session.basis, call.now);
        let State {
            history, approvals, ..
        } = core::mem::replace(&mut self.session.state, ready);
        self.session.state.history = history;
        self.session.state.approvals.results = approvals.results;
        if let Some(second) = self.follow(call)? {
            return Ok(second);
        }
        let target = self.target(call, &name);
        self.restore_unlocked(call, &name, &target);
        let tool = match target {
            Target::Tool(tool) => Some((tool, Via::Name)),
            Target::Stub(server) => self.through(call, server).map(|tool| (tool, Via::Stub)),
            _ => None,
        };
        let lacking = self.lacking(call, tool.map(|(tool, _)| tool));
        let (given, kept) = match &call.arguments {
            Arguments::Kept(form) => (form.clone(), true),
            Arguments::Lost(_) => ("{}".to_owned(), false),
        };
        if let Some((tool, via)) = tool {
            if let Some(why) = self.forgotten(&caller, tool) {
                return Err(Undecidable(why));
            }
            if self.expansion.is_none() && self.is_on_demand(tool) {
                let why = "the log does not say how tools on demand were shown: give the part with the start of its session";
                return Err(Undecidable(why.to_owned()));
            }
            let stood_by = self.stood_by(call, tool);
            if !stood_by {
                self.restore_first(call, tool)?;
            }
            self.restore(call, &caller, tool, &given);
            if vetoes(call).count() > usize::from(stood_by) {
                self.restore_veto(call, tool);
            }
            if via == Via::Name {
                self.restore_expanded(call, &caller, tool);
            }
            let is_client_lost = call.is_client_redacted && self.policy_reads("subject");
            if is_client_lost || !kept {
                let arguments = kept.then_some(&*given);
                return self.in_parts(call, &caller, (tool, via), arguments, &lacking);
            }
        } else if matches!(target, Target::Stub(_)) {
            if let Some(second) = self.of_stub(call, kept, &lacking)? {
                return Ok(second);
            }
            self.restore_all(call)?;
        } else if call.observe && (call.has(Code::DefinitionChanged) || call.action == "error") {
            // A tool that no lock has was listed otherwise than at first, or no longer: no document tells.
            return Ok(as_recorded(call));
        }
        let params = match &*call.phase {
            "list_services" if !kept && call.action == "answer" => {
                call.params(&name, r#"{"operation":"list_services"}"#)
            }
            _ => call.params(&name, &given),
        };
        let request = Request::read(params.as_bytes());
        let request = request
            .map_err(|why| Undecidable(format!("the record is not one of a call: {why}")))?;
        let decided = self.session.decide(&caller, &request, call.now);
        let verdict = match &decided.action {
            CallAction::Forward(_) | CallAction::ForwardRequest(_) => Verdict::Allowed,
            CallAction::AskApproval { .. } => Verdict::Asked,
            CallAction::Answer(_) if decided.reasons.is_empty() => Verdict::Allowed,
            CallAction::Answer(_) | CallAction::Error { .. } => Verdict::Refused,
        };
        let depends_on = self.depends_on(tool.map(|(tool, _)| tool), &call.phase);
        let mut reasons = decided.reasons;
        let is_lost = verdict == Verdict::Refused && call.verdict() != Verdict::Refused;
        if is_lost && reasons.is_empty() {
            reasons.extend(self.absent(call));
        }
        let moved = tool.map_or_else(Vec::new, |(tool, _)| self.moved(call, tool));
        Ok(Second {
            moved,
            ..second(call, verdict, reasons, depends_on)
        })
    }

    /// Notes the first record of the log.
    pub(crate) fn begin(&mut self, record: &Recorded<'_, '_>) {
        self.first.get_or_insert((record.sequence, record.at_ms));
    }

    /// Returns the earlier calls that the reasons of a decision name.
    pub(crate) fn named(&self, call: &RecordedCall, reasons: &[Reason]) -> Vec<Earlier> {
        let history = &self.session.state.history;
        let Ok(caller) = Caller::read(&call.client) else {
            return Vec::new();
        };
        let scope = history.of(&history.key(&caller.key));
        let named = reasons
            .iter()
            .flat_map(|it| Some(scope?.named_in(&it.text)));
        named.flatten().collect()
    }

    /// Takes a record into the history that later calls follow, with the call if it is one that is allowed now.
    pub(crate) fn remember(&mut self, record: &Recorded<'_, '_>, allowed: Option<&RecordedCall>) {
        self.remember_open(record, allowed);
        let Some(known) = &self.session.basis.remembered else {
            return;
        };
        let event = |is_revised| Event {
            kind: record.kind,
            content: record.content,
            record: record.sequence,
            at_ms: record.at_ms,
            is_allowed: allowed.is_some(),
            is_revised,
        };
        self.session
            .state
            .history
            .take(event(self.is_revised), known);
        if let Some(other) = &mut self.other_history {
            other.take(event(!self.is_revised), known);
        }
    }

    /// Takes whether a policy asked about the result of a call, which no document tells.
    fn remember_open(&mut self, record: &Recorded<'_, '_>, allowed: Option<&RecordedCall>) {
        let policy = &self.session.basis.evaluation_context.policy;
        if !policy.as_ref().is_some_and(|it| it.rules_results()) {
            return;
        }
        let content = record.content;
        let id = member(content, "call").and_then(number);
        let approvals = &mut self.session.state.approvals;
        match (record.kind, id) {
            ("opened", _) => {
                self.open.clear();
                approvals.results.clear();
            }
            ("decision", Some(id)) => {
                let Some(asked) = allowed.and_then(asked_result) else {
                    return;
                };
                if allowed.is_some_and(|it| it.approval.is_some()) {
                    approvals.results.retain(|it| *it != asked);
                }
                self.open.push((id, asked));
            }
            ("effect", Some(id)) => {
                let Some(at) = self.open.iter().position(|(it, _)| *it == id) else {
                    return;
                };
                let (_, asked) = self.open.swap_remove(at);
                let codes = member(content, "codes").and_then(items).unwrap_or_default();
                let is_asked = |it: &Node<'_>| string(it) == Some(Code::ApprovalRequired.name());
                if !record.observe && codes.iter().any(is_asked) {
                    approvals.ask_result(asked);
                }
            }
            _ => {}
        }
    }

    /// Gives the session the history that a call follows. Returns the recorded decision if the log lacks a part of it, and no
    /// document changed.
    ///
    /// # Errors
    /// The log lacks a part of it, and a document changed.
    pub(crate) fn follow(&mut self, call: &RecordedCall) -> Result<Option<Second>, Undecidable> {
        let is_revised = !self.takes_tools_alike(call);
        let history = &mut self.session.state.history;
        if is_revised && self.other_history.is_none() {
            self.other_history = Some(history.clone());
        }
        if let Some(other) = self
            .other_history
            .as_mut()
            .filter(|_| is_revised != self.is_revised)
        {
            core::mem::swap(history, other);
            self.is_revised = is_revised;
        }
        let is_unknown = call.has(Code::HistoryUnavailable);
        history.missing = is_unknown.then(String::new);
        match (
            self.begins_within_window(call),
            self.has_same_documents(call),
        ) {
            (false, _) => Ok(None),
            (true, true) => Ok(Some(as_recorded(call))),
            (true, false) => Err(Undecidable(
                "the log begins within the window of the history that decides".to_owned(),
            )),
        }
    }

    /// Returns whether the documents that a call was decided under take tools for the same as those of now.
    fn takes_tools_alike(&self, call: &RecordedCall) -> bool {
        let (now, then) = (self.documents(), &call.documents);
        now.lock == then.lock
            && now.index == then.index
            && now.tenant == then.tenant
            && now.tenant_id == then.tenant_id
    }

    /// Returns what a rule needs of an earlier call that was not recorded.
    fn forgotten(&self, caller: &Caller<'_>, tool: usize) -> Option<String> {
        let basis = &self.session.basis;
        let known = basis.remembered.as_ref().filter(|_| self.is_revised)?;
        let history = &self.session.state.history;
        let scope = history.of(&history.key(&caller.key))?;
        let own = &basis.tools[tool];
        let (server, version) = (&own.served.server, &own.served.version);
        let traits = known.traits_of((server, version, own.own_name()));
        let (record, reader) = known.forgotten(&traits, scope)?;
        Some(format!(
            "the log does not contain the arguments of record {record}, and {reader} reads them"
        ))
    }

    /// Returns whether calls before the log may count for a call.
    fn begins_within_window(&self, call: &RecordedCall) -> bool {
        let Some(known) = &self.session.basis.remembered else {
            return false;
        };
        let window = known.terms.window_ms;
        let mut first = self.first.iter().filter(|(number, _)| *number > 1);
        first.any(|(_, at_ms)| call.now.unix_ms < at_ms.saturating_add(window))
    }

    /// Returns why the tool of a recorded call has no name now.
    fn absent(&self, call: &RecordedCall) -> Option<CallReason> {
        let server = call.server.as_deref()?;
        let text = match self.server(call) {
            None => format!("the lock has no server `{}`", visible(server)),
            Some(_) => format!(
                "the lock has no tool `{}` of `{}`",
                visible(&call.tool),
                visible(server)
            ),
        };
        Some(CallReason::new(Code::ToolNotLocked, text))
    }

    /// Returns what is another one now of the place to which a call went.
    fn moved(&self, call: &RecordedCall, tool: usize) -> Vec<String> {
        let own = &self.session.basis.tools[tool];
        let server = &self.session.basis.servers[own.server];
        let differs = |then: Option<&str>, now: &str| then.is_some_and(|then| then != now);
        let named = visible(&server.name);
        let mut moved = Vec::new();
        if differs(call.server.as_deref(), &server.id) {
            moved.push(format!("it goes to the server `{named}`"));
        } else if call.documents.lock.is_none() {
            // Without a lock the operator's server was observed, of which no index says more.
            return moved;
        } else if differs(call.version.as_deref(), &server.version) {
            let version = visible(&server.version);
            moved.push(format!("it goes to version {version} of the server"));
        }
        if differs(call.endpoint.as_deref(), &digest(&server.endpoint)) {
            moved.push(format!("`{named}` has another endpoint"));
        }
        if differs(call.definition.as_deref(), &own.digest) {
            moved.push("the tool has another definition".to_owned());
        }
        moved
    }

    /// Returns what a name means now.
    fn target(&self, call: &RecordedCall, name: &str) -> Target {
        self.session.decision(call.now).target(name)
    }

    /// A name that only the live list of a server had stays one of that server.
    fn restore_unlocked(&mut self, call: &RecordedCall, name: &str, target: &Target) {
        if *target != Target::Unknown || !call.was_unlocked {
            return;
        }
        if let Some(server) = self.server(call) {
            self.session.state.lives[server]
                .unlocked
                .insert(name.to_owned());
        }
    }

    /// Returns the number of the recorded server: in its version, or in any.
    pub(crate) fn server(&self, call: &RecordedCall) -> Option<usize> {
        let servers = &self.session.basis.servers;
        let id = call.server.as_deref()?;
        let exact = servers
            .iter()
            .position(|it| it.id == id && Some(&*it.version) == call.version.as_deref());
        exact.or_else(|| servers.iter().position(|it| it.id == id))
    }

    /// Returns the tool that is called through the stub of a server.
    fn through(&self, call: &RecordedCall, server: usize) -> Option<usize> {
        let tool = self.session.basis.tool_number(call.served());
        let is_own = |tool: &usize| self.session.basis.tools[*tool].server == server;
        tool.filter(is_own).filter(|_| call.is_through_stub())
    }

    fn is_on_demand(&self, tool: usize) -> bool {
        self.session.basis.tools[tool].load == agent_api::model::Load::OnDemand
    }

    /// Returns whether all documents that a policy reads are the recorded ones.
    fn has_same_documents(&self, call: &RecordedCall) -> bool {
        let (now, then) = (self.documents(), &call.documents);
        let same = |of: fn(&Digests) -> Option<&str>| of(now) == of(then);
        now.lock == then.lock
            && now.index == then.index
            && same(|it| it.policy.as_deref())
            && same(|it| it.policy_context.as_deref())
            && same(|it| it.tenant.as_deref())
            && same(|it| it.tenant_id.as_deref())
            && same(|it| it.task.as_deref())
    }

    /// Returns whether the policy of now may read a member of its input.
    fn policy_reads(&self, member: &str) -> bool {
        let basis = &self.session.basis;
        let policy = &basis.evaluation_context.policy;
        let by_rules = |known: &Remembered| {
            let terms = &known.terms;
            member == "arguments" && !(terms.fields.is_empty() && terms.numbers.is_empty())
        };
        policy.as_ref().is_some_and(|it| it.may_read(member))
            || basis.remembered.as_ref().is_some_and(by_rules)
    }

    /// Returns what the record lacks for a decision.
    fn lacking(&self, call: &RecordedCall, tool: Option<usize>) -> Lacking {
        let mut lacking = Lacking::default();
        if let Arguments::Lost(why) = call.arguments {
            let now = tool.map(|tool| &*self.session.basis.tools[tool].digest);
            if now.is_some() && now != call.definition.as_deref() {
                let text = format!("{why}, and the tool has another input schema");
                lacking.schema = Some(text);
            }
            if self.policy_reads("arguments") {
                lacking.policy = Some(format!("{why}, and the policy reads them"));
            }
        }
        if call.is_client_redacted && self.policy_reads("subject") {
            lacking.policy = Some("the client is redacted, and the policy reads it".to_owned());
        }
        if was_looked_at(call) && self.has_same_documents(call) {
            lacking.policy = None;
        }
        lacking
    }

    /// Sets the state that led to the recorded decision on a tool.
    fn restore(&mut self, call: &RecordedCall, caller: &Caller<'_>, tool: usize, arguments: &str) {
        let now_ms = call.now.unix_ms;
        let basis = &self.session.basis;
        let number = basis.tools[tool].server;
        let state = &mut self.session.state;
        restore_drift(call, state, number, [tool]);
        if call.has(Code::QuotaExceeded) {
            let key = (caller.key.clone(), basis.servers[number].key.clone());
            state.quotas.windows.insert(key, (now_ms, u32::MAX));
        }
        let answer = match &*call.action {
            "ask" => None,
            "forward" => Some(true),
            _ if call.has(Code::ApprovalDenied) => Some(false),
            _ => return,
        };
        let id = call.approval.clone();
        // What a server continues was approved as the same call.
        if let Some(id) = id.or_else(|| call.continues.then(String::new)) {
            state.approvals.pending.push(Approval {
                id,
                client: caller.key.clone(),
                tool,
                arguments: digest(arguments),
                answer,
                expires_ms: now_ms.saturating_add(APPROVAL_LIFETIME_MS),
            });
        }
    }

    /// The server of the tool was vetoed.
    fn restore_veto(&mut self, call: &RecordedCall, tool: usize) {
        let (basis, state) = (&self.session.basis, &mut self.session.state);
        let server = basis.tools[tool].server;
        match (&basis.health, basis.digests.health == call.documents.health) {
            (None, _) => state.health[server].status = HealthStatus::Unhealthy,
            // The server had not listed its tools, or the snapshot vetoes it again.
            (Some(_), true) => state.lives[server].is_listed = false,
            (Some(_), false) => {}
        }
    }

    /// Returns whether the recorded decision says that the tool is a fallback that takes no place.
    fn stood_by(&self, call: &RecordedCall, tool: usize) -> bool {
        let standing = self.session.surface(call.now).standing_by(tool);
        let texts = vetoes(call).map(|it| &it.text);
        standing.is_some_and(|standing| texts.into_iter().any(|text| *text == standing.text))
    }

    /// A fallback of which the record does not say otherwise took the place of a tool whose server was vetoed.
    fn restore_first(&mut self, call: &RecordedCall, tool: usize) -> Result<(), Undecidable> {
        if self.session.surface(call.now).is_in_force(tool) {
            return Ok(());
        }
        let basis = &self.session.basis;
        let own = &basis.tools[tool];
        if !own.terms.fallbacks.is_empty() && was_vetoed(call, &basis.servers[own.server].name) {
            // A fallback of its own was in its place.
            return Ok(());
        }
        if basis.digests.lock == call.documents.lock {
            for first in basis.tools[tool].terms.firsts.clone() {
                self.restore_veto(call, first);
            }
            return Ok(());
        }
        match &*call.action {
            "ask" | "forward" => {
                let why =
                    "the tool is a fallback, and the log does not say which servers were healthy";
                Err(Undecidable(why.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// A tool on demand that a session called by its own name was on its list.
    fn restore_expanded(&mut self, call: &RecordedCall, caller: &Caller<'_>, tool: usize) {
        let was_listed = !call.has(Code::ExpansionDenied) && call.phase == "call";
        if let Some(session) = caller.session.as_ref().filter(|_| was_listed) {
            self.session.state.expanded.add(session, &[tool]);
        }
    }

    /// Sets the drift and the health that led to the recorded decision on an expansion.
    fn restore_all(&mut self, call: &RecordedCall) -> Result<(), Undecidable> {
        let Arguments::Kept(form) = &call.arguments else {
            return Ok(());
        };
        let root = parse_strict(form);
        let given = Given::new(form, root.as_ref());
        let Ok(Operation::Expand(names)) = Operation::read(&given) else {
            return Ok(());
        };
        let basis = Arc::clone(&self.session.basis);
        let tools = || names.iter().filter_map(|it| basis.tool_number(it));
        // Before any health is set, which would change who stands by.
        let stood_by: Vec<_> = tools().map(|tool| self.stood_by(call, tool)).collect();
        for (tool, stood_by) in tools().zip(stood_by) {
            let server = basis.tools[tool].server;
            restore_drift(call, &mut self.session.state, server, [tool]);
            if !stood_by {
                self.restore_first(call, tool)?;
            }
            if was_vetoed(call, &basis.servers[server].name) {
                self.restore_veto(call, tool);
            }
        }
        Ok(())
    }

    /// Decides on a call of a stub that can't be made again. Returns `None` if it can.
    fn of_stub(
        &self,
        call: &RecordedCall,
        kept: bool,
        lacking: &Lacking,
    ) -> Result<Option<Second>, Undecidable> {
        let is_malformed = call.phase == "list_services" && call.action == "refuse";
        if !kept && (is_malformed || call.phase == "expand") {
            // Whether arguments are those of an operation depends on no document.
            let is_decided = match is_malformed {
                true => call.has(Code::ArgumentInvalid),
                false => {
                    let health = &call.documents.health;
                    self.has_same_documents(call) && self.documents().health == *health
                }
            };
            let Arguments::Lost(why) = call.arguments else {
                return Ok(None);
            };
            return match is_decided {
                true => Ok(Some(as_recorded(call))),
                false => Err(Undecidable(format!(
                    "{why}, which name the tools to expand"
                ))),
            };
        }
        if let (Arguments::Lost(why), "call", false) =
            (&call.arguments, &*call.phase, call.is_through_stub())
        {
            return Err(Undecidable(format!(
                "{why}, and the name is that of a stub"
            )));
        }
        match &lacking.policy {
            Some(why) if kept && call.phase == "expand" => match self.has_same_documents(call) {
                true => Ok(Some(as_recorded(call))),
                false => Err(Undecidable(why.clone())),
            },
            _ => Ok(None),
        }
    }

    /// Decides on a call of a tool of which a part can't be decided again. A refusal for one of the other parts
    /// is one, whatever that part would be.
    fn in_parts(
        &self,
        call: &RecordedCall,
        caller: &Caller<'_>,
        (tool, via): (usize, Via),
        arguments: Option<&str>,
        lacking: &Lacking,
    ) -> Result<Second, Undecidable> {
        let own = &self.session.basis.tools[tool];
        let decision = self.session.decision(call.now);
        let root = arguments.and_then(parse_strict);
        let given = Given::new(arguments.unwrap_or_default(), root.as_ref());
        let found = decision.reasons(caller, (tool, via), &given);
        let wanted = found.approval().map(str::to_owned);
        let results = &self.session.state.approvals.results;
        let asks_result = asked_result(call).is_some_and(|it| results.contains(&it));
        let wanted = wanted.or_else(|| asks_result.then(|| ASKED_RESULT.to_owned()));
        let mut reasons = found.into_all();
        // Such a refusal is one before arguments are looked at.
        let is_early = !own.served.refusals.is_empty() || reasons.iter().any(is_early);
        let reads = |member| self.policy_reads(member);
        let is_policy_unsure = (arguments.is_none() && reads("arguments"))
            || (call.is_client_redacted && reads("subject"));
        if !is_early {
            let recorded = call.reasons.iter();
            let recorded: Vec<_> = recorded.filter(|_| was_looked_at(call)).collect();
            let keep = |codes: &[Code]| {
                let kept = recorded.iter().filter(|it| is_of(it, codes));
                kept.map(|it| as_reason(it)).collect::<Vec<_>>()
            };
            let mut kept = Vec::new();
            if arguments.is_none() {
                reasons.retain(|it| !OF_ARGUMENTS.contains(&it.code));
                if lacking.schema.is_none() {
                    kept.extend(keep(&OF_ARGUMENTS));
                }
            }
            if is_policy_unsure {
                reasons.retain(|it| !OF_POLICY.contains(&it.code));
                if lacking.policy.is_none() {
                    kept.extend(keep(&OF_POLICY));
                }
            }
            reasons.extend(kept);
        }
        let is_refused = !reasons.is_empty();
        let schema = lacking
            .schema
            .clone()
            .or_else(|| self.unseen(call, arguments));
        let unsure = [schema, lacking.policy.clone()];
        if !is_refused && let Some(why) = unsure.into_iter().flatten().next() {
            return Err(Undecidable(why));
        }
        let mut verdict = match is_refused {
            true => Verdict::Refused,
            false => Verdict::Allowed,
        };
        if !is_refused && (own.served.needs_approval() || wanted.is_some()) {
            let approval = self.session.state.approvals.pending.first();
            match approval.map(|it| it.answer) {
                Some(Some(true)) => {}
                Some(Some(false)) => {
                    verdict = Verdict::Refused;
                    let text = "a human denied the call";
                    reasons.push(CallReason::new(Code::ApprovalDenied, text));
                }
                Some(None) | None => {
                    verdict = Verdict::Asked;
                    let text = approval_wanted(wanted.as_deref());
                    reasons.push(CallReason::new(Code::ApprovalRequired, text));
                }
            }
        }
        let depends_on = self.depends_on(Some(tool), &call.phase);
        Ok(Second {
            moved: self.moved(call, tool),
            ..second(call, verdict, reasons, depends_on)
        })
    }

    /// Returns why nothing is known of arguments that no decision looked at.
    fn unseen(&self, call: &RecordedCall, arguments: Option<&str>) -> Option<String> {
        let Arguments::Lost(why) = call.arguments else {
            return None;
        };
        (arguments.is_none() && !was_looked_at(call))
            .then(|| format!("{why}, and the recorded decision did not look at them"))
    }

    /// Returns what a decision depends on, but for the lock and the index.
    fn depends_on(&self, tool: Option<usize>, phase: &str) -> Vec<&'static str> {
        let mut found = Vec::new();
        let basis = &self.session.basis;
        let asks = phase != "list_services" && basis.evaluation_context.policy.is_some();
        if tool.is_some() || asks && self.policy_reads("arguments") {
            found.push("arguments");
        }
        if tool.is_some_and(|tool| basis.tools[tool].served.needs_approval()) {
            found.push("approval");
        }
        if basis.remembered.is_some() && phase != "list_services" {
            found.push("history");
        }
        if asks {
            found.push("policy");
            for (member, name) in [
                ("context", "context"),
                ("subject", "client"),
                ("task", "task"),
                ("tenant_policy", "tenant"),
                ("user_tier", "tenant"),
            ] {
                found.extend(self.policy_reads(member).then_some(name));
            }
        }
        sort_by(&mut found, Ord::cmp);
        found.dedup();
        found
    }
}

/// Returns the recorded reasons of health.
fn vetoes(call: &RecordedCall) -> impl Iterator<Item = &Reason> {
    let reasons = call.reasons.iter();
    reasons.filter(|it| it.known() == Some(Code::HealthVeto))
}

/// Returns whether health vetoed a server in the recorded decision. A fallback that stands by has another reason.
fn was_vetoed(call: &RecordedCall, server: &str) -> bool {
    let named = format!("server `{server}`");
    vetoes(call).any(|reason| {
        ["the ", "the health of the "].iter().any(|start| {
            let rest = reason.text.strip_prefix(start);
            rest.is_some_and(|rest| rest.starts_with(&named))
        })
    })
}

/// Returns whether the recorded decision looked at the arguments of a locked tool.
fn was_looked_at(call: &RecordedCall) -> bool {
    let looked = |it: &Reason| {
        it.known()
            .is_some_and(|code| AFTER_ARGUMENTS.contains(&code))
    };
    call.definition.is_some() && call.phase == "call" && call.reasons.iter().all(looked)
}

/// Returns whether a reason ends a decision before its arguments are looked at.
fn is_early(reason: &CallReason) -> bool {
    matches!(
        reason.code,
        Code::DefinitionChanged
            | Code::ExpansionDenied
            | Code::HistoryUnavailable
            | Code::ToolUnknown
    )
}

fn is_of(reason: &Reason, codes: &[Code]) -> bool {
    reason.known().is_some_and(|code| codes.contains(&code))
}

fn as_reason(reason: &Reason) -> CallReason {
    let code = reason.known().unwrap_or(Code::SessionLimit);
    CallReason {
        pointer: reason.pointer.clone(),
        ..CallReason::new(code, reason.text.clone())
    }
}

fn restore_drift(
    call: &RecordedCall,
    state: &mut State,
    server: usize,
    tools: impl IntoIterator<Item = usize>,
) {
    let deviation = match (
        call.has(Code::DefinitionChanged),
        call.has(Code::ToolUnknown),
    ) {
        (true, _) => Deviation::Repeated,
        (false, true) => Deviation::Missing,
        (false, false) => return,
    };
    for tool in tools {
        state.lives[server]
            .deviations
            .insert(tool, deviation.clone());
    }
}

/// Names a call, as a policy that asks about its result does.
fn asked_result(call: &RecordedCall) -> Option<AskedResult> {
    let caller = Caller::read(&call.client).ok()?;
    let (server, version) = (call.server.as_ref()?, call.version.as_ref()?);
    Some(AskedResult {
        client: caller.key,
        tool: Key::of(&[server, version, &call.tool]),
        arguments: Key::of_digest(&call.arguments_digest),
    })
}

/// Returns the recorded decision as one that was made again.
fn as_recorded(call: &RecordedCall) -> Second {
    Second {
        verdict: call.verdict(),
        reasons: call.reasons.clone(),
        moved: Vec::new(),
        depends_on: vec!["arguments"],
        kept: Vec::new(),
        earlier: Vec::new(),
    }
}

/// Returns a decision, with the recorded text of each reason that depends on the state.
fn second(
    call: &RecordedCall,
    verdict: Verdict,
    reasons: Vec<CallReason>,
    depends_on: Vec<&'static str>,
) -> Second {
    let mut kept = Vec::new();
    let recorded = |code: Code| call.reasons.iter().find(|it| it.known() == Some(code));
    let mut reasons: Vec<_> = reasons
        .into_iter()
        .map(|it| {
            let state = recorded(it.code).filter(|_| OF_STATE.contains(&it.code));
            kept.extend(state.map(|_| it.code.name()));
            Reason {
                code: it.code.name().to_owned(),
                pointer: it.pointer,
                text: state.map_or(it.text, |it| it.text.clone()),
            }
        })
        .collect();
    let mut verdict = verdict;
    // The limits of a session are reached or not, whatever the documents are.
    if verdict != Verdict::Refused
        && let Some(limit) = recorded(Code::SessionLimit)
    {
        verdict = Verdict::Refused;
        reasons = vec![limit.clone()];
        kept.push(Code::SessionLimit.name());
    }
    sort_by(&mut kept, Ord::cmp);
    kept.dedup();
    Second {
        verdict,
        reasons,
        moved: Vec::new(),
        depends_on,
        kept,
        earlier: Vec::new(),
    }
}
