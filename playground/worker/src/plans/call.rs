//! Whether the one call of a plan may be made, as it is shown.

use super::{Session, check, obligations, shown};
use crate::convert;
use agent_api::decide::{AuthorizedCall, CallContext, CallVerdict, authorize_call};
use agent_api::explain::{self, CallCheck};
use agent_api::model::{CallPlan, Name as _, Planned, PlannedCall};
use agent_api::text::Span;
use agent_api::{lower, render};
use agent_protocol::plans::{Against, Authorized, Decision, Problem, Step, Verdict};
use agent_protocol::{Diagnostic, DocumentKind, Fix, Place};

pub(super) fn decision(session: &Session) -> Decision {
    let mut found = [
        &session.call.problems,
        &session.lock.problems,
        &session.index.problems,
        &session.catalogue.problems,
    ]
    .map(Vec::as_slice)
    .concat();
    if session.index.value.is_none() && !session.index.refused() {
        // There has to be one.
        found.extend(lower::index(Vec::new()).err().into_iter().flatten());
    }
    let undecided = Decision {
        diagnostics: convert::diagnostics(found)
            .into_iter()
            .map(of_call)
            .collect(),
        ..Decision::default()
    };
    let (Some(plan), Some(index)) = (&session.call.value, &session.index.value) else {
        return undecided;
    };
    if session.lock.refused() || session.catalogue.refused() {
        return undecided;
    }
    let context = CallContext {
        index,
        lock: session.lock.value.as_deref(),
        catalogue: session.catalogue.value.as_deref(),
    };
    let verdict = authorize_call(plan, context);
    let steps = match &plan.planned {
        Planned::Call(call) => vec![step(plan, call, &verdict)],
        Planned::NeedsMoreInfo { .. } => Vec::new(),
    };
    let authorized = match &verdict {
        CallVerdict::Allowed(call) => Some(call),
        _ => None,
    };
    Decision {
        problems: problems(plan, &verdict),
        steps,
        authorized: authorized.map(|call| Authorized {
            digest: lower::digest(&render::authorized_call(call)),
            json: render::call_verdict_json(&verdict),
        }),
        against: authorized.map(against).unwrap_or_default(),
        verdict: match verdict {
            CallVerdict::Allowed(_) => Verdict::Allowed,
            CallVerdict::NeedsMoreInfo(answer) => Verdict::Asks(answer.to_owned()),
            CallVerdict::Denied(_) => Verdict::Denied,
        },
        ..undecided
    }
}

/// A place of the plan as one in the text of this kind of plan.
fn place(place: Place) -> Place {
    let source = match place.source {
        DocumentKind::Plan => DocumentKind::Call,
        other => other,
    };
    Place { source, ..place }
}

fn of_call(mut found: Diagnostic) -> Diagnostic {
    for label in &mut found.labels {
        label.place = place(label.place);
    }
    found
}

fn step(plan: &CallPlan, call: &PlannedCall, verdict: &CallVerdict<'_>) -> Step {
    let spans = [call.server.span, call.tool.span, call.args];
    let whole = spans.into_iter().reduce(|a, b| Span {
        start: a.start.min(b.start),
        end: a.end.max(b.end),
    });
    let needs_approval = match verdict {
        CallVerdict::Allowed(call) => call.needs_approval(),
        _ => false,
    };
    let mut checks: Vec<_> = explain::call_checks(plan, verdict)
        .into_iter()
        .map(check)
        .collect();
    for fact in checks.iter_mut().flat_map(|check| &mut check.facts) {
        fact.place = fact.place.map(place);
    }
    Step {
        id: None,
        title: None,
        connector: call.server.value.as_str().to_owned(),
        tool: call.tool.value.as_str().to_owned(),
        driver: None,
        place: place(convert::place(&plan.text.place(whole.unwrap_or_default()))),
        input: Some(shown(call.args.of(plan.text.as_str()))),
        input_from: None,
        checks,
        obligations: obligations(needs_approval),
    }
}

fn problems(plan: &CallPlan, verdict: &CallVerdict<'_>) -> Vec<Problem> {
    let CallVerdict::Denied(denials) = verdict else {
        return Vec::new();
    };
    let found = explain::call_denials(plan, verdict);
    let found = convert::diagnostics(found).into_iter().map(of_call);
    let denials = denials.as_slice().iter().zip(found);
    denials
        .filter_map(|(denial, found)| {
            let fixes = explain::call_fixes(plan, denial).into_iter();
            Some(Problem {
                code: None,
                reason: Some(found.code),
                message: found.message,
                place: found.labels.first()?.place,
                pointer: None,
                rule: None,
                also: Vec::new(),
                help: found.help,
                step: Some(0),
                check: Some(CallCheck::of(denial) as u32),
                fixes: fixes
                    .map(|fix| Fix {
                        text: fix.text,
                        widening: false,
                        edits: Some(fix.edits.into_iter().map(edit).collect()),
                    })
                    .collect(),
            })
        })
        .collect()
}

fn edit(edit: explain::Edit) -> agent_protocol::Edit {
    let edit = convert::edit(edit);
    agent_protocol::Edit {
        place: place(edit.place),
        ..edit
    }
}

fn against(call: &AuthorizedCall<'_>) -> Vec<Against> {
    let documents = [
        ("lock", lower::digest(&render::lock(call.lock()))),
        ("entry of the index", lower::integrity(call.server())),
        ("definition of the tool", call.definition().to_owned()),
    ];
    documents
        .map(|(document, digest)| Against {
            document: document.to_owned(),
            name: None,
            digest,
        })
        .into()
}
