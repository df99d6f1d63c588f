//! The explanation of one server and one requirement.

use crate::elements::{endpoint, nothing, server_name, table_head};
use crate::policy::{is_policy, policy_lines};
use crate::state::{Page, Servers, explain};
use agent_answer::{
    Applicability, CandidateVerdict, Check, DocumentKind, Explanation, Fix, HealthSwitch, Place,
    ServerName, ToolEntry,
};
use agent_ui::answer::Sign;
use agent_ui::browser::{focus, is_beside};
use agent_ui::dialog::close;
use agent_ui::names::name;
use agent_ui::page::use_page;
use agent_ui::problems::{
    Apply, Place as PlaceButton, places, reasons, suggested_fixes, suppositions,
};
use agent_ui::words::count;
use agent_worker_protocol::ExplanationRequest;
use wasm_bindgen::prelude::JsCast as _;
use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

/// The panel over the answer, or beside the matrix where there is room. Over the answer it takes the
/// keyboard. Wherever it is, the keyboard is not lost when it closes.
#[component]
pub(crate) fn ExplanationPanel() -> Html {
    let page = use_page::<Servers>();
    let panel = use_node_ref();
    let opener = use_mut_ref(|| None::<HtmlElement>);
    let wanted = page.content().wanted.explanation.clone();
    let shown = use_mut_ref(|| wanted.clone());
    {
        let panel = panel.clone();
        use_effect_with(wanted, move |wanted| {
            // Another tab than before shows the same explanation.
            if shown.replace(wanted.clone()) == *wanted {
                return;
            }
            let now = focused();
            if wanted.is_none() {
                let opener = opener.take().filter(|it| it.is_connected());
                match (now, opener) {
                    (Some(_), _) => {}
                    (None, Some(opener)) => focus_on(&opener),
                    (None, None) => focus("answer-panel"),
                }
                return;
            }
            let within = |it: &HtmlElement| it.closest(".explanation").is_ok_and(|it| it.is_some());
            let outside = now.filter(|it| !within(it));
            let Some(panel) = panel.cast::<HtmlElement>() else {
                return;
            };
            if !outside.as_ref().is_some_and(|it| is_beside(&panel, it)) {
                focus_on(&panel);
            }
            if outside.is_some() {
                opener.replace(outside);
            }
        });
    }
    if page.content().wanted.explanation.is_none() {
        return html! {};
    }
    let onkeydown = page.callback(|page, event: KeyboardEvent| {
        if event.key() == "Escape" {
            event.stop_propagation();
            page.update(|state| state.content.close_explanation());
        }
    });
    let body = match &page.content().views.explanation {
        Some(explanation) => body(&page, explanation),
        None => nothing(&page),
    };
    html! {
        <aside class="explanation" aria-label="Explanation" tabindex="-1" ref={panel} {onkeydown}>
            { close("Close the explanation", page.on(|state| state.content.close_explanation())) }
            { body }
        </aside>
    }
}

/// Moves the keyboard to an element. If it can't have the keyboard, the user can read it all the same.
fn focus_on(element: &HtmlElement) {
    let _ = element.focus();
}

/// Returns the element that has the keyboard, if any has.
fn focused() -> Option<HtmlElement> {
    let element = web_sys::window()?.document()?.active_element()?;
    let element = (element.tag_name() != "BODY").then_some(element)?;
    element.dyn_into().ok()
}

