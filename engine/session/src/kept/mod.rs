//! Decisions on calls after what a store keeps of their client \[4\]: counted calls, approvals, and a history.
//!
//! A host reads what is kept, decides, and writes what is kept next, if nobody else did meanwhile. It is the state of a
//! session that has one client. Of the text of a call it has what a human is asked to approve, and nothing else.
//!
//! | module | content |
//! |---|---|
//! | `written` | what is kept, as JSON |

mod written;

use super::approval::Approval;
use super::client::{Caller, Generation, Key};
use super::decision::Target;
use super::decision_point::{AskedCall, CallDecision, DecisionPoint, Found, not_kept};
use super::enforcing::{AskedRequest, Enforced};
use super::limits::{APPROVAL_LIFETIME_MS, KEPT_APPROVALS_MAX, KEPT_MAX_BYTES, QUOTA_WINDOW_MS};
use super::messages::CallAction;
use super::method::Method;
use super::request::{Arguments, Request};
use super::session::{Session, State};
use agent_api::diagnostic::Code;
use agent_api::explain::CallReason;
use agent_api::model::HistoryRule;
use agent_record::{Clock, Redactor};
use std::sync::Arc;
use written::{Kept, Pending, tool_of, unreadable};

/// Where a store keeps what decides on a call beside the documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAt {
    /// Names the tenant, the agent and the client: 32 hexadecimal digits.
    pub key: String,
    /// For how long it decides after it was written, in milliseconds. A store that forgets it earlier forgets calls.
    pub lifetime_ms: u64,
}

/// What a human decides about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedApproval {
    /// Its id: the key of [`KeptAt`], `-`, and more.
    pub id: String,
    /// What is called, by whom, with which arguments.
    pub text: String,
    /// When it expires, in milliseconds since 1970.
    pub expires_unix_ms: u64,
    /// What the human decided.
    pub answer: Option<bool>,
}

/// A decision on a call, and what is to be kept before it has an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDecision {
    /// The decision.
    pub decision: CallDecision,
    /// What a human is asked first.
    pub approval: Option<AskedApproval>,
    /// What is kept next; `None` if the call changes nothing. The decision counts only once it is written.
    pub kept: Option<Vec<u8>>,
}

/// What an enforcement point does with a request, and what is to be kept before it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptEnforced {
    /// What it does.
    pub enforced: Enforced,
    /// As [`KeptDecision::kept`].
    pub kept: Option<Vec<u8>>,
}

/// An approval of what is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptApproval {
    /// The approval as it is now; `None` if there is none of the id, or it was answered before.
    pub approval: Option<AskedApproval>,
    /// What is kept next; `None` if nothing changes.
    pub kept: Option<Vec<u8>>,
}

impl DecisionPoint {
    /// Returns where a store keeps what decides on a call; `None` if nothing does beside the documents.
    ///
    /// # Errors
    /// The subject is too large or unreadable.
    pub fn kept_at(&self, call: &AskedCall) -> Result<Option<KeptAt>, (Code, String)> {
        let client = call.subject.client(Generation::Stateless);
        let caller = Caller::read(&client)?;
        let decision = self.session.decision(Clock::default());
        let target = self.target(&decision, &call.tool);
        Ok(self.kept_of(&caller, &target))
    }

    /// Returns where a store keeps what decides on a request, as [`Self::kept_at`].
    ///
    /// # Errors
    /// No locked server has the name, or the subject is too large or unreadable.
    pub fn request_kept_at(&self, asked: &AskedRequest) -> Result<Option<KeptAt>, (Code, String)> {
        let server = self.server(&asked.server)?;
        let client = asked.subject.client(asked.generation);
        let caller = Caller::read(&client)?;
        if self.is_of_history(&asked.method) {
            return Ok(self.kept_at_key(&caller));
        }
        if asked.method != "tools/call" {
            return Ok(None);
        }
        let request = Request::read(asked.params.as_deref().unwrap_or(b"{}"));
        Ok(request.ok().and_then(|request| {
            let target = self.own_tool(server, &request.name);
            self.kept_of(&caller, &target)
        }))
    }

    fn kept_of(&self, caller: &Caller<'_>, target: &Target) -> Option<KeptAt> {
        let basis = &self.session.basis;
        let remembered = basis.remembered.as_ref();
        let needs_more = |tool: usize| {
            let served = &basis.tools[tool].served;
            served.is_rate_limited() || served.needs_approval()
        };
        let decides = match target {
            Target::Tool(tool) => remembered.is_some() || needs_more(*tool),
            Target::Stub(server) => remembered.is_some() || basis.tools_of(*server).any(needs_more),
            Target::Unlocked(..) | Target::Unknown => false,
        };
        decides.then(|| self.kept_at_key(caller))?
    }

