//! The head of the page: what can be done with all of it.

use crate::examples::HELLO;
use crate::files::copy_text;
use crate::inputs::{self, Texts};
use crate::markdown;
use crate::page::use_page;
use crate::state::{Action, Dialog};
use agent_frame::notice::Notice;
use agent_frame::theme::ThemeSwitch;
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[component]
pub(crate) fn Header() -> Html {
    let page = use_page();
    let picker = use_node_ref();
    let pick = {
        let picker = picker.clone();
        Callback::from(move |_: MouseEvent| {
            if let Some(input) = picker.cast::<HtmlInputElement>() {
                input.click();
            }
        })
    };
    let picked = {
        let page = page.clone();
        Callback::from(move |event: Event| {
            let input = event.target_dyn_into::<HtmlInputElement>();
            if let Some(files) = input.as_ref().and_then(HtmlInputElement::files) {
                inputs::take_files(page.clone(), files);
            }
        })
    };
    let copy = {
        let page = page.clone();
        Callback::from(move |_: MouseEvent| {
            let texts = Texts::of(&page);
            let report = markdown::report(
                &texts,
                page.state.verdict.as_deref(),
                &page.state.about.version,
            );
            copy_text(page.clone(), "inputs and verdict as Markdown", report);
        })
    };
    let reset = {
        let page = page.clone();
        Callback::from(move |_: MouseEvent| {
            HELLO.texts().put(&page);
            inputs::forget();
            page.dispatch(Notice::done("Everything is as at the first visit"));
        })
    };
    html! {
        <header class="head">
            <h1>{ "agent" }<span>{ " playground" }</span></h1>
            <div class="actions" role="toolbar" aria-label="The whole page">
                <button onclick={page.on(|| Action::OpenDialog(Dialog::Examples))}>{ "Examples" }</button>
                <button onclick={pick}>{ "Open…" }</button>
                <input
                    type="file"
                    multiple=true
                    accept=".md,.markdown,.json,.lock,.yaml,.yml,.rego"
                    class="hidden"
                    aria-label="Files"
                    ref={picker}
                    onchange={picked}
                />
                <button onclick={page.on(|| Action::OpenDialog(Dialog::Share))}>{ "Share" }</button>
                <button onclick={copy}>{ "Copy as Markdown" }</button>
                <button onclick={reset}>{ "Reset" }</button>
                <ThemeSwitch />
                <button
                    onclick={page.on(|| Action::OpenDialog(Dialog::Help))}
                    aria-label="Help"
                    title="Help (?)"
                >
                    { "?" }
                </button>
            </div>
        </header>
    }
}
