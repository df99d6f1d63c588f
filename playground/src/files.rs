//! The files as they would be written, and how they differ.

use crate::page::{Page, use_page};
use agent_protocol::{DocumentKind, Drift, LockVerdict};
use agent_ui::browser;
use agent_ui::editor::Viewer;
use agent_ui::notice::copied;
use agent_ui::problems::{Code, prose};
use agent_ui::words::count;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// What a file is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Against {
    Nothing,
    /// What it was before the last change.
    Before,
    /// The one that was pasted.
    Existing,
}

/// `agents.lock`.
#[component]
pub(crate) fn LockFile() -> Html {
    let page = use_page();
    let against = use_state(|| Against::Nothing);
    let pasted = page
        .state
        .verdict
        .as_ref()
        .and_then(|verdict| verdict.existing.clone());
    let existing: Option<Rc<str>> = pasted
        .is_some()
        .then(|| String::from(page.editors.text(DocumentKind::Lock)).into());
    let drifts = pasted.map(|pasted| drifts(&pasted));
    let Some(text) = page.state.lock.now.clone() else {
        return html! {
            <>
                { drifts }
                <p class="quiet">
                    { "There is no lock: a requirement has no server or no tool, or an input has errors. \
                       A lock is written for a whole yes only." }
                </p>
            </>
        };
    };
    let original = match *against {
        Against::Nothing => None,
        Against::Before => page.state.lock.before.clone(),
        Against::Existing => existing.clone(),
    };
    let choices = [
        (Against::Nothing, "Text", true),
        (
            Against::Before,
            "Since the last change",
            page.state.lock.before.is_some(),
        ),
        (
            Against::Existing,
            "Against the pasted lock",
            existing.is_some(),
        ),
    ];
    html! {
        <div class="file">
            { drifts }
            { bar(&page, "agents.lock", &text, against, &choices) }
            <Viewer label="agents.lock, as it would be written" {text} {original} />
        </div>
    }
}

/// `agents.resolution.json`.
#[component]
pub(crate) fn ResolutionFile() -> Html {
    let page = use_page();
    let against = use_state(|| Against::Nothing);
    let text = match &page.state.views.resolution {
        Some(Ok(text)) => Rc::clone(text),
        Some(Err(reason)) => return html! { <p class="quiet">{ reason }</p> },
        None if page.state.stale() => return html! { <p class="quiet">{ "…" }</p> },
        None => {
            return html! { <p class="quiet">{ "Nothing is decided: an input has errors." }</p> };
        }
    };
    let original = (*against == Against::Before)
        .then(|| page.state.resolution.before.clone())
        .flatten();
    let choices = [
        (Against::Nothing, "Text", true),
        (
            Against::Before,
            "Since the last change",
            page.state.resolution.before.is_some(),
        ),
    ];
    html! {
        <div class="file">
            { bar(&page, "agents.resolution.json", &text, against, &choices) }
            <Viewer label="agents.resolution.json, as it would be written" {text} {original} />
        </div>
    }
}

/// What can be done with a file.
fn bar(
    page: &Page,
    name: &'static str,
    text: &Rc<str>,
    against: UseStateHandle<Against>,
    choices: &[(Against, &'static str, bool)],
) -> Html {
    let copy = {
        let (page, text) = (page.clone(), Rc::clone(text));
        Callback::from(move |_: MouseEvent| copy_text(page.clone(), name, text.to_string()))
    };
    let download = {
        let text = Rc::clone(text);
        Callback::from(move |_: MouseEvent| browser::download(name, &text))
    };
    let choices = choices.iter().map(|(choice, label, possible)| {
        let (choice, current) = (*choice, *against);
        let against = against.clone();
        html! {
            <button
                aria-pressed={(choice == current).to_string()}
                disabled={!possible}
                onclick={Callback::from(move |_: MouseEvent| against.set(choice))}
            >
                { *label }
            </button>
        }
    });
    html! {
        <div class="bar">
            <span class="choice" role="group" aria-label="Show">{ for choices }</span>
            <span class="actions">
                <button onclick={copy}>{ "Copy" }</button>
                <button onclick={download}>{ "Download" }</button>
            </span>
        </div>
    }
}

/// Copies a text and says so.
pub(crate) fn copy_text(page: Page, what: &'static str, text: String) {
    spawn_local(async move {
        page.dispatch(copied(what, &text).await);
    });
}

/// What is to be said of the pasted lock.
fn drifts(existing: &LockVerdict) -> Html {
    html! {
        <section class="drifts" aria-label="The pasted lock">
            { existing.changes.as_deref().map(|changes| list(
                changes,
                "From the pasted lock to this one",
                "The pasted lock says the same.",
            )) }
            { existing.verify.as_deref().map(|found| list(
                found,
                "The pasted lock against the index",
                "Everything that the pasted lock has is in the index as it was.",
            )) }
        </section>
    }
}

fn list(drifts: &[Drift], heading: &'static str, none: &'static str) -> Html {
    let widenings = drifts.iter().filter(|drift| drift.widening).count() as u32;
    let items = drifts.iter().map(|drift| {
        html! {
            <li class={classes!(drift.widening.then_some("widening"))}>
                <Code code={drift.code.clone()} />{ " " }
                { drift.category.as_ref().or(drift.capability.as_ref()).map(|category| html! { <strong>{ format!("{category}: ") }</strong> }) }
                { prose(&drift.text) }
                if drift.widening { { " " }<span class="badge warning">{ "widening" }</span> }
            </li>
        }
    });
    html! {
        <>
            <h4>
                { heading }
                if widenings > 0 {
                    { " " }<span class="badge warning">{ count(widenings, "widening") }</span>
                }
            </h4>
            if drifts.is_empty() {
                <p class="quiet">{ none }</p>
            } else {
                <ul>{ for items }</ul>
            }
        </>
    }
}
