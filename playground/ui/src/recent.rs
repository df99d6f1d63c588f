//! The inputs of earlier visits and other tabs.

use crate::browser;
use crate::content::Content;
use crate::keeping::{Kept, RECENT, forget, kept, read};
use crate::notice::Notice;
use crate::page::{Page, use_page};
use crate::saved::SavedInputs;
use crate::state::Dialog;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Returns the dialog with the recent inputs.
pub(crate) fn recent<C: Content>() -> Dialog {
    Dialog {
        title: "Recent",
        body: html! { <Recent<C> /> },
    }
}

/// Returns the recent inputs of other tabs and visits, the latest first. Texts of examples, and those
/// that are in the editors, are no news.
async fn recent_inputs<C: Content>(page: &Page<C>) -> Vec<(Kept, SavedInputs)> {
    let mut known = vec![SavedInputs::of(page)];
    let mut found = Vec::new();
    for kept in kept::<C>() {
        let Some(saved) = read::<C>(&kept.id)
            .await
            .filter(|it| !it.is_of_examples::<C>())
        else {
            continue;
        };
        if kept.id != page.keeping.id() && !known.iter().any(|it| it.is_same::<C>(&saved)) {
            known.push(saved.clone());
            found.push((kept, saved));
        }
    }
    found.truncate(RECENT);
    found
}

/// A list of the recent inputs.
#[component]
fn Recent<C: Content>() -> Html {
    let page = use_page::<C>();
    let found = use_state(|| None);
    {
        let (page, found) = (page.clone(), found.setter());
        use_effect_with((), move |()| {
            spawn_local(async move { found.set(Some(recent_inputs(&page).await)) });
        });
    }
    let Some(listed) = &*found else {
        return html! { <p class="quiet">{ "…" }</p> };
    };
    let delete = {
        let (page, found) = (page.clone(), found.setter());
        move |_| {
            let own = page.keeping.id();
            forget::<C>(|id| id != own);
            found.set(Some(Vec::new()));
        }
    };
    let items = listed.iter().map(|(kept, saved)| item(&page, kept, saved));
    html! {
        if listed.is_empty() {
            <p class="quiet">
                { "Inputs that you replace, and those of other tabs, will be listed here." }
            </p>
        } else {
            <ul class="gallery">{ for items }</ul>
            <p class="choices"><button onclick={delete}>{ "Delete all" }</button></p>
        }
    }
}

fn item<C: Content>(page: &Page<C>, kept: &Kept, saved: &SavedInputs) -> Html {
    let inputs = saved.clone();
    let open = page.callback(move |page, _| {
        let before = page.keeping.set_aside(page);
        inputs.load(page);
        inputs.area::<C>().open();
        page.update(|state| state.dialog = None);
        page.notify(Notice::replaced("Opened recent inputs", before));
    });
    html! {
        <li key={kept.id.clone()}>
            <button class="example" onclick={open}>
                <strong><bdi>{ saved.title::<C>() }</bdi></strong>
                <span class="quiet">{ browser::date_and_time(kept.time as f64) }</span>
            </button>
        </li>
    }
}
