//! The head of the page: what can be done with all of it.

use crate::browser;
use crate::examples::HELLO;
use crate::files::copy_text;
use crate::inputs::{self, Texts};
use crate::markdown;
use crate::page::use_page;
use crate::state::{Action, Dialog, Notice};
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// The name under which the theme is kept.
const THEME: &str = "agent-playground/theme";

/// The themes, in the order in which the switch goes through them.
const THEMES: [&str; 3] = ["system", "light", "dark"];

/// Shows the page in a theme. The style sheet knows the names.
fn show_theme(theme: &str) {
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.document_element());
    if let Some(root) = root {
        // An attribute name that is none can't be set; this one is one.
        let _ = root.set_attribute("data-theme", theme);
    }
}

#[component]
pub(crate) fn Header() -> Html {
    let page = use_page();
    let theme = use_state(|| {
        let kept = browser::load(THEME);
        let known = THEMES
            .into_iter()
            .find(|theme| kept.as_deref() == Some(theme));
        known.unwrap_or(THEMES[0])
    });
    use_effect_with(*theme, |theme| show_theme(theme));
    let next_theme = {
        let theme = theme.clone();
        Callback::from(move |_: MouseEvent| {
            let at = THEMES.iter().position(|name| *name == *theme).unwrap_or(0);
            let next = THEMES[(at + 1) % THEMES.len()];
            // If it can't be kept, it holds for this visit.
            browser::store(THEME, next);
            theme.set(next);
        })
    };
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
                <button onclick={next_theme} aria-label={format!("Theme: {}", *theme)} title="Theme">
                    { match *theme { "light" => "☀", "dark" => "☾", _ => "◐" } }
                </button>
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
