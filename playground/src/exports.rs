//! Files that the page hands on: the funnels, the matrix and all problems.
//!
//! A script that is loaded with the first of them writes funnels and matrix from `agents.resolution.json`, which has
//! every verdict on every candidate: the page itself knows the rows in sight alone. The engine writes the problems.

use crate::state::{Page, Tab};
use agent_ui::browser::download;
use agent_ui::notice::Notice;
use js_sys::Promise;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use yew::prelude::*;

#[wasm_bindgen(raw_module = "./browser.js")]
extern "C" {
    #[wasm_bindgen(js_name = exportFile)]
    fn export_file(name: &str, resolution: &str, checks: &str) -> Promise;
}

/// The name of the file with the problems.
const PROBLEMS: &str = "agents.sarif";

/// The names of the files, and the labels of their buttons.
const FILES: [(&str, &str); 4] = [
    ("funnels.svg", "Funnels as SVG"),
    ("matrix.svg", "Matrix as SVG"),
    ("matrix.csv", "Matrix as CSV"),
    (PROBLEMS, "Problems as SARIF"),
];

/// Shows the buttons that make the files.
pub(crate) fn export_buttons(page: &Page) -> Html {
    let buttons = FILES.map(|(name, label)| {
        let export = page.on(move |state| {
            state.content.exported = Some(name);
            match name {
                PROBLEMS => state.content.wanted.report = true,
                _ => state.content.explain_whole(),
            }
        });
        html! { <button onclick={export}>{ label }</button> }
    });
    buttons.into_iter().collect()
}

/// Makes the file that the user asked for, once the engine has written the problems or the whole explanation.
#[hook]
pub(crate) fn use_exports(page: &Page) {
    let due = page.content().exported.filter(|_| !page.state.stale());
    let page = page.clone();
    use_effect_with(due, move |due| {
        if let Some(name) = due {
            export(&page, name);
        }
    });
}

fn export(page: &Page, name: &str) {
    page.update(|state| {
        let content = &mut state.content;
        content.exported = None;
        content.wanted.report = false;
        if content.tab != Tab::Resolution {
            content.wanted.resolution = None;
        }
    });
    if let Some(problems) = &page.content().views.report {
        return download(name, problems);
    }
    let text = match &page.content().views.resolution {
        Some(Ok(explained)) => &explained.text,
        Some(Err(reason)) => return page.notify(Notice::alarm(reason)),
        None => return page.notify(Notice::alarm("No decision: an input has errors.")),
    };
    let checks: Vec<_> = page.state.about.checks.iter().map(|it| it.name()).collect();
    let made = JsFuture::from(export_file(name, text, &checks.join(" ")));
    let actor = page.actor.clone();
    spawn_local(async move {
        if made.await.is_err() {
            actor.notify(Notice::alarm(
                "This file can't be made now: its script can't be loaded",
            ));
        }
    });
}
