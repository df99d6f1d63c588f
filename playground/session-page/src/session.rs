//! The answer of the area of sessions.

use crate::call::draft;
use crate::events::{past, waiting};
use crate::history::history;
use crate::keyboard::use_keyboard;
use crate::refusal::raw;
use crate::state::{Page, Sessions, State};
use crate::tools::{client, servers, tools};
use agent_answer::{Code, Diagnostic, DocumentKind};
use agent_ui::answer::{Sign, headline, status};
use agent_ui::areas::Area;
use agent_ui::page::use_page;
use agent_ui::problems::{Problems, details, reason};
use agent_worker_protocol::session::SessionView;
use std::rc::Rc;
use yew::prelude::*;

/// What the agent sees, and what is decided about its calls.
#[component]
pub(crate) fn SessionArea() -> Html {
    let page = use_page::<Sessions>();
    use_keyboard(&page);
    let answered = page.content().answer();
    let status = status(&page, answered.is_some());
    let Some(answered) = answered else {
        return status;
    };
    let session = page.content().session();
    let diagnostics = Rc::clone(&answered.problems);
    let refused = session.is_none().then(|| {
        let sign = Sign::no("No session: these documents can't be obeyed");
        headline(sign, sign.words, &[])
    });
    html! {
        <>
            { status }
            { for refused }
            <Problems diagnostics={Rc::clone(&diagnostics)} />
            { unsatisfied(&diagnostics) }
            { for session.map(|session| served(&page, session, answered.answer.lock.as_deref())) }
        </>
    }
}

/// Shows the requirements without a server, which the page about servers shows with each candidate.
pub(crate) fn unsatisfied(problems: &[Diagnostic]) -> Html {
    let unsatisfied = problems.iter().filter(|it| it.code == Code::Unsatisfied);
    let items: Vec<_> = unsatisfied
        .map(|it| html! { <li><p>{ reason(it.code, &it.message) }</p>{ details(it) }</li> })
        .collect();
    html! {
        if !items.is_empty() {
            <ul class="reasons-list unsatisfied">{ for items }</ul>
            <p class="change quiet">
                { "The area " }<a href="#">{ "Servers" }</a>{ " explains each server for the same documents." }
            </p>
        }
    }
}

fn served(page: &Page, session: &SessionView, lock: Option<&str>) -> Html {
    html! {
        <>
            { waiting(page, session) }
            { draft(page, session) }
            <div class="columns">
                { past(page, session) }
                { tools(page, session) }
            </div>
            { history(session) }
            { servers(page, session) }
            { client(page) }
            { for lock.map(|lock| raw("The lock that agents.md resolves to", lock)) }
            { records(page, session) }
        </>
    }
}

/// Shows the audit log of the session, which the other area decides again.
fn records(page: &Page, session: &SessionView) -> Html {
    let (copied, taken) = (session.records.clone(), session.records.clone());
    let copy = page.callback(move |page, _: MouseEvent| page.copy("the audit log", copied.clone()));
    let take = page.callback(move |page, _: MouseEvent| take_records(page, &taken));
    html! {
        <>
            { raw("The audit log of this session", &session.records) }
            <p class="actions">
                <button onclick={take}>{ "Try another policy on these calls" }</button>
                <button onclick={copy}>{ "Copy the audit log" }</button>
            </p>
        </>
    }
}

/// Takes the records of the session as the log of the other area, and goes there.
fn take_records(page: &agent_ui::page::Actor<Sessions>, records: &str) {
    page.editors.replace(DocumentKind::Evidence, records);
    Area::Audit.open();
    page.update(|state: &mut State| state.show_area(Area::Audit));
}
