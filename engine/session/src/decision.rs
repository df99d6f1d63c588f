//! The one decision on a call: the same for a tool that is listed and for one behind a stub.

use super::basis::{Basis, Server};
use super::client::{Caller, Key};
use super::history::{Given, History, Present, Remembered, Traits, view, view_of_rules};
use super::limits::INSTEAD_MAX;
use super::quota::{OverQuota, Quotas};
use super::request::Arguments;
use super::surface::Surface;
use agent_api::decide::PolicyErrorKind;
use agent_api::diagnostic::Code;
use agent_api::explain::{CallReason, policy_error};
use agent_api::lower::{PolicyHistory, PolicyOccasion, live_context};
use agent_api::model::{Context, HistoryRuleTerms};
use agent_api::policy::{HistoryFinding, HistoryWant};
use agent_api::schema::Json;
use agent_api::text::{nearest, visible};
use agent_record::Redactor;

/// What the name of a call means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A locked tool.
    Tool(usize),
    /// The stub of a server.
    Stub(usize),
    /// A tool of a locked server that the lock does not have: the server, and its name there.
    Unlocked(usize, String),
    /// Nothing that a locked server has.
    Unknown,
}

/// How a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    /// By its own name.
    Name,
    /// By the stub of its server.
    Stub,
}

/// Everything that decides on a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decision<'s> {
    pub(crate) surface: Surface<'s>,
    pub(crate) quotas: &'s Quotas,
    pub(crate) history: &'s History,
    pub(crate) redactor: &'s Redactor,
}

/// The reasons against a call.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    /// Those that also an observing session refuses for.
    pub(crate) drift: Vec<CallReason>,
    /// The others.
    pub(crate) others: Vec<CallReason>,
    /// When to try again, if time alone changes the decision.
    pub(crate) retry_after_ms: Option<u64>,
    /// The tools to call instead of one that is not served by the health of servers.
    pub(crate) instead: Vec<String>,
    /// Whether the policy lets the client have the definition.
    pub(crate) may_expand: bool,
    /// What built-in rules say that do not refuse the call: those that want a human, and those that only record.
    pub(crate) findings: Vec<HistoryFinding>,
}

impl Reasons {
    /// Returns why a human must approve the call, if a rule says so.
    pub(crate) fn approval(&self) -> Option<&str> {
        let mut findings = self.findings.iter();
        let wanted = findings.find(|it| it.wants == HistoryWant::Approval && !it.is_log_only);
        wanted.map(|it| &*it.text)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.drift.is_empty() && self.others.is_empty()
    }

    /// Returns whether the arguments alone are wrong.
    pub(crate) fn is_of_arguments(&self) -> bool {
        let mut others = self.others.iter();
        self.drift.is_empty() && others.any(|it| it.pointer.is_some())
    }

    pub(crate) fn into_all(self) -> Vec<CallReason> {
        self.drift.into_iter().chain(self.others).collect()
    }
}

/// The reasons of the documents against a call of a locked tool.
#[derive(Debug)]
pub(crate) struct ByDocuments {
    /// Those of the policy against the definition, of a tool behind a stub.
    pub(crate) expansion: Option<Vec<CallReason>>,
    /// Those of the tool, of its input schema and of the policy.
    pub(crate) call: Vec<CallReason>,
}

