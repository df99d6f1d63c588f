//! The results of forwarded calls.

use super::calling::what;
use super::calls::OpenCall;
use super::client::Generation;
use super::continuation::{Continued, ServerState};
use super::delivery::{Passed, continues, pass};
use super::limits::{CALL_TIMEOUT_MS, QUOTE_MAX_CHARS, REPETITIONS_MAX};
use super::messages::{Delivered, Failure};
use super::refusal::{Refusal, input_required};
use super::session::Session;
use agent_api::diagnostic::Code;
use agent_api::explain::CallReason;
use agent_api::text::visible;
use agent_record::Clock;

impl Session {
    /// Takes the result of a call that was passed on.
    pub fn result(&mut self, id: u64, result: &[u8], now: Clock) -> Delivered {
        let Some(call) = self.close(id) else {
            return Delivered::Nothing(vec![self.unexpected(id, now)]);
        };
        if let Some(method) = call.method {
            return self.response(id, &call, method, result, now);
        }
        let max_bytes = self.settings.payload_max_bytes;
        match continues(&call, result, max_bytes, &self.redactor) {
            None => {}
            Some(Err(texts)) => return self.withhold_result(id, &call, texts, result, now),
            Some(Ok(state)) => return self.pass_state(id, &call, state, result, now),
        }
        match pass(&call, result, max_bytes, &self.redactor) {
            Ok((passed, is_error)) => {
                let outcome = if is_error { "tool_error" } else { "delivered" };
                let records = vec![self.effect(id, &call, outcome, Some(result), &[], now)];
                match passed {
                    Passed::AsReceived => Delivered::AsReceived(records),
                    Passed::Changed(changed) => Delivered::Changed(changed, records),
                }
            }
            Err(texts) => self.withhold_result(id, &call, texts, result, now),
        }
    }

    /// Returns the refusal of a result that is invalid.
    fn withhold_result(
        &mut self,
        id: u64,
        call: &OpenCall,
        texts: Vec<String>,
        result: &[u8],
        now: Clock,
    ) -> Delivered {
        let texts = texts.into_iter();
        let reasons = texts.map(|text| {
            let help = "Do without the result; its server must correct it.";
            CallReason::new(Code::OutputInvalid, text).help(help)
        });
        self.withhold(id, call, "withheld", reasons.collect(), Some(result), now)
    }

    /// Returns the result with which a client repeats a call that its server continues. For a client that knows no
    /// such result, the gateway repeats it.
    fn pass_state(
        &mut self,
        id: u64,
        call: &OpenCall,
        state: String,
        result: &[u8],
        now: Clock,
    ) -> Delivered {
        let is_repeated_here = call.generation == Generation::Sessions;
        let continued = Continued::Server(ServerState {
            state,
            approval: call.approved.clone(),
            repetition: call.repetition + u32::from(is_repeated_here),
        });
        let issued = match call.repetition < REPETITIONS_MAX {
            true => {
                let issued = self.request_state(call, &continued, now);
                issued.ok_or_else(|| "too many calls are to be repeated".to_owned())
            }
            false => Err(format!(
                "its server wants the call repeated more than {REPETITIONS_MAX} times"
            )),
        };
        let state = match issued {
            Ok(state) => state,
            Err(text) => {
                let reasons = vec![CallReason::new(Code::SessionLimit, text)];
                return self.withhold(id, call, "withheld", reasons, Some(result), now);
            }
        };
        let records = vec![self.effect(id, call, "input_required", Some(result), &[], now)];
        match is_repeated_here {
            true => Delivered::Repeat(state, records),
            false => Delivered::Changed(input_required(&state, |_| (), &self.redactor), records),
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
        if let Some(method) = call.method {
            return self.no_response(id, &call, method, how, now);
        }
        if call.approval.is_some() {
            let reasons = vec![CallReason::new(
                Code::ApprovalRequired,
                "nobody approved the call in time",
            )];
            return self.withhold(id, &call, "not_approved", reasons, None, now);
        }
        let (outcome, reason) = self.failure(how);
        self.withhold(id, &call, outcome, vec![reason], None, now)
    }

    /// Returns the outcome of a failure and its reason.
    pub(crate) fn failure(&self, how: &Failure) -> (&'static str, CallReason) {
        let (outcome, code, text) = match how {
            Failure::TooLarge => (
                "withheld",
                Code::OutputInvalid,
                format!(
                    "the result is larger than {} bytes",
                    self.settings.payload_max_bytes
                ),
            ),
            Failure::Unreadable => (
                "withheld",
                Code::OutputInvalid,
                "the server's answer can't be read".to_owned(),
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
        (outcome, CallReason::new(code, text))
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
}
