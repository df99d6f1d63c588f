//! May the one call of a plan be made, and what did it end with \[1\]?

use agent_decide::{CallContext, CallResult, CallVerdict, authorize_call, complete_call};
use agent_diagnostic::{Code, Diagnostic};
use agent_explain::{CheckRecord, call_checks, call_denials, call_problems};
use agent_lower::{digest, integrity};
use agent_model::CallPlan;
use agent_render::{StyledSpan, authorized_call, call_verdict, call_verdict_json, lock};

/// The answer to a one-call plan.
#[derive(Debug)]
pub struct CallAnswer<'a> {
    pub(crate) plan: &'a CallPlan,
    verdict: CallVerdict<'a>,
}

impl<'a> CallAnswer<'a> {
    /// Decides on a plan.
    pub fn new(plan: &'a CallPlan, context: CallContext<'a>) -> Self {
        let verdict = authorize_call(plan, context);
        Self { plan, verdict }
    }

    /// Returns the verdict.
    pub fn verdict(&self) -> &CallVerdict<'a> {
        &self.verdict
    }

    /// Returns an error for each denial, with its fixes.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        call_denials(self.plan, &self.verdict)
    }

    /// Returns the number of the check that each diagnostic fails.
    pub fn failed_checks(&self) -> Vec<usize> {
        let checks = self.verdict.checks().iter().enumerate();
        let failed = checks.flat_map(|(number, it)| it.denials.iter().map(move |_| number));
        failed.collect()
    }

    /// Returns the checks in words.
    pub fn checks(&self) -> Vec<CheckRecord> {
        call_checks(self.plan, &self.verdict)
    }

    /// Returns the verdict as JSON that ends with a newline.
    pub fn json(&self) -> String {
        call_verdict_json(&self.verdict)
    }

    /// Returns the verdict for people.
    pub fn text(&self) -> Vec<StyledSpan> {
        call_verdict(&self.verdict)
    }

    /// Returns the RFC 8785 form of the authorized call.
    pub fn authorized(&self) -> Option<String> {
        match &self.verdict {
            CallVerdict::Allowed(call) => Some(authorized_call(call)),
            _ => None,
        }
    }

    /// Returns the documents that an allowed call was decided against, with their digests.
    pub fn decided_against(&self) -> Vec<(&'static str, String)> {
        match &self.verdict {
            CallVerdict::Allowed(call) => vec![
                ("lock", digest(&lock(call.lock()))),
                ("entry of the index", integrity(call.server()).to_owned()),
                ("definition of the tool", call.definition().to_owned()),
            ],
            _ => Vec::new(),
        }
    }
}

/// Decides what a call ends with, by the payload that the tool returned and a summary of it.
pub fn complete(
    output_schema: Option<&str>,
    payload: Vec<u8>,
    summary: Option<Vec<u8>>,
) -> (CallResult, Vec<(Code, String)>) {
    let outcome = complete_call(output_schema, payload, summary);
    (outcome.result(), call_problems(&outcome))
}
