//! The head of a page: the areas, and buttons that concern the whole page.

use crate::areas::Areas;
use crate::content::Content;
use crate::dialog::help;
use crate::examples::examples;
use crate::files::{Open, open_files};
use crate::notice::Notice;
use crate::page::Page;
use crate::theme::ThemeSwitch;
use yew::prelude::*;

/// Shows the head.
pub(crate) fn header<C: Content>(page: &Page<C>) -> Html {
    let reset = page.callback(|page, _| {
        page.load(C::kinds(), C::first_text);
        C::forget();
        page.notify(Notice::done("Reset to the first example"));
    });
    let examples = page.callback(|page, _| {
        let dialog = examples(page);
        page.update(|state| state.dialog = Some(dialog));
    });
    html! {
        <header class="head">
            <h1>{ "agent" }<span>{ " playground" }</span></h1>
            <Areas />
            <div class="actions" role="toolbar" aria-label="The whole page">
                <button onclick={examples}>{ "Examples" }</button>
                <Open accept={C::EXTENSIONS} on_files={page.callback(open_files)} />
                { C::toolbar(page) }
                <button onclick={reset}>{ "Reset" }</button>
                <ThemeSwitch />
                <button
                    onclick={page.on(|state| state.dialog = Some(help::<C>()))}
                    aria-label="Help"
                    title="Help (?)"
                >
                    { "?" }
                </button>
            </div>
        </header>
    }
}
