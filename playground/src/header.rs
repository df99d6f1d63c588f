//! The head of the page: what can be done with all of it.

use crate::examples::HELLO;
use crate::files::copy_text;
use crate::inputs::{self, Texts};
use crate::markdown;
use crate::page::use_page;
use crate::state::{Action, Dialog};
use agent_ui::areas::Areas;
use agent_ui::files::Open;
use agent_ui::notice::Notice;
use agent_ui::theme::ThemeSwitch;
use yew::prelude::*;

#[component]
pub(crate) fn Header() -> Html {
    let page = use_page();
    let on_files = {
        let page = page.clone();
        Callback::from(move |files| inputs::take_files(page.clone(), files))
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
            <Areas />
            <div class="actions" role="toolbar" aria-label="The whole page">
                <button onclick={page.on(|| Action::OpenDialog(Dialog::Examples))}>{ "Examples" }</button>
                <Open accept=".md,.markdown,.json,.lock,.yaml,.yml,.rego" {on_files} />
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