fn body(page: &Page, explanation: &Explanation) -> Html {
    let (sign, lost) = match &explanation.verdict {
        CandidateVerdict::Selected => (Sign::yes("selected"), None),
        CandidateVerdict::Eligible(lost) => (Sign::yes("eligible, and "), Some(lost)),
        CandidateVerdict::Rejected => (Sign::no("rejected"), None),
    };
    let mark = if lost.is_some() { "○" } else { sign.mark };
    let sign = Sign { mark, ..sign };
    let requirements = page.content().requirements();
    let requirement = requirements.get(explanation.requirement as usize);
    let server = &explanation.server;
    let subject = ServerName {
        id: server.id.clone(),
        version: server.version.clone(),
    };
    let tool = explanation.tool.as_ref();
    let place = tool.map_or(server.place, |tool| tool.place);
    let others = explanation.others.iter().map(|other| {
        let request = ExplanationRequest {
            requirement: explanation.requirement,
            server: subject.clone(),
            tool: Some(other.clone()),
        };
        html! {
            <button class="server" onclick={page.on(|state| explain(state, request))}>
                { name(other, "") }
            </button>
        }
    });
    let lines = requirement.map(|requirement| policy_lines(requirement, explanation));
    let lines = lines.unwrap_or_default();
    let supposed = explanation.suppositions.iter();
    let supposed = supposed.map(|text| (html! { "It " }, text.clone()));
    html! {
        <>
            <h3>{ server_name(&page.content().lookalikes, &subject, tool.map(|tool| &*tool.name)) }</h3>
            <p>
                { places([&place]) }{ " " }
                { endpoint(&server.endpoint) }{ " " }
                <span class="quiet">{ "by " }{ name(&server.publisher, "") }</span>
            </p>
            { for tool.map(description) }
            <p class={classes!("answer-line", sign.class)} aria-live="polite">
                { sign.mark() }
                { for requirement.map(|it| format!("{}: ", it.name())) }
                { sign.words }{ for lost }
            </p>
            { suggested_fixes(&explanation.fixes, None) }
            { reasons(&explanation.reasons) }
            <table class="checks">
                { table_head(["Check", "Required", "Offered"]) }
                <tbody>{ for explanation.checks.iter().map(|check| row(check, &lines)) }</tbody>
            </table>
            { suppositions(supposed) }
            { for explanation.health.as_ref().map(|health| switch(&server.id, health)) }
            if !explanation.others.is_empty() {
                <h4>{ "Other tools of this server" }</h4>
                <p class="tools">{ for others }</p>
            }
        </>
    }
}

/// Shows the index entry of a tool.
fn description(tool: &ToolEntry) -> Html {
    let advertised = tool.advertised.iter();
    let advertised =
        advertised.map(|it| html! { <><code class="scope">{ name(it, "") }</code>{ " " }</> });
    html! {
        <>
            { for tool.description.as_ref().map(|text| html! { <p><bdi>{ text }</bdi></p> }) }
            <p>
                { for advertised }
                <span class="quiet">{ format!("about {}", count(tool.tokens, "token")) }</span>
            </p>
        </>
    }
}

/// Shows the health of a server, and a button that switches it.
fn switch(id: &str, health: &HealthSwitch) -> Html {
    let status = match &health.status {
        Some(status) => html! { <strong>{ status }</strong> },
        None if health.considered => html! { <strong>{ "not in the snapshot" }</strong> },
        None => html! { <span class="quiet">{ "not considered: there is no snapshot" }</span> },
    };
    let fix = Fix {
        title: format!("suppose that `{id}` is {}", health.to),
        applicability: Applicability::Display,
        edits: health.edits.clone(),
    };
    html! {
        <p class="health">
            { "Health: " }{ status }
            <Apply {fix} label={format!("Suppose {}", health.to)} />
        </p>
    }
}

/// Returns whether the column says which document a place is in.
fn is_usual(place: &Place) -> bool {
    matches!(place.source, DocumentKind::Manifest | DocumentKind::Index)
}

/// Shows a check as a row. `lines` are those of the policy.
fn row(check: &Check, lines: &[Place]) -> Html {
    let lines = if is_policy(check) { lines } else { &[] };
    let sign = Sign::of(check.passed, "passed", "failed");
    let cell = |value: Option<&String>, at: &mut dyn Iterator<Item = &Place>| {
        let value = value.filter(|value| !value.is_empty());
        html! {
            <td>
                if let Some(value) = value {
                    { name(value, "") }
                } else {
                    <span class="quiet">{ "nothing" }</span>
                }
                { for at.map(|place| html! { <><br /><PlaceButton place={*place} short={is_usual(place)} /></> }) }
            </td>
        }
    };
    html! {
        <tr class={sign.class}>
            <th scope="row">
                { sign.mark() }
                { &check.name }
                <span class="visually-hidden">{ ", " }{ sign.words }</span>
            </th>
            { cell(check.required.as_ref(), &mut lines.iter().chain(&check.asked_at)) }
            { cell(Some(&check.offered), &mut check.offered_at.iter()) }
        </tr>
    }
}