impl<'s> Decision<'s> {
    fn basis(&self) -> &'s Basis {
        self.surface.basis
    }

    /// Returns what a name means. Every tool of the lock and every stub has a name of its own.
    pub(crate) fn target(&self, name: &str) -> Target {
        let basis = self.basis();
        if let Some(tool) = basis.tool_number(name) {
            return Target::Tool(tool);
        }
        let servers = || basis.servers.iter().enumerate();
        let has_stub = |server: usize| {
            let mut tools = basis.tools_of(server);
            tools.any(|tool| self.surface.is_behind_stub(tool))
        };
        if let Some((server, _)) =
            servers().find(|(server, it)| it.stub == name && has_stub(*server))
        {
            return Target::Stub(server);
        }
        let offered = self.surface.offers().remove(name);
        if let Some(offer) = offered.filter(|it| !it.offered.is_gone()) {
            return Target::Unlocked(offer.server, offer.own_name.to_owned());
        }
        let is_unlocked = |server: usize| {
            if self.surface.observe && self.surface.lives[server].offered.contains_key(name) {
                return false;
            }
            let own = &basis.servers[server].unlocked;
            let of_index = own.binary_search_by(|it| it.as_str().cmp(name));
            of_index.is_ok() || self.surface.lives[server].unlocked.contains(name)
        };
        match servers().find(|(server, _)| is_unlocked(*server)) {
            Some((server, _)) => Target::Unlocked(server, name.to_owned()),
            None => Target::Unknown,
        }
    }

    /// Returns the names that are most similar to one, of those that a session sees.
    pub(crate) fn similar(&self, name: &str, session: Option<&Key>) -> Vec<String> {
        let names = self.surface.names(session);
        let near = nearest(name, names.iter().map(String::as_str), INSTEAD_MAX);
        near.into_iter().map(str::to_owned).collect()
    }

    /// Returns the policy's context at the time of the decision \[4\].
    pub(crate) fn context(&self) -> Context {
        let given = self.basis().evaluation_context.context.as_deref();
        live_context(given, &self.surface.now.local_time())
    }

    /// Returns every reason against a call of a locked tool but those of limits and approvals.
    pub(crate) fn reasons(
        &self,
        caller: &Caller<'_>,
        (tool, via): (usize, Via),
        arguments: &Arguments<'_>,
    ) -> Reasons {
        let mut reasons = Reasons::default();
        let basis = self.basis();
        let own = &basis.tools[tool];
        if let Some(drift) = self.surface.drift(tool) {
            reasons.drift.push(drift);
            return reasons;
        }
        if let Some(reason) = self.misnamed(tool, via, caller.session.as_ref()) {
            reasons.others.push(reason);
            return reasons;
        }
        let past = basis.remembered.as_ref().map(|known| {
            let server = basis.server_of(tool);
            let traits = known.traits_of((&server.id, &server.version, own.own_name()));
            let given = known.given(Some(arguments.node()));
            self.past(known, caller, &traits, &given)
        });
        if let Some(Err(reason)) = past {
            reasons.others.push(reason);
            return reasons;
        }
        let past = past.and_then(Result::ok).unwrap_or_default();
        let found = self.by_documents(caller, tool, arguments, past.of_policy.as_ref());
        reasons.may_expand = found.expansion.as_ref().is_some_and(Vec::is_empty);
        reasons.others = found.expansion.unwrap_or_default();
        reasons.others.extend(found.call);
        reasons.others.extend(past.refusals);
        reasons.findings = past.findings;
        let stands_by = self.surface.standing_by(tool);
        reasons.others.extend(stands_by.clone());
        if let Some((reason, retry)) = self.surface.vetoed(own.server) {
            reasons.others.push(reason);
            reasons.retry_after_ms = retry.filter(|_| stands_by.is_none());
        }
        if !self.surface.is_in_force(tool) {
            reasons.instead = self.surface.instead_of(tool);
        }
        if let Some((reason, retry)) = self.over_quota(&caller.key, tool) {
            reasons.others.push(reason);
            reasons.retry_after_ms = reasons.retry_after_ms.max(retry);
        }
        // Time helps only if nothing else is wrong.
        let is_of_time =
            |it: &CallReason| matches!(it.code, Code::HealthVeto | Code::QuotaExceeded);
        if !reasons.others.iter().all(is_of_time) {
            reasons.retry_after_ms = None;
        }
        reasons
    }

    /// Returns the reasons of the documents against a call of a locked tool, after a history as the policy sees it.
    pub(crate) fn by_documents(
        &self,
        caller: &Caller<'_>,
        tool: usize,
        arguments: &Arguments<'_>,
        history: Option<&PolicyHistory>,
    ) -> ByDocuments {
        let served = &self.basis().tools[tool].served;
        let context = self.context();
        let occasion = PolicyOccasion {
            history,
            arguments: Some(arguments.text().unwrap_or("{}")),
            context: Some(&context),
            subject: Some(&caller.subject),
            result: None,
        };
        let is_behind_stub = self.surface.is_behind_stub(tool);
        ByDocuments {
            expansion: is_behind_stub.then(|| served.expansion_reasons(occasion)),
            call: served.reasons(Json::of(arguments.node()), occasion),
        }
    }

    /// Returns the tool behind the stub of a server by the name that clients call.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn behind_stub(&self, server: usize, tool: &str) -> Result<usize, CallReason> {
        let basis = self.basis();
        let number = basis.tool_number(tool);
        let number = number.filter(|number| basis.tools[*number].server == server);
        number.ok_or_else(|| {
            let Server { name, stub, .. } = &basis.servers[server];
            let text = format!("the lock does not have `{}` of `{name}`", visible(tool));
            let help = format!("Call `{stub}` with the operation `list_services`.");
            CallReason::new(Code::ToolNotLocked, text).help(help)
        })
    }

    /// Returns what the history that a call of a client follows says.
    ///
    /// # Errors
    /// Why nothing can be decided by it.
    pub(crate) fn past(
        &self,
        known: &Remembered,
        caller: &Caller<'_>,
        traits: &Traits,
        given: &Given,
    ) -> Result<Past, CallReason> {
        let now_ms = self.surface.now.unix_ms;
        let key = self.history.key(&caller.key);
        let scope = self.history.of(&key);
        if let Some(reason) = self.no_history(known, caller, &key) {
            if known.decides() {
                return Err(reason);
            }
            let mut past = Past::default();
            let rules = known.terms.rules.iter();
            let rules = rules.filter(|it| it.decides_calls_of(&traits.server, &traits.tool));
            past.not_decided(rules, &reason.text);
            return Ok(past);
        }
        let present = Present {
            traits,
            given,
            session: caller.session.as_ref(),
            now_ms,
            window_ms: known.terms.window_ms,
        };
        let of_policy = known
            .policy
            .reads
            .then(|| view(scope, present, known.policy.reads_calls));
        let mut past = Past {
            of_policy,
            ..Past::default()
        };
        // Most calls concern no rule. One that only records fails alone.
        let about = known.rules_about(traits, scope);
        let (recording, deciding): (Vec<_>, Vec<_>) =
            about.into_iter().partition(|it| it.is_log_only);
        for about in [deciding, recording] {
            let Some(rules) = known.rules.as_ref().filter(|_| !about.is_empty()) else {
                continue;
            };
            let (history, read) = view_of_rules(scope, present, &about);
            match rules.ask(&history, &read) {
                Ok(found) => past.take(found),
                Err(why) => {
                    let text =
                        format!("the rules about the history of calls can't be evaluated: {why}");
                    match about.iter().all(|it| it.is_log_only) {
                        true => past.not_decided(about, &text),
                        false => past.refusals.push(CallReason::new(Code::PolicyError, text)),
                    }
                }
            }
        }
        Ok(past)
    }

    /// Returns why nothing can be decided by the history of a client.
    fn no_history(&self, known: &Remembered, caller: &Caller<'_>, key: &Key) -> Option<CallReason> {
        let unavailable = |text: &str| {
            let reason = CallReason::new(Code::HistoryUnavailable, text);
            Some(reason.help(Code::HistoryUnavailable.help()))
        };
        if self.history.missing.is_some() {
            return unavailable(
                "calls are decided by their history, and that before the start is not known",
            );
        }
        // By its records, a client has another name.
        let client = caller.client;
        let names = [
            Some(&client.kind),
            Some(&client.id),
            client.session.as_ref(),
        ];
        let mut names = names.into_iter().flatten();
        if names.any(|name| self.redactor.is_in(name)) {
            return unavailable("the name of the client holds a secret, which its records lack");
        }
        let now_ms = self.surface.now.unix_ms;
        (!self.history.has_room(key, now_ms, known)).then(|| {
            let text = "the histories of too many clients are kept";
            CallReason::new(Code::SessionLimit, text)
        })
    }

    /// Returns why a tool may not be called in this way: on the list of the client is another name.
    pub(crate) fn misnamed(
        &self,
        tool: usize,
        via: Via,
        session: Option<&Key>,
    ) -> Option<CallReason> {
        let basis = self.basis();
        let own = &basis.tools[tool];
        let name = visible(own.name());
        let stub = &basis.server_of(tool).stub;
        let is_behind = self.surface.is_behind_stub(tool);
        match via {
            Via::Name if is_behind && !self.surface.is_listed(tool, session) => {
                // A forbidden tool is on no list, and has its own reasons.
                if self.surface.is_withheld(tool) {
                    return None;
                }
                let text =
                    format!("`{name}` is locked on demand, so it is not on the list of tools");
                let help = format!(
                    "Call `{stub}` with the operation `call`, the tool `{name}` and its arguments."
                );
                Some(CallReason::new(Code::ExpansionDenied, text).help(help))
            }
            Via::Stub if !is_behind => {
                let text = format!("`{name}` is not behind `{stub}`: it is on the list of tools");
                let help = format!("Call `{name}` by its own name.");
                Some(CallReason::new(Code::ExpansionDenied, text).help(help))
            }
            _ => None,
        }
    }

    /// Returns how many calls within a minute a rate limited tool may get; `None` for another tool.
    ///
    /// # Errors
    /// The entry of its server does not say how many.
    pub(crate) fn call_limit(&self, tool: usize) -> Result<Option<u32>, CallReason> {
        let basis = self.basis();
        let Server {
            name, rate_limit, ..
        } = basis.server_of(tool);
        match (basis.tools[tool].served.is_rate_limited(), *rate_limit) {
            (false, _) => Ok(None),
            (true, Some(limit)) => Ok(Some(limit)),
            (true, None) => {
                let text = format!(
                    "`{}` is rate limited, and the entry of `{name}` has no `policy.rateLimitPerMin`",
                    basis.tools[tool].name()
                );
                Err(CallReason::new(Code::QuotaMissing, text))
            }
        }
    }

    /// Returns why a client may not call a rate limited tool now, and when to try again.
    fn over_quota(&self, client: &Key, tool: usize) -> Option<(CallReason, Option<u64>)> {
        let limit = match self.call_limit(tool) {
            Ok(limit) => limit?,
            Err(missing) => return Some((missing, None)),
        };
        let Server { name, key, .. } = self.basis().server_of(tool);
        let now_ms = self.surface.now.unix_ms;
        match self.quotas.check(client, key, limit, now_ms) {
            Ok(()) => None,
            Err(OverQuota::Exceeded(wait)) => {
                let text = format!("the {limit} calls of `{name}` within a minute are used up");
                Some((CallReason::new(Code::QuotaExceeded, text), Some(wait)))
            }
            Err(OverQuota::TooMany) => {
                let text = "the calls of too many clients are counted";
                Some((CallReason::new(Code::SessionLimit, text), None))
            }
        }
    }
}

