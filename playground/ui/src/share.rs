//! The dialog with a link that holds all inputs.

use crate::content::Content;
use crate::link::link;
use crate::names::document_name;
use crate::page::use_page;
use crate::saved::SavedInputs;
use crate::state::Dialog;
use agent_answer::secrets;
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// Returns the dialog with a link.
pub(crate) fn share<C: Content>() -> Dialog {
    Dialog {
        title: "Share",
        body: html! { <Share<C> /> },
    }
}

/// Returns warnings about texts that look like secrets.
fn warnings<C: Content>(saved: &SavedInputs) -> Vec<String> {
    let in_document = |kind| {
        let text = saved.text(kind);
        secrets(text).into_iter().map(move |secret| {
            let before = text.bytes().take(secret.span.start as usize);
            let line = 1 + before.filter(|byte| *byte == b'\n').count();
            let name = document_name(kind);
            format!("{name}, line {line}: looks like {}", secret.kind)
        })
    };
    C::kinds().flat_map(in_document).collect()
}

/// The content of the dialog.
#[component]
fn Share<C: Content>() -> Html {
    let page = use_page::<C>();
    let made = use_state(|| None);
    let saved = use_memo((), |()| {
        let mut saved = SavedInputs::of(&page);
        for (name, value) in page.content().views() {
            saved.set(name, value);
        }
        saved
    });
    let warnings = use_memo((), |()| warnings::<C>(&saved));
    {
        let (made, area) = (made.setter(), page.state.area);
        use_effect_with((), move |()| {
            spawn_local(async move { made.set(Some(link((*saved).clone(), area).await)) });
        });
    }
    let result = match &*made {
        None => html! { <p class="quiet">{ "…" }</p> },
        Some(Err(reason)) => {
            html! { <p class="alarming" role="alert">{ format!("There is no link: {reason}.") }</p> }
        }
        Some(Ok(link)) => {
            let copied = link.clone();
            let copy = page.callback(move |page, _| {
                page.update(|state| state.dialog = None);
                page.copy("the link", copied.clone());
            });
            let select = |event: FocusEvent| {
                if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                    input.select();
                }
            };
            html! {
                <div class="link">
                    <input readonly=true value={link.clone()} aria-label="Link" onfocus={select} />
                    <button onclick={copy}>{ "Copy" }</button>
                </div>
            }
        }
    };
    html! {
        <>
            <p>
                { "The link holds the inputs themselves. No server stores them; everyone with the \
                  link has the inputs." }
            </p>
            if !warnings.is_empty() {
                <div class="alarming" role="alert">
                    <p>{ "Check these lines before you share them:" }</p>
                    <ul>{ for warnings.iter().map(|warning| html! { <li>{ warning }</li> }) }</ul>
                </div>
            }
            { result }
        </>
    }
}
