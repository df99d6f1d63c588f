//! What a policy decides about the result of a call \[4\].

use super::approval::AskedResult;
use super::basis::Server;
use super::calls::OpenCall;
use super::delivery::{Delivery, pass};
use super::history::{Given, Present, view};
use super::redacting::redact;
use super::session::Session;
use agent_api::decide::{PolicyError, ResultRuling};
use agent_api::diagnostic::Code;
use agent_api::explain::{CallReason, policy_error};
use agent_api::lower::{PolicyOccasion, live_context};
use agent_api::served::ResultAction;
use agent_api::text::visible;
use agent_record::Clock;

/// The fate of a result that is valid.
pub(crate) enum Ruled {
    /// The client gets it, without what is named. The codes say why it would not if the session did not only observe.
    Delivered(Delivery, Vec<String>, Vec<Code>),
    /// The client gets the reasons.
    Withheld(Vec<CallReason>),
}

impl Session {
    /// Decides about a result that is valid.
    pub(crate) fn ruled(
        &mut self,
        call: &OpenCall,
        delivery: Delivery,
        result: &[u8],
        now: Clock,
    ) -> Ruled {
        let text = core::str::from_utf8(result).unwrap_or_default();
        let Some(ruling) = self.ruling(call, text, now) else {
            return Ruled::Delivered(delivery, Vec::new(), Vec::new());
        };
        let observes = self.settings.observe;
        let changed = ruling.and_then(|ruling| match ruling.action {
            ResultAction::Allow => Ok(None),
            // A human approved the call whose result was asked about.
            ResultAction::Ask if call.approved.is_some() => Ok(None),
            ResultAction::Redact if observes => Ok(None),
            ResultAction::Redact => self.redacted(call, &ruling, text).map(Some),
            ResultAction::Ask => {
                if !observes {
                    self.ask_about(call);
                }
                let is_repeatable = call.tool().is_some_and(|it| it.served.is_repeatable());
                let help = match is_repeatable {
                    true => "Call again: a human is then asked.",
                    false => "The call had its effect. Call again only if it may have it twice: a human is then asked.",
                };
                let otherwise = "a human must approve the result";
                Err(reason(&ruling, Code::ApprovalRequired, otherwise).help(help))
            }
            ResultAction::Withhold => {
                let otherwise = "the policy withholds the result";
                Err(reason(&ruling, Code::PolicyDenied, otherwise))
            }
        });
        match changed {
            Ok(Some((delivery, what))) => Ruled::Delivered(delivery, what, Vec::new()),
            Ok(None) => Ruled::Delivered(delivery, Vec::new(), Vec::new()),
            Err(reason) if observes => Ruled::Delivered(delivery, Vec::new(), vec![reason.code]),
            Err(reason) => Ruled::Withheld(vec![reason]),
        }
    }

    /// Notes that a human is asked before the call is made again.
    fn ask_about(&mut self, call: &OpenCall) {
        if let Some(tool) = call.tool_key() {
            self.state.approvals.ask_result(AskedResult {
                client: call.client.clone(),
                tool,
                arguments: call.arguments.clone(),
            });
        }
    }

    /// Returns the result without what a policy redacts, and what that is. It must still be one that the output schema
    /// allows.
    fn redacted(
        &self,
        call: &OpenCall,
        ruling: &ResultRuling,
        text: &str,
    ) -> Result<(Delivery, Vec<String>), CallReason> {
        let withheld = |text: String| {
            let text = format!("what the policy redacts can't be taken out: {text}");
            CallReason::new(Code::PolicyError, text)
        };
        let redacted = redact(text, &ruling.pointers, &ruling.patterns).map_err(withheld)?;
        let max_bytes = self.settings.payload_max_bytes;
        let bytes = redacted.result.as_bytes();
        let passed = pass(call, bytes, max_bytes, &self.redactor);
        let delivery = passed.map_err(|texts| withheld(texts.join("; ")))?;
        Ok((delivery, redacted.what))
    }

    /// Asks the policy about a result. `None` if it decides about none.
    fn ruling(
        &self,
        call: &OpenCall,
        result: &str,
        now: Clock,
    ) -> Option<Result<ResultRuling, CallReason>> {
        let tool = call.tool()?;
        let context = call.basis.evaluation_context.context.as_deref();
        let context = live_context(context, &now.local_time());
        let history = &self.state.history;
        let known = self.basis.remembered.as_ref();
        let known = known.filter(|it| it.policy.reads && history.missing.is_none());
        let past = known.map(|known| {
            let Server { id, version, .. } = &call.basis.servers[call.server];
            let present = Present {
                traits: &known.traits_of((id, version, tool.own_name())),
                given: &Given::default(),
                session: None,
                now_ms: now.unix_ms,
                window_ms: known.terms.window_ms,
            };
            let scope = history.of(&history.key(&call.client));
            view(scope, present, known.policy.reads_calls)
        });
        let occasion = PolicyOccasion {
            context: Some(&context),
            history: past.as_ref(),
            result: Some(result),
            ..PolicyOccasion::default()
        };
        let ruling = tool.served.rule_result(occasion)?;
        Some(ruling.map_err(|error| error_of(&error)))
    }
}

/// Returns the reason that a policy gives, or another one.
fn reason(ruling: &ResultRuling, code: Code, otherwise: &str) -> CallReason {
    let text = ruling.reason.as_deref().map(visible);
    CallReason::new(code, text.as_deref().unwrap_or(otherwise))
}

fn error_of(error: &PolicyError) -> CallReason {
    let what = policy_error(error.kind).replace("`allowed_tools`", "`results`");
    let text = format!(
        "the policy did not decide about the result: {what}: {}",
        error.detail
    );
    CallReason::new(Code::PolicyError, text)
}
