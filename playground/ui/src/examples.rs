//! The gallery of examples.

use crate::answer::Sign;
use crate::areas::Area;
use crate::browser;
use crate::content::{Content, Diversion};
use crate::example::Example;
use crate::notice::Notice;
use crate::page::Page;
use crate::problems::prose;
use crate::saved::SavedInputs;
use crate::state::Dialog;
use crate::tour::tour;
use agent_answer::DocumentKind;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// What is said where the texts of examples can't be had.
pub(crate) const NO_EXAMPLES: &str =
    "The examples can't be loaded now: check the network, and try again";

/// The part of the address that names an example by its folder.
const EXAMPLE: &str = "example";

/// The folder of the first example of all.
const FIRST: &str = "desk-assistant";

/// Returns the texts of the first example of all for these documents of another page, if they can be had.
pub(crate) async fn first_example(kinds: &[DocumentKind]) -> Option<SavedInputs> {
    let named = browser::parameter(EXAMPLE);
    let folder = if named.is_empty() { FIRST } else { &named };
    let files = browser::example_files(folder).await?;
    let text = |kind: DocumentKind| {
        let file = files.iter().find(|(name, _)| name == kind.usual_name());
        file.map_or_else(String::new, |(_, text)| text.clone())
    };
    Some(SavedInputs::new(kinds.iter().copied(), text))
}

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
        page.update(|state| state.dialog = None);
        open_example(page, area, example);
    });
    let sign = sign(example);
    html! {
        <li>
            <button class="example" {onclick} title={example.shows}>
                <strong>{ example.title }</strong>
                if example.code.is_empty() {
                    <span class="code">{ "✓" }</span>
                } else {
                    <span class={sign.class}>
                        { sign.before(html! { <span class="code">{ example.code }</span> }) }
                    </span>
                }
            </button>
        </li>
    }
}

/// Returns the sign of an example's answer. A rule that breaks a tie is no problem.
fn sign(example: &Example) -> Sign {
    let is_yes = matches!(example.code, "" | "signed" | "version");
    Sign::of(is_yes, "yes", "no")
}

/// Loads the example that the address names, or else the first one, which waits for nothing.
pub(crate) async fn load_first<C: Content>(page: &Page<C>) {
    let folder = browser::parameter(EXAMPLE);
    let mut examples = C::GALLERIES.iter().flat_map(|(.., examples)| *examples);
    let named = examples.find(|it| it.folder == folder);
    if let Some(example) = named.or_else(|| C::first_example()) {
        load(page, example, None).await;
    }
}

/// Opens an example, with the document that matters in front.
fn open_example<C: Content>(page: &Page<C>, area: Area, example: &'static Example) {
    let page = page.clone();
    spawn_local(async move { load(&page, example, Some(area)).await });
}

/// Loads the texts of an example as soon as they are here: those of an area, or of the whole page.
async fn load<C: Content>(page: &Page<C>, example: &'static Example, area: Option<Area>) {
    let files = match example.folder {
        "" => Some(Vec::new()),
        folder => browser::example_files(folder).await,
    };
    match files {
        Some(files) => show(page, example, area, &files),
        None => page.notify(Notice::alarm(NO_EXAMPLES)),
    }
}

fn show<C: Content>(
    page: &Page<C>,
    example: &'static Example,
    area: Option<Area>,
    files: &[(String, String)],
) {
    let before = area.map(|_| page.keeping.set_aside(page));
    let kinds = C::kinds().filter(|kind| area.is_none_or(|area| C::shows(area, *kind)));
    let file = |name: &str| {
        let found = files.iter().find(|(each, _)| each == name);
        found.map_or("", |(_, text)| &**text)
    };
    page.load(kinds, |kind| example.text(kind, C::BASIS, file));
    page.update(|state| state.untouched = true);
    let Some((area, before)) = area.zip(before) else {
        return;
    };
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
    let paste = C::DIVERSION.map(|Diversion { to, label, .. }| {
        let onclick = page.callback(move |page, _| {
            page.update(move |state| state.show_input(to));
            page.editors.focus_soon(to);
        });
        let class = page.state.untouched.then_some("primary");
        html! { <button {class} {onclick}>{ label }</button> }
    });
    let step = tour(page);
    html! {
        <p class="introduction">
            if step.is_some() && page.state.tour.is_some() {
                { for step }
            } else {
                <span>{ for introduction.map(|(_, text)| prose(text)) }</span>
                { paste }
                { step.unwrap_or_else(|| fail.unwrap_or_default()) }
            }
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
