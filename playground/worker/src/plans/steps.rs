//! Whether a plan of several steps may run, as it is shown.

use super::{Session, check, obligations, shown};
use crate::convert;
use agent_api::decide::{PlanContext, authorize_plan};
use agent_api::diagnostic::{Finding, Fix};
use agent_api::explain::{self, StepCheck};
use agent_api::lower::Examined;
use agent_api::model::{Input, Plan, PlanStep};
use agent_api::syntax::Value;
use agent_api::syntax::json::{Reader, parse_value};
use agent_api::{lower, render};
use agent_protocol as shown_as;
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
    let answer = authorize_plan(plan, rules, context);
    let mut findings = explain::plan_findings(plan, rules, context, &answer);
    let fixes = explain::plan_fixes(plan, rules, context, &answer, &findings);
    let checks = explain::plan_checks(plan, rules, context, &answer, &findings);
    let report = render::PlanReport {
        plan,
        rules,
        context,
        answer: &answer,
        findings: &findings,
        fixes: &fixes,
    };
    let (json, against) = (render::validation_report(&report), report.decided_against());
    explain::tell_fixes(&mut findings, &fixes);
    let problems = findings.into_iter().zip(&fixes).filter_map(|(found, fix)| {
        let step = found.step.filter(|step| *step < checks.len());
        let of_step = step.map(|step| &checks[step]);
        let failed = StepCheck::of(&answer, &found);
        let at = of_step.and_then(|it| it.iter().position(|(check, _)| Some(*check) == failed));
        let edits = fix
            .as_ref()
            .map(|fix| explain::fix_edits(&plan.text, rules, fix));
        problem(found, (step, at), fix.as_ref().zip(edits))
    });
    let problems = problems.collect();
    let steps = plan.value.iter().flat_map(|plan| &plan.steps);
    let steps = steps.zip(checks).enumerate();
    Decision {
        verdict: match answer.authorized {
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
                obligations: obligations(answer.approvals.contains(&number)),
                ..self::step(session, plan, step)
            })
            .collect(),
        authorized: answer.authorized.as_ref().map(|authorized| {
            let json = render::authorized_plan(authorized);
            Authorized {
                digest: lower::digest(&json),
                json,
            }
        }),
        against: against
            .into_iter()
            .map(|(document, name, digest)| Against {
                document: document.to_owned(),
                name,
                digest,
            })
            .collect(),
        report: Some(json),
        ..undecided
    }
}

/// A step without what was decided of it.
fn step(session: &Session, plan: &Examined<Plan>, step: &PlanStep) -> Step {
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
        title: title(step.span.of(text)),
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

/// What a step is called for people; nothing is decided by it.
fn title(step: &str) -> Option<String> {
    let root = parse_value(&mut Reader::new(step)).ok()?;
    let Value::Mapping(entries) = root.value else {
        return None;
    };
    let mut entries = entries.into_iter();
    match entries.find(|entry| entry.key == "title")?.value.value {
        Value::String(title) => Some(shown(&title)),
        _ => None,
    }
}

fn problem(
    found: Finding,
    (step, check): (Option<usize>, Option<usize>),
    fix: Option<(&Fix, Vec<explain::Edit>)>,
) -> Option<Problem> {
    let number = |number: Option<usize>| number.and_then(|it| u32::try_from(it).ok());
    let mut told = convert::diagnostics(vec![found.diagnostic]).pop()?;
    // What is shown by itself.
    let rule = format!("the rule is: {}", found.rule);
    let reason = found.reason.map(|code| code.name());
    let exactly = reason.map(|name| format!("more exactly, it is {name}"));
    told.help
        .retain(|help| *help != rule && Some(help) != exactly.as_ref());
    if fix.is_some() {
        told.help.pop();
    }
    let mut labels = told.labels.into_iter();
    Some(Problem {
        code: Some(told.code),
        reason: reason.map(str::to_owned),
        message: told.message,
        place: labels.next()?.place,
        pointer: Some(found.pointer),
        rule: Some(found.rule),
        also: labels.collect(),
        help: told.help,
        step: number(step),
        check: number(check),
        fixes: fix
            .map(|(fix, edits)| shown_as::Fix {
                text: explain::fix_words(fix),
                widening: fix.widens(),
                edits: Some(edits.into_iter().map(convert::edit).collect()),
            })
            .into_iter()
            .collect(),
    })
}
