//! The evidence of a run, as it is stored.

use super::{bytes, change};
use crate::state::Page;
use crate::stepping::Stepping;
use agent_ui::editor::Viewer;
use agent_ui::names::name;
use agent_ui::words::count;
use agent_worker_protocol::run::{EvidenceFile, RunView};
use std::rc::Rc;
use yew::prelude::*;

/// The id of the element that shows a file.
const SHOWN: &str = "evidence-file";

/// Shows the files in the order in which they were first stored, the head of their chain, and the content of
/// the chosen one.
pub(super) fn evidence(page: &Page, run: &Stepping, view: &RunView) -> Html {
    if view.files.is_empty() {
        return html! {};
    }
    let shown = view
        .files
        .iter()
        .find(|file| run.file.as_ref() == Some(&file.path));
    let facts = [
        count(view.files.len() as u32, "file"),
        count(view.episodes, "episode"),
    ];
    let files = view.files.iter().map(|each| {
        let is_shown = shown.is_some_and(|shown| shown.path == each.path);
        let is_new = !view.turns.is_empty() && each.stored_after == view.turns.len() as u32;
        file(page, each, is_shown, is_new)
    });
    html! {
        <section class="evidence" aria-label="Evidence">
            <h4>{ "Evidence" }</h4>
            <p class="quiet">
                { facts.join(" · ") }
                { for view.head.as_ref().map(|head| html! {
                    <>{ " · head of the chain " }<code>{ head }</code></>
                }) }
            </p>
            <ul class="files">{ for files }</ul>
            <div id={SHOWN} class="text">
                { for shown.map(|shown| html! {
                    <Viewer
                        key={shown.path.clone()}
                        label={shown.path.clone()}
                        text={Rc::<str>::from(&*shown.content)}
                        wrapped=true
                    />
                }) }
            </div>
        </section>
    }
}

fn file(page: &Page, file: &EvidenceFile, is_shown: bool, is_new: bool) -> Html {
    let path = file.path.clone();
    let show = change(page, move |run, _| {
        run.file = (!is_shown).then(|| path.clone());
    });
    html! {
        <li key={file.path.clone()}>
            <button aria-expanded={is_shown.to_string()} aria-controls={SHOWN} onclick={show}>
                { name(&file.path, "") }
            </button>
            <span class="quiet">{ bytes(&file.content) }</span>
            if is_new { <span class="badge neutral">{ "new" }</span> }
        </li>
    }
}
