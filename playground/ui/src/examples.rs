//! The gallery of examples.

use crate::areas::Area;
use crate::content::Content;
use crate::example::Example;
use crate::notice::Notice;
use crate::page::Page;
use crate::state::Dialog;
use yew::prelude::*;

/// Returns the dialog with the examples. Those of the visible area are first.
pub(crate) fn examples<C: Content>(page: &Page<C>) -> Dialog {
    let mut galleries = C::GALLERIES.to_vec();
    galleries.sort_by_key(|(area, ..)| *area != page.state.area);
    let several = galleries.len() > 1;
    let body = galleries.into_iter().map(|(area, title, examples)| {
        html! {
            <>
                if several { <h3>{ title }</h3> }
                <ul class="gallery">{ for examples.iter().map(|it| item(page, area, it)) }</ul>
            </>
        }
    });
    Dialog {
        title: "Examples",
        body: body.collect(),
    }
}

fn item<C: Content>(page: &Page<C>, area: Area, example: &'static Example) -> Html {
    let open = page.callback(move |page, _| {
        let before = page.keeping.set_aside(page);
        let kinds = C::kinds().filter(|kind| C::shows(area, *kind));
        page.load(kinds, |kind| example.text(kind, C::BASIS));
        page.update(|state| state.dialog = None);
        area.open();
        let text = format!("Opened the example “{}”", example.title);
        page.notify(Notice::replaced(text, before));
    });
    html! {
        <li>
            <button class="example" onclick={open}>
                <strong>{ example.title }</strong>
                <span class="code">
                    { if example.code.is_empty() { "✓" } else { example.code } }
                </span>
            </button>
        </li>
    }
}
