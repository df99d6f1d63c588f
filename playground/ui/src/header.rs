//! The head of a page: the areas, and buttons that concern the whole page.

use crate::areas::Areas;
use crate::content::Content;
use crate::dialog::help;
use crate::editor::WrappingSwitch;
use crate::examples::{examples, load_first};
use crate::files::{Open, download_all, open_files};
use crate::menu::Menu;
use crate::notice::Notice;
use crate::page::Page;
use crate::recent::recent;
use crate::share::share;
use crate::theme::ThemeSwitch;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Shows the head.
pub(crate) fn header<C: Content>(page: &Page<C>) -> Html {
    let reset = page.callback(|page, _| {
        let before = page.keeping.set_aside(page);
        let page = page.clone();
        spawn_local(async move {
            load_first(&page).await;
            page.notify(Notice::replaced("Reset to the first example", before));
        });
    });
    let examples = page.callback(|page, _| {
        let dialog = examples(page);
        page.update(|state| state.dialog = Some(dialog));
    });
    let recent = page.on(|state| state.dialog = Some(recent::<C>()));
    let share = page.on(|state| state.dialog = Some(share::<C>()));
    html! {
        <header class="head">
            <div>
                <h1>{ "agent" }<span>{ " playground" }</span></h1>
                <p class="purpose">{ "What may an AI agent use and do, and why?" }</p>
            </div>
            <Areas />
            <div class="actions" role="toolbar" aria-label="The whole page">
                <button onclick={examples}>{ "Examples" }</button>
                <button class="share" onclick={share}>{ "Share" }</button>
                <Menu>
                    <button onclick={recent}>{ "Recent" }</button>
                    <Open accept={C::EXTENSIONS} on_files={page.callback(open_files)} />
                    <button onclick={page.callback(|page, _| download_all(page))}>{ "Download all" }</button>
                    { C::toolbar(page) }
                    <button onclick={reset}>{ "Reset" }</button>
                    <WrappingSwitch kind={page.state.layout().0} in_words=true />
                    <ThemeSwitch />
                    <button onclick={page.on(|state| state.dialog = Some(help::<C>()))} title="Help (?)">
                        { "Help" }
                    </button>
                </Menu>
            </div>
        </header>
    }
}
