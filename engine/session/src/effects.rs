//! The results of forwarded calls.

use super::calling::what;
use super::calls::OpenCall;
use super::client::Generation;
use super::continuation::{Continued, ServerState};
use super::delivery::{continues, pass};
use super::limits::{CALL_TIMEOUT_MS, QUOTE_MAX_CHARS, REPETITIONS_MAX};
use super::messages::{Delivered, Failure};
use super::records::Passing;
use super::refusal::{EFFECT_KEY, Effect, Refusal, input_required};
use super::ruling::Ruled;
use super::session::Session;
use agent_api::diagnostic::Code;
use agent_api::explain::CallReason;
use agent_api::text::visible;
use agent_record::Clock;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{boolean, member};

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
        let delivery = match pass(&call, result, max_bytes, &self.redactor) {
            Ok(delivery) => delivery,
            Err(texts) => return self.withhold_result(id, &call, texts, result, now),
        };
        match self.ruled(&call, delivery, result, now) {
            Ruled::Delivered(delivery, redacted, codes) => {
                let how = Passing {
                    outcome: match delivery.is_error {
                        true => "tool_error",
                        false => "delivered",
                    },
                    removed: delivery.removed,
                    redacted: &redacted,
                    codes: &codes,
                };
                let record = self.effect_of(id, &call, how, Some(result), now);
                Delivered::Changed(delivery.result, vec![record])
            }
            Ruled::Withheld(reasons) => {
                let sent = Sent::of(result);
                self.withhold(id, &call, "withheld", reasons, sent, now)
            }
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
        let sent = Sent::of(result);
        self.withhold(id, call, "withheld", invalid(texts), sent, now)
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
                return self.withhold(id, call, "withheld", reasons, Sent::of(result), now);
            }
        };
        let records = vec![self.effect(id, call, "input_required", Some(result), &[], now)];
        match is_repeated_here {
            true => Delivered::Repeat(state, records),
            false => {
                let meta = |w: &mut Writer| {
                    w.key("_meta")
                        .object(|w| w.key(EFFECT_KEY).string(Effect::Unknown.name()));
                };
                Delivered::Changed(input_required(&state, meta, &self.redactor), records)
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
        if let Some(method) = call.method {
            return self.no_response(id, &call, method, how, now);
        }
        if call.approval.is_some() {
            let reasons = vec![CallReason::new(
                Code::ApprovalRequired,
                "nobody approved the call in time",
            )];
            let sent = Sent {
                effect: Effect::None,
                error: None,
                result: None,
            };
            return self.withhold(id, &call, "not_approved", reasons, sent, now);
        }
        let (outcome, reason) = self.failure(how);
        // It was sent: only what may be made twice is to be repeated.
        let reason = match (reason.code, call.tool()) {
            (Code::ServerFailed, Some(tool)) if tool.served.is_repeatable() => {
                reason.help("Check the server with `agent status`; the call is safe to repeat.")
            }
            (Code::ServerFailed, _) => reason.help(
                "The call may have had its effect: find out whether it did before you call again.",
            ),
            _ => reason,
        };
        let error = match how {
            Failure::ServerError {
                code,
                message,
                data,
            } => Some(error_json(*code, message, data.as_deref())),
            _ => None,
        };
        let sent = Sent {
            effect: Effect::Unknown,
            error,
            result: None,
        };
        self.withhold(id, &call, outcome, vec![reason], sent, now)
    }

    /// Returns the outcome of a failure and its reason.
    pub(crate) fn failure(&self, how: &Failure) -> (&'static str, CallReason) {
        let late = |ms: u64, after: &str| {
            let text = format!("the server did not answer within {ms} ms{after}");
            ("timed_out", Code::ServerFailed, text)
        };
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
            Failure::TimedOut => late(CALL_TIMEOUT_MS, ""),
            Failure::Late {
                limit_ms,
                since_progress: false,
            } => late(*limit_ms, ""),
            Failure::Late {
                limit_ms,
                since_progress: true,
            } => late(*limit_ms, " after its last report of progress"),
            Failure::ServerError { code, message, .. } => {
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
        sent: Sent<'_>,
        now: Clock,
    ) -> Delivered {
        let result = sent.result;
        let refusal = Refusal {
            approval: call.approval.clone(),
            ..withheld(call.tool().map(|tool| tool.name()), reasons, sent)
        };
        let codes = refusal.codes();
        let record = self.effect(id, call, outcome, result, &codes, now);
        let bytes = refusal.result(call.generation, &self.redactor);
        Delivered::Refused(bytes, vec![record])
    }
}

/// Returns the refusal in place of the result of a tool.
pub(crate) fn withheld(tool: Option<&str>, reasons: Vec<CallReason>, sent: Sent<'_>) -> Refusal {
    let call_of = tool.map_or_else(|| "The call".to_owned(), what);
    let what = match (sent.result, tool, sent.effect) {
        (Some(_), Some(name), _) => format!("The result of `{}` is withheld", visible(name)),
        (Some(_), None, _) => "The result is withheld".to_owned(),
        (None, _, Effect::None) => call_of,
        (None, _, _) if sent.error.is_some() => {
            format!("{call_of} was sent, and its server answered with an error")
        }
        (None, _, _) => format!("{call_of} was sent, and has no result"),
    };
    Refusal {
        effect: sent.effect,
        error: sent.error,
        ..Refusal::new(what, reasons)
    }
}

/// Returns the reasons against a result that is invalid.
pub(crate) fn invalid(texts: Vec<String>) -> Vec<CallReason> {
    let help = "Do without the result; its server must correct it.";
    let texts = texts.into_iter();
    let reasons = texts.map(|text| CallReason::new(Code::OutputInvalid, text).help(help));
    reasons.collect()
}

/// The fate of a call whose result no client gets.
pub(crate) struct Sent<'r> {
    effect: Effect,
    error: Option<String>,
    result: Option<&'r [u8]>,
}

impl<'r> Sent<'r> {
    /// What came with a result.
    pub(crate) fn of(result: &'r [u8]) -> Self {
        let root = core::str::from_utf8(result).ok().and_then(parse_strict);
        let is_done = root.is_some_and(|root| {
            let is_result = member(&root, "content").is_some();
            let is_error = member(&root, "isError");
            let is_error = is_error.is_some_and(|it| boolean(it) != Some(false));
            is_result && !is_error
        });
        Self {
            effect: if is_done {
                Effect::Done
            } else {
                Effect::Unknown
            },
            error: None,
            result: Some(result),
        }
    }
}

/// Returns an error of JSON-RPC as it came.
fn error_json(code: i64, message: &str, data: Option<&[u8]>) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("code").json(&code.to_string());
        let data = data.and_then(|data| core::str::from_utf8(data).ok());
        if let Some(data) = data.filter(|data| parse_strict(data).is_some()) {
            w.key("data").json(data);
        }
        w.key("message").string(message);
    });
    w.finish().trim_end().to_owned()
}
