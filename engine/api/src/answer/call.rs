//! The answer to a one-call plan.

use super::shown;
use super::step::{check, obligations};
use crate::CallAnswer;
use agent_answer::{Authorized, DecidedAgainst, PlanDecision, PlanProblem, PlanVerdict, Step};
use agent_decide::CallVerdict;
use agent_lower::digest;
use agent_model::{Name as _, Planned, PlannedCall};
use agent_text::Span;

impl CallAnswer<'_> {
    /// Returns the answer as data. The call is its one step.
    pub fn data(&self) -> PlanDecision {
        let found = self.diagnostics().into_iter().zip(self.failed_checks());
        let problems = found.map(|(mut diagnostic, check)| {
            diagnostic.step = Some(0);
            PlanProblem {
                diagnostic,
                check: Some(check as u32),
            }
        });
        let against = self.decided_against().into_iter();
        PlanDecision {
            verdict: match self.verdict() {
                CallVerdict::Allowed(_) => PlanVerdict::Allowed,
                CallVerdict::NeedsMoreInfo(answer) => {
                    PlanVerdict::NeedsMoreInfo((*answer).to_owned())
                }
                CallVerdict::Denied(_) => PlanVerdict::Denied,
            },
            plan: None,
            diagnostics: Vec::new(),
            problems: problems.collect(),
            steps: match &self.plan.planned {
                Planned::Call(call) => vec![self.step(call)],
                Planned::NeedsMoreInfo { .. } => Vec::new(),
            },
            authorized: self.authorized().map(|json| Authorized {
                digest: digest(&json),
                json: self.json(),
            }),
            against: against
                .map(|(document, digest)| DecidedAgainst {
                    document: document.to_owned(),
                    name: None,
                    digest,
                })
                .collect(),
            report: None,
        }
    }

    fn step(&self, call: &PlannedCall) -> Step {
        let spans = [call.server.span, call.tool.span, call.args];
        let whole = spans.into_iter().reduce(|a, b| Span {
            start: a.start.min(b.start),
            end: a.end.max(b.end),
        });
        let needs_approval = match self.verdict() {
            CallVerdict::Allowed(call) => call.needs_approval(),
            _ => false,
        };
        Step {
            id: None,
            title: None,
            connector: call.server.value.as_str().to_owned(),
            tool: call.tool.value.as_str().to_owned(),
            driver: None,
            place: self.plan.text.place(whole.unwrap_or_default()),
            input: Some(shown(call.args.of(self.plan.text.as_str()))),
            input_from: None,
            checks: self.checks().into_iter().map(check).collect(),
            obligations: obligations(needs_approval),
        }
    }
}
