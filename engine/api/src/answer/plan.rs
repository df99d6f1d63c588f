//! The answer to a plan of several steps.

use super::shown;
use super::step::{check, obligations};
use crate::PlanAnswer;
use agent_answer::{
    Authorized, DecidedAgainst, InputFrom, PlanDecision, PlanProblem, PlanVerdict, Step,
};
use agent_lower::digest;
use agent_model::{Input, PlanStep};

impl PlanAnswer<'_> {
    /// Returns the answer as data.
    pub fn data(&self) -> PlanDecision {
        let checks = self.steps();
        let found = self.diagnostics().into_iter().zip(self.failed_checks());
        let problems = found.map(|(mut diagnostic, failed)| {
            diagnostic.step = diagnostic.step.filter(|step| *step < checks.len());
            let of_step = diagnostic.step.and_then(|step| checks.get(step));
            let at = of_step.and_then(|it| it.iter().position(|(check, _)| Some(*check) == failed));
            PlanProblem {
                diagnostic,
                check: at.map(|at| at as u32),
            }
        });
        let problems = problems.collect();
        let plan = self.documents.plan.value.as_ref();
        let steps = plan.into_iter().flat_map(|plan| &plan.steps);
        let steps = steps
            .zip(checks)
            .enumerate()
            .map(|(number, (step, checks))| Step {
                checks: checks.into_iter().map(|(_, it)| check(it)).collect(),
                obligations: obligations(self.decision().approvals.contains(&number)),
                ..self.step(step)
            });
        let against = self.decided_against().into_iter();
        PlanDecision {
            verdict: match self.decision().authorized {
                Some(_) => PlanVerdict::Allowed,
                None => PlanVerdict::Denied,
            },
            plan: plan.and_then(|plan| Some(plan.id.as_ref()?.value.clone())),
            diagnostics: self.warnings(),
            problems,
            steps: steps.collect(),
            authorized: self.authorized().map(|json| Authorized {
                digest: digest(&json),
                json,
            }),
            against: against
                .map(|(document, name, digest)| DecidedAgainst {
                    document: document.to_owned(),
                    name,
                    digest,
                })
                .collect(),
            report: Some(self.report()),
        }
    }

    /// Returns a step without its checks.
    fn step(&self, step: &PlanStep) -> Step {
        let text = self.documents.plan.text.as_str();
        let place = |span| self.documents.plan.text.place(span);
        let pool = self.documents.rules.pool.value.as_ref();
        let binding = pool.and_then(|pool| pool.binding(&step.connector.value, &step.tool.value));
        let (input, input_from) = match &step.input {
            Input::Literal(span) => (Some(shown(span.of(text))), None),
            Input::From {
                step,
                pointer,
                span,
            } => {
                let plan = self.documents.plan.value.as_ref();
                let from = plan.and_then(|plan| plan.steps.get(*step));
                let from = InputFrom {
                    step: u32::try_from(*step).ok(),
                    id: from.map_or_else(String::new, |from| from.id.value.clone()),
                    pointer: pointer.value.clone(),
                    place: place(*span),
                };
                (None, Some(from))
            }
            Input::Refused => (None, None),
        };
        Step {
            id: (!step.id.value.is_empty()).then(|| step.id.value.clone()),
            title: step.title.as_deref().map(shown),
            connector: step.connector.value.clone(),
            tool: step.tool.value.clone(),
            driver: binding.map(|binding| binding.driver.kind().name().to_owned()),
            place: place(step.span),
            input,
            input_from,
            checks: Vec::new(),
            obligations: Vec::new(),
        }
    }
}