/// What a history says about a call.
#[derive(Debug, Default)]
pub(crate) struct Past {
    /// The history as the policy sees it, if it reads it.
    pub(crate) of_policy: Option<PolicyHistory>,
    /// The reasons of built-in rules against the call.
    pub(crate) refusals: Vec<CallReason>,
    /// What built-in rules say otherwise: that a human must approve the call, and what they only record.
    pub(crate) findings: Vec<HistoryFinding>,
}

impl Past {
    fn take(&mut self, found: Vec<HistoryFinding>) {
        for it in found {
            let finding = HistoryFinding {
                text: visible(&it.text).into_owned(),
                ..it
            };
            match finding.wants == HistoryWant::Approval || finding.is_log_only {
                true => self.findings.push(finding),
                false => self.refusals.push(refusal_of(&finding)),
            }
        }
    }

    /// Takes that rules could not decide that only record.
    fn not_decided<'t>(
        &mut self,
        rules: impl IntoIterator<Item = &'t HistoryRuleTerms>,
        why: &str,
    ) {
        self.findings
            .extend(rules.into_iter().map(|it| HistoryFinding {
                rule: it.rule.as_str().to_owned(),
                wants: HistoryWant::History,
                is_log_only: true,
                text: why.to_owned(),
            }));
    }
}

/// Returns a finding as a reason against a call.
pub(crate) fn refusal_of(finding: &HistoryFinding) -> CallReason {
    let HistoryFinding { rule, text, .. } = finding;
    match finding.wants {
        HistoryWant::History => {
            let why = policy_error(PolicyErrorKind::History);
            let text = format!("the tenant's rule `{rule}`: {why}: {text}");
            CallReason::new(Code::PolicyError, text)
        }
        HistoryWant::Approval | HistoryWant::Refusal => {
            let text = format!("the tenant's rule `{rule}`: {text}");
            CallReason::new(Code::PolicyDenied, text)
        }
    }
}
