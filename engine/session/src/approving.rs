//! Calls that a human approves.

use super::approval::Consent;
use super::audit::Record;
use super::calling::{Decided, what};
use super::calls::OpenCall;
use super::client::Caller;
use super::continuation::{Continued, Subject};
use super::elicitation;
use super::limits::{APPROVAL_LIFETIME_MS, APPROVAL_WAIT_MS};
use super::messages::{Approved, CallAction};
use super::options::ApprovalMode;
use super::refusal::Refusal;
use super::session::Session;
use agent_api::diagnostic::Code;
use agent_api::explain::CallReason;
use agent_api::lower::digest;
use agent_api::text::visible;
use agent_record::Clock;
use std::sync::Arc;

/// Maximum number of characters of arguments that a human sees before an approval.
const SHOWN_ARGUMENTS: usize = 4_000;

/// Says that a human must approve a call, and why, if a rule wants it.
pub(crate) fn approval_wanted(why: Option<&str>) -> String {
    let wanted = "a human must approve the call";
    why.map_or_else(|| wanted.to_owned(), |why| format!("{wanted}: {why}"))
}

impl Session {
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
        let record = self.record_answer((approval, answer, by), tool, &waiting, now);
        Approved {
            is_known: tool.is_some(),
            waiting,
            records: vec![record],
        }
    }

    /// Takes a client's result of `elicitation/create`, with which it asked its human about an approval. Without
    /// an answer of the human nothing changes.
    pub fn elicited(&mut self, approval: &str, result: &[u8], now: Clock) -> Approved {
        match elicitation::read(result)
            .filter(|_| self.settings.approval_mode == ApprovalMode::Elicitation)
        {
            Some(answer) => self.approve(approval, answer, elicitation::BY, now),
            None => Approved::default(),
        }
    }

    /// Takes the answer that a client repeats its call with. Other calls that wait for the same approval go on
    /// waiting.
    pub(crate) fn answer_by_client(
        &mut self,
        caller: &Caller<'_>,
        (tool, arguments): (usize, &str),
        answer: bool,
        now: Clock,
    ) -> Option<Record> {
        if self.settings.approval_mode != ApprovalMode::Elicitation {
            return None;
        }
        let approval = (self.state.approvals).open_id(&caller.key, tool, arguments)?;
        (self.state.approvals).answer(&approval, answer, now.unix_ms)?;
        let what = (&*approval, answer, elicitation::BY);
        Some(self.record_answer(what, Some(tool), &[], now))
    }

    fn record_answer(
        &mut self,
        (approval, answer, by): (&str, bool, &str),
        tool: Option<usize>,
        waiting: &[u64],
        now: Clock,
    ) -> Record {
        let name = tool.map(|tool| self.basis.tools[tool].name().to_owned());
        self.record("approval", now, |w| {
            w.key("answer").bool(answer);
            w.key("approval").string(approval);
            w.key("by").string(by);
            w.key("calls").array(|w| {
                waiting.iter().for_each(|id| w.json(&id.to_string()));
            });
            w.key("is_known").bool(tool.is_some());
            w.key("tool").optional(name.as_deref());
        })
    }

    /// Refuses a call without an approval, or asks for it.
    pub(crate) fn without_consent<'r>(
        &mut self,
        mut decided: Decided<'r>,
        (caller, elicits): (&Caller<'_>, bool),
        (tool, why): (usize, Option<&str>),
        consent: Consent,
        now: Clock,
    ) -> Decided<'r> {
        let basis = Arc::clone(&self.basis);
        let own = &basis.tools[tool];
        let reason = match &consent {
            Consent::Denied(_) => CallReason::new(Code::ApprovalDenied, "a human denied the call"),
            Consent::Asked(_) | Consent::Given(_) => {
                CallReason::new(Code::ApprovalRequired, approval_wanted(why))
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
        let form = decided.arguments.form();
        let text = self.approval_text(caller, tool, (form, why));
        let mut call = self.open_call(caller, (own.server, Some(tool)), form, &[]);
        refusal.approval = Some(approval.clone());
        let mode = self.settings.approval_mode;
        let asks = mode == ApprovalMode::Elicitation && elicits;
        let question = asks.then(|| elicitation::params(&text));
        let answer = match mode == ApprovalMode::Retry || asks {
            true => self.retry_later(caller, &call, &refusal, question.as_deref(), now),
            false => None,
        };
        let question = question.filter(|_| !caller.is_stateless());
        let question = question.and_then(|it| self.redactor.json(&it));
        let (wait_ms, open) = match &answer {
            Some(_) => (APPROVAL_LIFETIME_MS, None),
            None => {
                call.approval = Some(approval.clone());
                (APPROVAL_WAIT_MS, Some(call))
            }
        };
        Decided {
            action: CallAction::AskApproval {
                approval: approval.clone(),
                text,
                expires_unix_ms: now.unix_ms.saturating_add(wait_ms),
                answer,
                elicitation: question.map(String::into_bytes),
            },
            reasons: refusal.reasons,
            approval: Some(approval),
            open,
            ..decided
        }
    }

    /// Returns the result with which a client repeats the call later, if its generation of the protocol has it. The
    /// call waits if too many are to be repeated.
    fn retry_later(
        &mut self,
        caller: &Caller<'_>,
        call: &OpenCall,
        refusal: &Refusal,
        question: Option<&str>,
        now: Clock,
    ) -> Option<Vec<u8>> {
        if !caller.is_stateless() {
            return None;
        }
        let state = self.request_state(call, &Continued::Approval, now)?;
        Some(refusal.input_required(&state, question, &self.redactor))
    }

    /// Returns a `requestState` for a call, or `None` if too many are not used yet.
    pub(crate) fn request_state(
        &mut self,
        call: &OpenCall,
        continued: &Continued,
        now: Clock,
    ) -> Option<String> {
        let subject = Subject {
            client: &call.client,
            tool: &call.tool_key()?,
            arguments: &call.arguments,
        };
        let continuations = &mut self.state.continuations;
        continuations.issue(&self.settings.seed, subject, continued, now.unix_ms)
    }

    /// Returns what a human decides about.
    fn approval_text(
        &self,
        caller: &Caller<'_>,
        tool: usize,
        (arguments, why): (&str, Option<&str>),
    ) -> String {
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
        let why = why.map_or_else(String::new, |why| format!("; {why}"));
        format!(
            "The client `{}` ({}) calls `{}` of `{}` with {arguments}{why}",
            visible(&client.id),
            visible(&client.kind),
            visible(self.basis.tools[tool].name()),
            self.basis.server_of(tool).name,
        )
    }
}
