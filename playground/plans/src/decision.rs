//! The answer to a plan.

use crate::actor::{Page, use_page};
use crate::flow::{Flow, tell};
use crate::state::Engine;
use agent_protocol::plans::{Against, Authorized, Decision, Outcome, RequestKind, Verdict};
use agent_ui::editor::Viewer;
use agent_ui::failure::failure;
use agent_ui::notice::copied;
use agent_ui::problems::Problems;
use agent_ui::words::count;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Whether a plan may be carried out, and everything that speaks for it and against it.
#[component]
pub(crate) fn DecisionView() -> Html {
    let page = use_page();
    let failed = match &page.state.engine {
        Engine::Failed(reason) => failure(reason),
        _ => html! {},
    };
    let Some(decision) = page.state.decision().cloned() else {
        return html! { <>{ failed }{ nothing(&page) }</> };
    };
    let of_documents = decision.problems.iter().filter(|it| it.step.is_none());
    let of_documents: Vec<_> = of_documents.map(|problem| tell(&page, problem)).collect();
    html! {
        <>
            { failed }
            { headline(page.state.matter(), &decision) }
            <Problems diagnostics={decision.diagnostics.clone()} />
            if !of_documents.is_empty() {
                <section class="documents" aria-label="Problems of documents">{ for of_documents }</section>
            }
            if let Verdict::Asks(question) = &decision.verdict {
                <blockquote class="asks"><bdi>{ question }</bdi></blockquote>
            }
            if !decision.steps.is_empty() { <Flow decision={Rc::clone(&decision)} /> }
            { decision.authorized.as_ref().map(|it| authorized(&page, it)) }
            { decision.report.as_ref().map(|it| file(&page, html! { "The validation report" }, "the validation report", it)) }
            { against(&decision.against) }
        </>
    }
}

/// What is said while there is no answer.
pub(crate) fn nothing(page: &Page) -> Html {
    match &page.state.engine {
        Engine::Failed(_) => html! {},
        Engine::Starting => html! { <p class="waiting">{ "Loading the engine…" }</p> },
        Engine::Ready => html! { <p class="waiting">{ "…" }</p> },
    }
}

fn headline(matter: RequestKind, decision: &Decision) -> Html {
    let is_call = matter == RequestKind::Call;
    let (class, mark, answer) = match &decision.verdict {
        Verdict::Allowed if is_call => ("yes", "✓", "The call may be made"),
        Verdict::Denied if is_call => ("no", "✗", "The call may not be made"),
        Verdict::Allowed => ("yes", "✓", "The plan may run"),
        Verdict::Denied => ("no", "✗", "The plan may not run"),
        Verdict::Asks(_) => ("yes", "?", "Nothing is called: more has to be known"),
        Verdict::Undecided => ("no", "✗", "Nothing is decided: an input has errors"),
    };
    let mut facts: Vec<_> = decision.plan.iter().cloned().collect();
    let number = |number: usize, noun: &str| count(number as u32, noun);
    if !decision.steps.is_empty() && !is_call {
        facts.push(number(decision.steps.len(), "step"));
    }
    if !decision.problems.is_empty() {
        facts.push(number(decision.problems.len(), "problem"));
    }
    let checks = decision.steps.iter().flat_map(|step| &step.checks);
    let later = checks.filter(|check| check.outcome == Outcome::Deferred);
    let later = later.count();
    // What may not run has no other checks.
    if later > 0 && decision.verdict == Verdict::Allowed {
        facts.push(format!("{} while it runs", number(later, "check")));
    }
    html! {
        <header class="headline" role="status">
            <p class={classes!("answer-line", class)}>
                <span class="mark" aria-hidden="true">{ mark }</span>
                { answer }
            </p>
            if !facts.is_empty() { <p class="facts"><bdi>{ facts.join(" · ") }</bdi></p> }
        </header>
    }
}

/// What may be carried out, as the host gets it.
fn authorized(page: &Page, authorized: &Authorized) -> Html {
    let summary = html! { <>{ "What is authorised: " }<code>{ &authorized.digest }</code></> };
    file(page, summary, "what is authorised", &authorized.json)
}

/// A text that a host gets, behind a heading.
fn file(page: &Page, summary: Html, what: &'static str, text: &str) -> Html {
    let copy = {
        let (page, text) = (page.clone(), text.to_owned());
        Callback::from(move |_: MouseEvent| {
            let (page, text) = (page.clone(), text.clone());
            spawn_local(async move { page.dispatch(copied(what, &text).await) });
        })
    };
    html! {
        <details class="text">
            <summary>{ summary }</summary>
            <p class="actions"><button onclick={copy}>{ "Copy" }</button></p>
            <Viewer label={what} text={Rc::<str>::from(text)} wrapped=true />
        </details>
    }
}

/// The documents that it was decided against.
fn against(against: &[Against]) -> Html {
    let rows = against.iter().map(|it| {
        html! {
            <tr>
                <th scope="row">
                    { &it.document }
                    { it.name.as_ref().map(|name| html! { <>{ " " }<bdi>{ name }</bdi></> }) }
                </th>
                <td><code>{ &it.digest }</code></td>
            </tr>
        }
    });
    html! {
        if !against.is_empty() {
            <details class="against-list">
                <summary>{ "What it was decided against" }</summary>
                <table class="comparison"><tbody>{ for rows }</tbody></table>
            </details>
        }
    }
}
