//! Whether the one call of a plan may be made, as it is shown.

use super::{Session, check, obligations, shown, split_fixes};
use crate::convert;
use agent_api::CallAnswer;
use agent_api::decide::{CallContext, CallVerdict};
use agent_api::lower;
use agent_api::model::{CallPlan, Name as _, Planned, PlannedCall};
use agent_api::text::Span;
use agent_protocol::plans::{Against, Authorized, Decision, Problem, Step, Verdict};
use agent_protocol::{Diagnostic, DocumentKind, Place};

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
    let answer = CallAnswer::new(plan, context);
    let steps = match &plan.planned {
        Planned::Call(call) => vec![step(plan, call, &answer)],
        Planned::NeedsMoreInfo { .. } => Vec::new(),
    };
    let against = answer.decided_against().into_iter();
    Decision {
        problems: problems(&answer),
        steps,
        authorized: answer.authorized().map(|json| Authorized {
            digest: lower::digest(&json),
            json: answer.json(),
        }),
        against: against
            .map(|(document, digest)| Against {
                document: document.to_owned(),
                name: None,
                digest,
            })
            .collect(),
        verdict: match answer.verdict() {
            CallVerdict::Allowed(_) => Verdict::Allowed,
            CallVerdict::NeedsMoreInfo(answer) => Verdict::Asks((*answer).to_owned()),
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

fn step(plan: &CallPlan, call: &PlannedCall, answer: &CallAnswer<'_>) -> Step {
    let spans = [call.server.span, call.tool.span, call.args];
    let whole = spans.into_iter().reduce(|a, b| Span {
        start: a.start.min(b.start),
        end: a.end.max(b.end),
    });
    let needs_approval = match answer.verdict() {
        CallVerdict::Allowed(call) => call.needs_approval(),
        _ => false,
    };
    let mut checks: Vec<_> = answer.checks().into_iter().map(check).collect();
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

fn problems(answer: &CallAnswer<'_>) -> Vec<Problem> {
    let found = answer.diagnostics().into_iter().zip(answer.failed_checks());
    let problems = found.filter_map(|(mut found, check)| {
        let (mut fixes, help) = split_fixes(&mut found);
        let edits = fixes.iter_mut().flat_map(|fix| &mut fix.edits).flatten();
        edits.for_each(|edit| edit.place = place(edit.place));
        Some(Problem {
            code: None,
            reason: Some(found.code.name().to_owned()),
            place: place(convert::place(found.place()?)),
            message: found.message,
            pointer: None,
            rule: None,
            also: Vec::new(),
            help,
            step: Some(0),
            check: u32::try_from(check).ok(),
            fixes,
        })
    });
    problems.collect()
}
