//! The whole story of one server and one requirement.

use crate::page::{Page, use_page};
use crate::problems::{Code, Place, prose};
use crate::state::Action;
use crate::verdict::fixes;
use agent_protocol::{Check, Story, StoryVerdict};
use wasm_bindgen::prelude::JsCast as _;
use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

/// The story that is told, over the right-hand side. It has the keyboard, and gives it back.
#[component]
pub(crate) fn StoryPanel() -> Html {
    let page = use_page();
    let panel = use_node_ref();
    let opener = use_mut_ref(|| None::<HtmlElement>);
    {
        let panel = panel.clone();
        use_effect_with(page.state.wanted.story.clone(), move |asked| {
            let focus = if asked.is_none() {
                opener.take().filter(|_| focused().is_none())
            } else {
                let mut opener = opener.borrow_mut();
                if opener.is_none() {
                    *opener = focused();
                }
                panel.cast()
            };
            if let Some(element) = focus {
                // What can't be focused is read all the same.
                let _ = element.focus();
            }
        });
    }
    if page.state.wanted.story.is_none() {
        return html! {};
    }
    let onkeydown = {
        let page = page.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Escape" {
                event.stop_propagation();
                page.dispatch(Action::CloseStory);
            }
        })
    };
    let body = match &page.state.views.story {
        Some(story) => tell(&page, story),
        None if page.state.stale() => html! { <p class="quiet">{ "…" }</p> },
        None => html! {
            <p class="quiet">{ "There is no such server, or nothing is decided." }</p>
        },
    };
    html! {
        <aside class="story" aria-label="Story" tabindex="-1" ref={panel} {onkeydown}>
            <button class="close" onclick={page.on(|| Action::CloseStory)} aria-label="Close the story">
                { "×" }
            </button>
            { body }
        </aside>
    }
}

/// What has the keyboard, if anything has.
fn focused() -> Option<HtmlElement> {
    let document = web_sys::window()?.document()?;
    let element = document.active_element()?;
    (element.tag_name() != "BODY")
        .then(|| element.dyn_into().ok())
        .flatten()
}

fn tell(page: &Page, story: &Story) -> Html {
    let (class, mark, verdict) = match &story.verdict {
        StoryVerdict::Selected => ("yes", "✓", "selected".to_owned()),
        StoryVerdict::Eligible(lost) => ("yes", "○", format!("eligible, and {lost}")),
        StoryVerdict::Rejected => ("no", "✗", "rejected".to_owned()),
    };
    let requirement = page
        .state
        .verdict
        .as_ref()
        .and_then(|verdict| verdict.requirements.get(story.requirement as usize));
    let server = &story.server;
    let reasons = story.reasons.iter().map(|reason| {
        html! {
            <li><Code code={reason.code.clone()} />{ " " }{ prose(&reason.text) }</li>
        }
    });
    html! {
        <>
            <h3>
                <bdi>{ &server.id }</bdi>{ " " }<bdi class="version">{ &server.version }</bdi>
            </h3>
            <p>
                <Place place={server.place} />{ " " }
                <span class="endpoint">{ &server.endpoint }</span>{ " " }
                <span class="quiet">{ "by " }<bdi>{ &server.publisher }</bdi></span>
            </p>
            <p class={classes!("answer-line", class)}>
                <span class="mark" aria-hidden="true">{ mark }</span>
                if let Some(requirement) = requirement {
                    { format!("{}: ", requirement.category) }
                }
                { verdict }
            </p>
            <table class="checks">
                <thead>
                    <tr>
                        <th scope="col">{ "Check" }</th>
                        <th scope="col">{ "Required" }</th>
                        <th scope="col">{ "Offered" }</th>
                    </tr>
                </thead>
                <tbody>{ for story.checks.iter().map(check) }</tbody>
            </table>
            if !story.reasons.is_empty() {
                <ul class="reasons">{ for reasons }</ul>
                <h4>{ "What would make it a yes" }</h4>
                { fixes(page, &story.fixes) }
            }
        </>
    }
}

fn check(check: &Check) -> Html {
    let (class, mark, word) = if check.passed {
        ("yes", "✓", "passed")
    } else {
        ("no", "✗", "failed")
    };
    let nothing = || html! { <span class="quiet">{ "nothing" }</span> };
    html! {
        <tr class={class}>
            <th scope="row">
                <span class="mark" aria-hidden="true">{ mark }</span>
                { &check.name }
                <span class="visually-hidden">{ format!(", {word}") }</span>
            </th>
            <td>
                { check.required.as_ref().map_or_else(nothing, |required| html! { <bdi>{ required }</bdi> }) }
                { check.asked_at.map(|place| html! { <><br /><Place {place} /></> }) }
            </td>
            <td>
                if check.offered.is_empty() { { nothing() } } else { <bdi>{ &check.offered }</bdi> }
                { check.offered_at.map(|place| html! { <><br /><Place {place} /></> }) }
            </td>
        </tr>
    }
}
