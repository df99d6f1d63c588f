//! Whether the one call of a plan may be made, as it is shown.

use super::{Session, shown};
use crate::convert;
use agent_engine::decide::{AuthorizedCall, CallContext, CallVerdict, authorize_call};
use agent_engine::explain::{self, CallCheck};
use agent_engine::model::{CallPlan, Name as _, Planned, PlannedCall};
use agent_engine::text::Span;
use agent_engine::{lower, render};
use agent_protocol::plans::{
    Against, Authorized, Check, Decision, Fact, Outcome, Problem, Step, Verdict,
};
use agent_protocol::{Diagnostic, Fix, Place, Source};

pub(super) fn decision(session: &Session) -> Decision {
    let found = [
        &session.call.problems,
        &session.lock.problems,
        &session.index.problems,
        &session.catalogue.problems,
    ];
    let found = found.map(Vec::as_slice).concat();
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
        Source::Plan => Source::Call,
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
    let authorized = match verdict {
        CallVerdict::Allowed(call) => Some(call),
        _ => None,
    };
    let checks = explain::call_checks(verdict).into_iter();
    Step {
        id: None,
        title: None,
        connector: call.server.value.as_str().to_owned(),
        tool: call.tool.value.as_str().to_owned(),
        driver: None,
        place: plan_place(plan, whole.unwrap_or_default()),
        input: Some(shown(call.args.of(plan.text.as_str()))),
        input_from: None,
        checks: checks
            .map(|(check, passed)| Check {
                name: check.name().to_owned(),
                outcome: match passed {
                    Some(true) => Outcome::Passed,
                    Some(false) => Outcome::Failed,
                    None => Outcome::NotMade,
                },
                facts: match (passed, authorized) {
                    (Some(true), Some(authorized)) => facts(plan, call, check, authorized),
                    (Some(true), None) => vec![said(check.passed())],
                    (Some(false), _) => Vec::new(),
                    (None, _) => vec![said(
                        "Another check was failed, without which this one has \
                                            nothing to look at.",
                    )],
                },
            })
            .collect(),
        obligations: authorized
            .filter(|call| call.needs_approval())
            .map(|_| vec!["approval".to_owned()])
            .unwrap_or_default(),
    }
}

fn plan_place(plan: &CallPlan, span: Span) -> Place {
    place(convert::place(&plan.text.place(span)))
}

fn said(text: impl Into<String>) -> Fact {
    Fact {
        text: text.into(),
        place: None,
    }
}

/// What holds of a call that may be made, and what shows it.
fn facts(
    plan: &CallPlan,
    call: &PlannedCall,
    check: CallCheck,
    authorized: &AuthorizedCall<'_>,
) -> Vec<Fact> {
    let server = authorized.server();
    let tool = server.tool(authorized.tool());
    let at_tool = tool.map(|tool| convert::place(&tool.place()));
    let shows = match check {
        CallCheck::Listed => vec![Fact {
            text: format!("`{}` of `{}`", authorized.tool(), server.id()),
            place: at_tool,
        }],
        CallCheck::Locked => vec![Fact {
            text: format!(
                "`{} {}`, {}",
                server.id(),
                server.version(),
                lower::integrity(server)
            ),
            place: Some(convert::place(&server.place())),
        }],
        CallCheck::Permitted => match authorized.lock().forbid.as_slice() {
            [] => vec![said("The lock has no labels.")],
            labels => {
                let labels = labels.iter().map(|label| format!("`{}`", label.as_str()));
                let labels: Vec<_> = labels.collect();
                vec![said(format!("It forbids {}.", labels.join(", ")))]
            }
        },
        CallCheck::ReadOnly => {
            let entry = tool.map(convert::tool_entry);
            let advertised = entry.into_iter().flat_map(|entry| entry.advertised);
            advertised
                .map(|words| Fact {
                    text: format!("`{words}`"),
                    place: at_tool,
                })
                .collect()
        }
        CallCheck::Unchanged => vec![said(authorized.definition())],
        CallCheck::Arguments => vec![Fact {
            text: format!("`{}`", shown(authorized.arguments())),
            place: Some(plan_place(plan, call.args)),
        }],
    };
    [vec![said(check.passed())], shows].concat()
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
