//! Whether a plan of several steps may run, as it is shown.

use super::{Session, check, obligations, shown, split_fixes};
use crate::convert;
use agent_api::PlanAnswer;
use agent_api::decide::PlanContext;
use agent_api::diagnostic::Diagnostic;
use agent_api::lower::{self, Validated};
use agent_api::model::{Input, Plan, PlanStep};
use agent_protocol::plans::{Against, Authorized, Decision, InputFrom, Problem, Step, Verdict};

pub(super) fn decision(session: &Session) -> Decision {
    let found = [
        &session.lock.problems,
        &session.index.problems,
        &session.catalogue.problems,
    ];
    let undecided = Decision {
        diagnostics: convert::diagnostics(found.map(Vec::as_slice).concat()),
        ..Decision::default()
    };
    let refused = session.lock.refused() || session.index.refused() || session.catalogue.refused();
    let (Some(plan), Some(rules)) = (&session.plan, &session.rules) else {
        return undecided;
    };
    if refused {
        return undecided;
    }
    let context = PlanContext {
        request: session.request.as_ref(),
        index: session.index.value.as_deref(),
        lock: session.lock.value.as_deref(),
        catalogue: session.catalogue.value.as_deref(),
    };
    let answer = PlanAnswer::new(plan, rules, context);
    let checks = answer.steps();
    let found = answer.diagnostics().into_iter().zip(answer.failed_checks());
    let problems = found.filter_map(|(found, failed)| {
        let of_step = found.step.and_then(|step| checks.get(step));
        let at = of_step.and_then(|it| it.iter().position(|(check, _)| Some(*check) == failed));
        problem(found, of_step.is_some(), at)
    });
    let problems = problems.collect();
    let decision = answer.decision();
    let steps = plan.value.iter().flat_map(|plan| &plan.steps);
    let steps = steps.zip(checks).enumerate();
    Decision {
        verdict: match decision.authorized {
            Some(_) => Verdict::Allowed,
            None => Verdict::Denied,
        },
        plan: plan.value.as_ref().map(|plan| plan.id.value.clone()),
        problems,
        steps: steps
            .map(|(number, (step, checks))| Step {
                checks: checks
                    .into_iter()
                    .map(|(_, checked)| check(checked))
                    .collect(),
                obligations: obligations(decision.approvals.contains(&number)),
                ..self::step(session, plan, step)
            })
            .collect(),
        authorized: answer.authorized().map(|json| Authorized {
            digest: lower::digest(&json),
            json,
        }),
        against: answer
            .decided_against()
            .into_iter()
            .map(|(document, name, digest)| Against {
                document: document.to_owned(),
                name,
                digest,
            })
            .collect(),
        report: Some(answer.report()),
        ..undecided
    }
}

/// A step without what was decided of it.
fn step(session: &Session, plan: &Validated<Plan>, step: &PlanStep) -> Step {
    let text = plan.text.as_str();
    let place = |span| convert::place(&plan.text.place(span));
    let pool = session
        .rules
        .as_ref()
        .and_then(|rules| rules.pool.value.as_ref());
    let binding = pool.and_then(|pool| pool.binding(&step.connector.value, &step.tool.value));
    let (input, input_from) = match &step.input {
        Input::Literal(span) => (Some(shown(span.of(text))), None),
        Input::From {
            step,
            pointer,
            span,
        } => {
            let from = plan.value.as_ref().and_then(|plan| plan.steps.get(*step));
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
        id: Some(step.id.value.clone()),
        title: step.title.as_deref().map(shown),
        connector: step.connector.value.clone(),
        tool: step.tool.value.clone(),
        driver: binding.map(|binding| binding.driver.kind().to_owned()),
        place: place(step.span),
        input,
        input_from,
        checks: Vec::new(),
        obligations: Vec::new(),
    }
}

fn problem(mut found: Diagnostic, of_step: bool, check: Option<usize>) -> Option<Problem> {
    let number = |number: Option<usize>| number.and_then(|it| u32::try_from(it).ok());
    let (fixes, help) = split_fixes(&mut found);
    let mut labels = found
        .labels
        .iter()
        .map(|label| convert::place(&label.place));
    Some(Problem {
        code: Some(found.code.name().to_owned()),
        reason: found.reason.map(|code| code.name().to_owned()),
        place: labels.next()?,
        pointer: Some(found.pointer().to_owned()),
        rule: found.rule.clone(),
        step: number(found.step.filter(|_| of_step)),
        check: number(check),
        also: convert::labels(found.labels.into_iter().skip(1)),
        message: found.message,
        help,
        fixes,
    })
}
