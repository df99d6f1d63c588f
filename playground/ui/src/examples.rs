//! The gallery of examples.

use crate::areas::Area;
use crate::content::Content;
use crate::example::Example;
use crate::notice::Notice;
use crate::page::Page;
use crate::problems::prose;
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
    let onclick = page.callback(move |page, _| {
        open_example(page, area, example);
        page.update(|state| state.dialog = None);
    });
    html! {
        <li>
            <button class="example" {onclick} title={example.shows}>
                <strong>{ example.title }</strong>
                <span class="code">
                    { if example.code.is_empty() { "✓" } else { example.code } }
                </span>
            </button>
        </li>
    }
}

/// Opens an example, with the document that matters in front.
fn open_example<C: Content>(page: &Page<C>, area: Area, example: &'static Example) {
    let before = page.keeping.set_aside(page);
    let kinds = C::kinds().filter(|kind| C::shows(area, *kind));
    page.load(kinds, |kind| example.text(kind, C::BASIS));
    area.open();
    page.update(move |state| {
        state.show_area(area);
        let visible = state.layout().0;
        state.bring_inputs(&[example.document(visible)]);
        state.example = Some(example);
    });
    let text = format!("Opened the example “{}”", example.title);
    page.notify(Notice::replaced(text, before));
}

/// Shows what the visible area is for, and a button that makes its answer a no.
pub(crate) fn introduction<C: Content>(page: &Page<C>) -> Html {
    let area = page.state.area;
    let introduction = C::INTRODUCTIONS.iter().find(|(each, _)| *each == area);
    let gallery = C::GALLERIES.iter().find(|(each, ..)| *each == area);
    let mut examples = gallery.into_iter().flat_map(|(.., examples)| *examples);
    let failing = examples.find(|example| !example.code.is_empty());
    let fail = failing.map(|example| {
        let onclick = page.callback(move |page, _| open_example(page, area, example));
        html! { <button {onclick} title={example.title}>{ "Try: make it fail" }</button> }
    });
    html! {
        <p class="introduction">
            <span>{ for introduction.map(|(_, text)| prose(text)) }</span>
            { fail }
        </p>
    }
}

/// Shows what the open example shows, until one of its texts is edited.
pub fn shown_example<C: Content>(page: &Page<C>) -> Html {
    html! {
        if let Some(example) = page.state.example {
            <p class="shown-example">
                <strong>{ example.title }</strong>{ ". " }{ example.shows }
            </p>
        }
    }
}
