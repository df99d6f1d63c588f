//! The results of forwarded requests for resources and prompts.

use super::audit::Record;
use super::calling::INVALID_PARAMS;
use super::calls::OpenCall;
use super::contents::pass;
use super::delivery::Passed;
use super::effects::invalid;
use super::messages::{CallAction, Delivered, Failure};
use super::method::Method;
use super::refusal::Refusal;
use super::requesting::{RESOURCE_NOT_FOUND, error, not_found, quoted};
use super::session::Session;
use agent_record::Clock;

impl Session {
    /// Decides what a client gets of a server's result.
    pub(crate) fn response(
        &mut self,
        id: u64,
        call: &OpenCall,
        method: Method,
        result: &[u8],
        now: Clock,
    ) -> Delivered {
        let max_bytes = self.settings.payload_max_bytes;
        match pass(call, method, result, max_bytes, &self.redactor) {
            Ok(passed) => {
                let records = vec![self.effect(id, call, "delivered", Some(result), &[], now)];
                match passed {
                    Passed::AsReceived => Delivered::AsReceived(records),
                    Passed::Changed(changed) => Delivered::Changed(changed, records),
                }
            }
            Err(texts) => {
                let what = format!("The result of `{}`", method.name());
                let refusal = Refusal::new(what, invalid(texts));
                let codes = refusal.codes();
                let record = self.effect(id, call, "withheld", Some(result), &codes, now);
                failed(error(&refusal, &self.redactor), vec![record])
            }
        }
    }

    /// Decides what a client gets of a request without a result. It was not cancelled.
    pub(crate) fn no_response(
        &mut self,
        id: u64,
        call: &OpenCall,
        method: Method,
        how: &Failure,
        now: Clock,
    ) -> Delivered {
        let (outcome, reason) = self.failure(how);
        let action = match (how, method) {
            (
                Failure::ServerError {
                    code: RESOURCE_NOT_FOUND | INVALID_PARAMS,
                    ..
                },
                Method::ReadResource,
            ) => {
                let uri = call.uri.as_deref().unwrap_or_default();
                let uri = self.redactor.text(uri);
                not_found(
                    call.generation,
                    &uri,
                    "the server does not have the resource",
                )
            }
            (
                Failure::ServerError {
                    code: INVALID_PARAMS,
                    message,
                    ..
                },
                _,
            ) => CallAction::Error {
                code: INVALID_PARAMS,
                message: self.redactor.text(&quoted(message)),
                data: None,
            },
            _ => {
                let what = format!("The request `{}`", method.name());
                error(&Refusal::new(what, vec![reason.clone()]), &self.redactor)
            }
        };
        let record = self.effect(id, call, outcome, None, &[reason.code], now);
        failed(action, vec![record])
    }
}

fn failed(action: CallAction, records: Vec<Record>) -> Delivered {
    match action {
        CallAction::Error {
            code,
            message,
            data,
        } => Delivered::Error {
            code,
            message,
            data,
            records,
        },
        _ => Delivered::Nothing(records),
    }
}