    /// Returns whether requests of a method belong to the history of their client, which has calls alone here.
    fn is_of_history(&self, method: &str) -> bool {
        let has_content = Method::named(method).is_some_and(|it| it.list().is_none());
        has_content && self.session.basis.remembered.is_some()
    }

    fn kept_at_key(&self, caller: &Caller<'_>) -> Option<KeptAt> {
        let basis = &self.session.basis;
        let lock = basis.lock.as_ref()?;
        let tenant = basis.evaluation_context.tenant.as_ref();
        let tenant = tenant.map_or_else(String::new, |it| it.id.to_string());
        let agent = lock.agent.name.to_string();
        let key = Key::of(&[&tenant, &agent, caller.key.as_str()]);
        let window_ms = basis.remembered.as_ref().map_or(0, |it| it.terms.window_ms);
        let lifetime_ms = window_ms.max(APPROVAL_LIFETIME_MS).max(QUOTA_WINDOW_MS);
        Some(KeptAt {
            key: key.as_str().to_owned(),
            lifetime_ms,
        })
    }

    /// Decides on a call after what is kept.
    ///
    /// # Errors
    /// As [`Self::decide`], or no decision point wrote what is kept.
    pub fn decide_after(
        &self,
        call: &AskedCall,
        kept: Option<&[u8]>,
        now: Clock,
    ) -> Result<KeptDecision, (Code, String)> {
        let mut after = After::default();
        let decision = self.decided(call, now, |caller, named, arguments| {
            after = self.after(caller, named, arguments, (kept, now))?;
            Ok(core::mem::take(&mut after.reasons))
        })?;
        // The call of another agent has no effect.
        let is_own = self.other_agent(call.agent.as_deref()).is_none();
        Ok(KeptDecision {
            decision,
            approval: after.approval.filter(|_| is_own),
            kept: after.kept.filter(|_| is_own),
        })
    }

    /// Decides on a request to a server after what is kept.
    ///
    /// # Errors
    /// As [`Self::request`], or no decision point wrote what is kept.
    pub fn request_after(
        &self,
        asked: &AskedRequest,
        kept: Option<&[u8]>,
        now: Clock,
    ) -> Result<KeptEnforced, (Code, String)> {
        if self.is_of_history(&asked.method) {
            let text = format!("no store keeps `{}` in the history of calls", asked.method);
            let reason = CallReason::new(Code::StateRequired, text);
            return Ok(KeptEnforced {
                enforced: self.refused(&asked.method, vec![reason]),
                kept: None,
            });
        }
        let mut next = None;
        let enforced = self.enforced(asked, now, |caller, named, arguments| {
            let after = self.after(caller, named, arguments, (kept, now))?;
            next = after.kept;
            Ok(Found {
                reasons: after.reasons,
                approval: after.approval.map(|it| it.id),
            })
        })?;
        Ok(KeptEnforced {
            kept: next.filter(|_| self.other_agent(asked.agent.as_deref()).is_none()),
            enforced,
        })
    }

    /// Returns every reason against a call after what is kept, and what is kept next.
    fn after(
        &self,
        caller: &Caller<'_>,
        named: (&str, Target),
        arguments: &Arguments<'_>,
        (kept, now): (Option<&[u8]>, Clock),
    ) -> Result<After, (Code, String)> {
        let stateless = |named| After::of(self.reasons_against(caller, named, arguments, now));
        let Some(KeptAt { key, .. }) = self.kept_of(caller, &named.1) else {
            return Ok(stateless(named));
        };
        let (name, target) = named;
        let (tool, via, arguments) = match self.called((name, target.clone()), arguments, now) {
            Ok(called) => called,
            Err(reasons) => return Ok(After::of(reasons)),
        };
        if self.needs_gateway(tool, now) {
            return Ok(stateless((name, target)));
        }
        let kept = match kept {
            None => Kept::default(),
            Some(bytes) => Kept::read(bytes).ok_or_else(unreadable)?,
        };
        // Clocks of hosts differ, and no window ends because one is behind.
        let now = Clock {
            unix_ms: now.unix_ms.max(kept.latest_ms),
            ..now
        };
        let mut session = self.session_after(&kept, caller, now)?;
        let before = session.state.approvals.pending.clone();
        let request = Request::of_name(name);
        let decided = session.decide_tool(caller, &request, (tool, via), arguments, now);
        let (reasons, asked) = match &decided.action {
            CallAction::Forward(_) => (Vec::new(), None),
            CallAction::AskApproval { approval, text, .. } => {
                (decided.reasons.clone(), Some((&**approval, &**text)))
            }
            _ => (decided.reasons.clone(), None),
        };
        let pending = &session.state.approvals.pending;
        if pending.len() > KEPT_APPROVALS_MAX {
            let text = format!("{KEPT_APPROVALS_MAX} calls of the client wait for an approval");
            return Ok(After::of(vec![CallReason::new(Code::SessionLimit, text)]));
        }
        let is_changed = reasons.is_empty() || *pending != before;
        if reasons.is_empty() {
            let id = session.state.calls.next();
            session.record_decision(id, (caller, name), &decided, now);
        }
        let next = kept.next(&session, asked, now);
        let approval = asked.and_then(|(id, _)| next.asked(&key, id));
        let written = is_changed.then(|| next.written());
        if written.as_ref().is_some_and(|it| it.len() > KEPT_MAX_BYTES) {
            let text = format!("more than {KEPT_MAX_BYTES} bytes would be kept of the client");
            return Ok(After::of(vec![CallReason::new(Code::SessionLimit, text)]));
        }
        Ok(After {
            reasons,
            approval,
            kept: written,
        })
    }

