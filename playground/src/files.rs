//! The files that the command line would write, and their differences from others.

use crate::elements::nothing;
use crate::state::{LIST_STEP, Page, Servers, Tab};
use agent_answer::{Code, DocumentKind, Drift, LockVerdict, Severity};
use agent_ui::browser;
use agent_ui::editor::Viewer;
use agent_ui::page::use_page;
use agent_ui::problems::{code, drift, places, prose};
use agent_ui::words::{count, thousands};
use std::rc::Rc;
use yew::prelude::*;

/// A text to compare a file with, by the label of its button; `None` if there is nothing to compare
/// with.
type Comparison = (&'static str, Option<Rc<str>>);

/// The text before the last change.
const BEFORE: &str = "Since the last change";

/// `agents.lock`.
#[component]
pub(crate) fn LockFile() -> Html {
    let page = use_page::<Servers>();
    let content = page.content();
    let existing = content.verdict.as_ref().and_then(|it| it.existing.as_ref());
    let drifts = existing.map(drifts);
    let Some(text) = &content.lock.now else {
        return html! { <>{ for drifts }{ no_lock(&page) }</> };
    };
    let pasted = existing.map(|_| String::from(page.editors.text(DocumentKind::Lock)).into());
    html! {
        <div class="file">
            { for drifts }
            <Comparable
                name="agents.lock"
                text={Rc::clone(text)}
                others={vec![(BEFORE, content.lock.before.clone()), ("Against the pasted lock", pasted)]}
            />
        </div>
    }
}

/// Says why there is no lock, with the places.
fn no_lock(page: &Page) -> Html {
    let content = page.content();
    let Some(verdict) = &content.verdict else {
        return nothing(page);
    };
    let errors = verdict.diagnostics.iter();
    let errors = errors.filter(|it| it.severity == Severity::Error);
    let errors = errors.take(LIST_STEP as usize).map(|it| {
        let labels = it.labels.iter().take(1);
        let place = places(labels.map(|label| &label.place));
        html! { <li>{ code(it.code) }{ " " }{ prose(&it.message) }{ place }</li> }
    });
    html! {
        <section class="no-lock" aria-label="Why there is no lock">
            <p>
                { "There is no lock, because of this: " }
                <button onclick={page.on(|state| state.content.open_tab(Tab::Verdict))}>
                    { "Show the verdict" }
                </button>
            </p>
            <ul class="reasons-list">{ for errors }</ul>
        </section>
    }
}

/// `agents.resolution.json`.
#[component]
pub(crate) fn ResolutionFile() -> Html {
    let page = use_page::<Servers>();
    let content = page.content();
    match (&content.views.resolution, &content.resolution.now) {
        (Some(Ok(explained)), Some(text)) => html! {
            <div class="file">
                if !explained.is_whole {
                    <p class="quiet beginning">
                        { format!("The first {} bytes of a long explanation. ", thousands(text.len() as u32)) }
                        <button onclick={page.on(|state| state.content.explain_whole())}>
                            { "Show all of it" }
                        </button>
                    </p>
                }
                <Comparable
                    name="agents.resolution.json"
                    text={Rc::clone(text)}
                    is_whole={explained.is_whole}
                    others={vec![(BEFORE, content.resolution.before.clone())]}
                />
            </div>
        },
        (Some(Err(reason)), _) => html! { <p class="quiet">{ reason }</p> },
        _ => nothing(&page),
    }
}

#[derive(Properties, PartialEq)]
struct ComparableProps {
    name: &'static str,
    text: Rc<str>,
    /// Whether the text is not only the beginning of the file.
    #[prop_or(true)]
    is_whole: bool,
    others: Vec<Comparison>,
}

/// A file with buttons to compare, copy and download it.
#[component]
fn Comparable(props: &ComparableProps) -> Html {
    let page: Page = use_page();
    // The label of the text to compare with.
    let against = use_state(|| None);
    let ComparableProps {
        name,
        text,
        is_whole,
        others,
    } = props;
    let name = *name;
    let chosen = others.iter().find(|(label, _)| Some(*label) == *against);
    let original = chosen.and_then(|(_, text)| text.clone());
    let choice = |label: &'static str, key: Option<&'static str>, possible: bool| {
        let chosen = against.setter();
        html! {
            <button
                aria-pressed={(*against == key).to_string()}
                disabled={!possible}
                onclick={move |_| chosen.set(key)}
            >
                { label }
            </button>
        }
    };
    let choices = others
        .iter()
        .map(|(label, text)| choice(label, Some(label), text.is_some()));
    let copied = Rc::clone(text);
    let downloaded = Rc::clone(text);
    html! {
        <>
            <div class="bar">
                <span class="choice" role="group" aria-label="Show">
                    { choice("Text", None, true) }
                    { for choices }
                </span>
                if *is_whole {
                    <span class="actions">
                        <button onclick={page.callback(move |page, _| page.copy(name, copied.to_string()))}>
                            { "Copy" }
                        </button>
                        <button onclick={move |_| browser::download(name, &downloaded)}>{ "Download" }</button>
                    </span>
                }
            </div>
            <Viewer label={format!("{name}, as it would be written")} text={Rc::clone(text)} {original} />
        </>
    }
}

/// Shows the changes of a pasted lock.
fn drifts(existing: &LockVerdict) -> Html {
    let changes = existing.changes.as_deref().map(|changes| {
        let heading = "From the pasted lock to this one";
        list(changes, heading, "The pasted lock is the same.")
    });
    let found = existing.verify.as_deref().map(|found| {
        let heading = "The pasted lock against the index";
        list(
            found,
            heading,
            "The index still has every entry of the pasted lock.",
        )
    });
    html! {
        <section class="drifts" aria-label="The pasted lock">
            { for changes }
            { for found }
            if existing.changes.iter().chain(&existing.verify).flatten().any(by_digests) {
                <p class="quiet">
                    { "Only the digests of these definitions are known, because a lock contains no more. \
                       Paste the index that the lock was made from into mcp.index.json, and then this one \
                       again: the page compares them." }
                </p>
            }
        </section>
    }
}

/// Returns whether a changed definition is known by two digests alone.
fn by_digests(drift: &Drift) -> bool {
    drift.code == Code::DefinitionChanged && drift.details.is_empty()
}

fn list(drifts: &[Drift], heading: &'static str, none: &'static str) -> Html {
    let widenings = drifts.iter().filter(|drift| drift.widening).count() as u32;
    let items = drifts.iter().map(drift);
    html! {
        <>
            <h4>
                { heading }
                if widenings > 0 {
                    { " " }
                    <span class="badge warning">
                        { count(widenings, "change") }{ " with more access" }
                    </span>
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
