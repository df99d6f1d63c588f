//! The head of the page: the areas, and what can be done with all of it.

use crate::actor::use_page;
use crate::examples::BASIS;
use crate::inputs::{self, INPUTS, text_of};
use crate::state::{Action, Dialog};
use agent_ui::areas::Areas;
use agent_ui::files::Open;
use agent_ui::notice::Notice;
use agent_ui::theme::ThemeSwitch;
use yew::prelude::*;

#[component]
pub(crate) fn Head() -> Html {
    let page = use_page();
    let on_files = {
        let page = page.clone();
        Callback::from(move |files| inputs::take_files(page.clone(), files))
    };
    let reset = {
        let page = page.clone();
        Callback::from(move |_: MouseEvent| {
            inputs::put(&page, INPUTS.to_vec(), |source| text_of(BASIS, source));
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
                <Open accept=".json,.lock" {on_files} />
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