    /// Returns whether something decides on a call of a tool that no store keeps.
    fn needs_gateway(&self, tool: usize, now: Clock) -> bool {
        let decision = self.session.decision(now);
        let basis = &self.session.basis;
        let (server, name) = (&basis.server_of(tool).id, basis.tools[tool].own_name());
        let mut rules = basis.remembered.iter().flat_map(|it| &it.terms.rules);
        // No enforcement point reports that a call was answered.
        let asks_answers = rules.any(|it| {
            it.rule == HistoryRule::Before && !it.is_log_only && it.decides_calls_of(server, name)
        });
        asks_answers || !not_kept(&decision, tool).is_empty()
    }

    /// Returns a session in which happened what is kept, and nothing else.
    fn session_after(
        &self,
        kept: &Kept,
        caller: &Caller<'_>,
        now: Clock,
    ) -> Result<Session, (Code, String)> {
        let basis = Arc::clone(&self.session.basis);
        let mut state = State::ready(&basis, now);
        state.chain.sequence = kept.calls;
        state.calls.last = kept.calls;
        state.quotas = kept.quotas.clone();
        state.approvals.minted = kept.minted;
        for approval in &kept.approvals {
            let tool = basis
                .tools
                .iter()
                .position(|it| tool_of(&basis, it) == approval.tool);
            state.approvals.pending.extend(tool.map(|tool| Approval {
                id: approval.id.clone(),
                client: caller.key.clone(),
                tool,
                arguments: approval.arguments.clone(),
                answer: approval.answer,
                expires_ms: approval.expires_ms,
            }));
        }
        state.approvals.expire(now.unix_ms);
        if let Some(known) = &basis.remembered {
            state.history = kept.history(known, &basis, now).ok_or_else(unreadable)?;
        }
        Ok(Session {
            basis,
            settings: self.session.settings.clone(),
            redactor: Redactor::default(),
            state,
            rebuilding: None,
        })
    }

    /// Shows an approval of what is kept, or takes the answer of a human to it.
    ///
    /// # Errors
    /// No decision point wrote what is kept.
    pub fn approval(
        &self,
        (kept, key): (&[u8], &str),
        id: &str,
        answer: Option<bool>,
        now: Clock,
    ) -> Result<KeptApproval, (Code, String)> {
        let mut kept = Kept::read(kept).ok_or_else(unreadable)?;
        let now_ms = now.unix_ms.max(kept.latest_ms);
        let is_it = |it: &&mut Pending| it.is_named(key, id) && now_ms < it.expires_ms;
        let Some(approval) = kept.approvals.iter_mut().find(is_it) else {
            return Ok(KeptApproval::default());
        };
        if answer.is_some() {
            if approval.answer.is_some() {
                return Ok(KeptApproval::default());
            }
            approval.answer = answer;
            approval.expires_ms = now_ms.saturating_add(APPROVAL_LIFETIME_MS);
        }
        let shown = approval.asked(key);
        Ok(KeptApproval {
            approval: Some(shown),
            kept: answer.map(|_| kept.written()),
        })
    }
}

/// What is found against a call, and what is kept next.
#[derive(Debug, Default)]
struct After {
    reasons: Vec<CallReason>,
    approval: Option<AskedApproval>,
    kept: Option<Vec<u8>>,
}

impl After {
    /// Returns that a call is refused without an effect.
    fn of(reasons: Vec<CallReason>) -> Self {
        Self {
            reasons,
            ..Self::default()
        }
    }
}
