//! The answer to a plan.

use crate::flow::{flow, problem};
use crate::run::RunArea;
use crate::state::{Page, Plans};
use agent_answer::{DecidedAgainst, PlanDecision, PlanVerdict, StepOutcome};
use agent_ui::answer::{Sign, headline, status};
use agent_ui::editor::Viewer;
use agent_ui::page::use_page;
use agent_ui::problems::{ApplyAll, Problems};
use agent_ui::words::count;
use agent_worker_protocol::plans::RequestKind;
use std::rc::Rc;
use yew::prelude::*;

/// The decision on a plan, with every reason for and against it.
#[component]
pub(crate) fn DecisionView() -> Html {
    let page = use_page::<Plans>();
    let decision = page.content().decision();
    let status = status(&page, decision.is_some());
    let Some(decision) = decision else {
        return status;
    };
    let problems = decision.problems.iter();
    let of_documents = problems.filter(|it| it.diagnostic.step.is_none());
    let of_documents: Vec<_> = of_documents.map(problem).collect();
    let diagnostics: Rc<[_]> = decision.diagnostics.clone().into();
    let all = decision.problems.iter().map(|it| &it.diagnostic);
    let all = diagnostics.iter().chain(all);
    let problems: Rc<[_]> = all.map(|it| it.fixes.clone()).collect();
    let authorized = decision.authorized.as_ref().map(|it| {
        let summary = html! { <>{ "Authorised plan: " }<code>{ &it.digest }</code></> };
        file(&page, summary, "the authorised plan", &it.json)
    });
    let report = decision.report.as_ref().map(|it| {
        file(
            &page,
            html! { "Validation report" },
            "the validation report",
            it,
        )
    });
    html! {
        <>
            { status }
            { summary(page.content().kind, decision) }
            <ApplyAll {problems} />
            <Problems {diagnostics} />
            if !of_documents.is_empty() {
                <section class="documents" aria-label="Problems of documents">
                    <h3 class="visually-hidden">{ "Problems of documents" }</h3>
                    { for of_documents }
                </section>
            }
            if let PlanVerdict::NeedsMoreInfo(question) = &decision.verdict {
                <blockquote class="asks"><bdi>{ question }</bdi></blockquote>
            }
            if !decision.steps.is_empty() { { flow(&page, decision) } }
            { authorized }
            { report }
            { documents(&decision.against) }
            if page.content().kind == RequestKind::Plan { <RunArea /> }
        </>
    }
}

/// Returns the verdict, whose words are the headline.
pub(crate) fn verdict(kind: RequestKind, decision: &PlanDecision) -> Sign {
    let is_call = kind == RequestKind::Call;
    match &decision.verdict {
        PlanVerdict::Allowed if is_call => Sign::yes("The call may be made"),
        PlanVerdict::Denied if is_call => Sign::no("The call may not be made"),
        PlanVerdict::Allowed => Sign::yes("The plan may run"),
        PlanVerdict::Denied => Sign::no("The plan may not run"),
        PlanVerdict::NeedsMoreInfo(_) => Sign {
            mark: "?",
            ..Sign::yes("No call: the planner needs more information")
        },
        PlanVerdict::Undecided => Sign::no("No decision: an input has errors"),
    }
}

fn summary(kind: RequestKind, decision: &PlanDecision) -> Html {
    let (sign, is_call) = (verdict(kind, decision), kind == RequestKind::Call);
    let mut facts: Vec<_> = decision.plan.iter().cloned().collect();
    let number = |number: usize, noun: &str| count(number as u32, noun);
    if !decision.steps.is_empty() && !is_call {
        facts.push(number(decision.steps.len(), "step"));
    }
    if !decision.problems.is_empty() {
        facts.push(number(decision.problems.len(), "problem"));
    }
    let checks = decision.steps.iter().flat_map(|step| &step.checks);
    let deferred = checks.filter(|check| check.outcome == StepOutcome::Deferred);
    let deferred = deferred.count();
    // A plan that may not run has no checks later.
    if deferred > 0 && decision.verdict == PlanVerdict::Allowed {
        facts.push(number(deferred, "deferred check"));
    }
    headline(sign, sign.words, &facts)
}

/// Shows a text that a host receives, closed at first.
fn file(page: &Page, summary: Html, what: &'static str, text: &str) -> Html {
    let copied = text.to_owned();
    let copy = page.callback(move |page, _| page.copy(what, copied.clone()));
    html! {
        <details class="text">
            <summary>{ summary }</summary>
            <p class="actions"><button onclick={copy}>{ "Copy" }</button></p>
            <Viewer label={what} text={Rc::<str>::from(text)} wrapped=true />
        </details>
    }
}

/// Shows the digests of the documents that a decision depends on.
fn documents(documents: &[DecidedAgainst]) -> Html {
    let rows = documents.iter().map(|it| {
        let name = it.name.as_ref();
        html! {
            <tr>
                <th scope="row">
                    { &it.document }
                    { for name.map(|name| html! { <>{ " " }<bdi>{ name }</bdi></> }) }
                </th>
                <td><code>{ &it.digest }</code></td>
            </tr>
        }
    });
    html! {
        if !documents.is_empty() {
            <details class="against-list">
                <summary>{ "Documents of this decision" }</summary>
                <table class="comparison"><tbody>{ for rows }</tbody></table>
            </details>
        }
    }
}
