//! Links that hold all inputs of a page.
//!
//! A link ends in `#`, the area, and the compressed inputs behind `1.`; the first area has no name.
//! Browsers send nothing behind `#` to a server.

use crate::answer::ENGINE;
use crate::areas::Area;
use crate::browser;
use crate::content::Content;
use crate::notice::Notice;
use crate::page::{Page, use_page};
use crate::saved::SavedInputs;
use crate::state::Dialog;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// The only form of links.
const FORM: &str = "1.";

/// Maximum length of a link, in characters. Chats and trackers cut longer ones.
const LINK_LIMIT: usize = 32_000;

/// Maximum size of the inputs in a link, in bytes before compression.
const INPUTS_LIMIT: u32 = 8 << 20;

/// The name of the engine's version in a link.
const ENGINE_NAME: &str = "engine";

/// Returns the part of the address that holds inputs, if it has one.
fn fragment(hash: &str) -> Option<&str> {
    let rest = hash.strip_prefix('#')?;
    let rest = rest.strip_prefix(Area::of(hash).name())?;
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    (!rest.is_empty()).then_some(rest)
}

/// Reads the inputs of a link.
async fn unpack<C: Content>(fragment: &str) -> Result<SavedInputs, String> {
    let Some(packed) = fragment.strip_prefix(FORM) else {
        return Err("its format is unknown".to_owned());
    };
    read::<C>(&browser::decompress(packed, INPUTS_LIMIT).await?)
}

fn read<C: Content>(json: &str) -> Result<SavedInputs, String> {
    let saved = SavedInputs::read::<C>(json)?;
    let named = !saved.field(ENGINE_NAME).is_empty();
    named
        .then(|| saved.as_work())
        .ok_or_else(|| "it names no engine".to_owned())
}

/// Returns a link to this page that holds the inputs, or the reason why it can't be made.
pub(crate) async fn link(saved: SavedInputs, area: Area) -> Result<String, String> {
    let mut saved = saved.as_work();
    saved.set(ENGINE_NAME, ENGINE.to_owned());
    let packed = browser::compress(&saved.to_json()).await?;
    let name = match area.name() {
        "" => String::new(),
        name => format!("{name}."),
    };
    let link = format!("{}#{name}{FORM}{packed}", browser::address());
    if link.len() > LINK_LIMIT {
        return Err(format!(
            "the link would have {} characters, and many programs cut links after {LINK_LIMIT}; \
             send the files instead",
            link.len()
        ));
    }
    Ok(link)
}

/// Opens the inputs of the last visit or of the first example, and the link in the address.
pub(crate) fn open<C: Content>(page: &Page<C>) {
    let page = page.clone();
    spawn_local(async move {
        let kept = page.keeping.claim().await;
        match &kept {
            Some(kept) => kept.load(&page),
            None => page.load_first(),
        }
        arrive(page, kept.unwrap_or_default()).await;
    });
}

/// Opens the link that has come into the address of a page.
pub(crate) fn follow<C: Content>(page: &Page<C>) {
    if C::layout(Area::current()).is_some() {
        spawn_local(arrive(page.clone(), SavedInputs::of(page)));
    }
}

/// Opens the link in the address, if there is one. It asks before it replaces the user's inputs.
async fn arrive<C: Content>(page: Page<C>, present: SavedInputs) {
    let hash = browser::hash();
    let Some(fragment) = fragment(&hash) else {
        return;
    };
    // The address does not follow later edits.
    browser::replace_hash(Area::of(&hash).hash());
    match unpack::<C>(fragment).await {
        Ok(saved) if present.is_of_examples::<C>() => open_link(&page, &saved),
        Ok(saved) if present.is_same::<C>(&saved) => {}
        Ok(saved) => {
            let title = present.title::<C>();
            let body = html! { <Question<C> saved={Rc::new(saved)} {title} /> };
            page.update(|state| {
                state.dialog = Some(Dialog {
                    title: "Open the link?",
                    body,
                });
            });
        }
        Err(reason) => page.notify(Notice::alarm(format!("The link can't be opened: {reason}"))),
    }
}

/// Replaces the inputs of a page by those of a link.
fn open_link<C: Content>(page: &Page<C>, saved: &SavedInputs) {
    let before = page.keeping.set_aside(page);
    saved.load(page);
    let engine = saved.field(ENGINE_NAME);
    page.notify(match engine == ENGINE {
        true => Notice::replaced("Opened the link", before),
        false => Notice {
            alarming: true,
            ..Notice::replaced(
                format!(
                    "Engine {engine} made the link, and this is {ENGINE}: the answer may differ"
                ),
                before,
            )
        },
    });
}

#[derive(Properties, PartialEq)]
struct QuestionProps {
    /// The inputs of the link.
    saved: Rc<SavedInputs>,
    /// The title of the present inputs.
    title: String,
}

/// The question whether a link may replace inputs.
#[component]
fn Question<C: Content>(props: &QuestionProps) -> Html {
    let page = use_page::<C>();
    let saved = Rc::clone(&props.saved);
    let open = page.callback(move |page, _| {
        page.update(|state| state.dialog = None);
        open_link(page, &saved);
    });
    html! {
        <>
            <dl class="compared">
                <dt>{ "The link" }</dt>
                <dd><code><bdi>{ props.saved.title::<C>() }</bdi></code></dd>
                <dt>{ "Your inputs" }</dt>
                <dd><code><bdi>{ &props.title }</bdi></code></dd>
            </dl>
            <p class="choices">
                <button onclick={open}>{ "Open, and keep your inputs under Recent" }</button>
                <button onclick={page.on(|state| state.dialog = None)}>
                    { "Stay with your inputs" }
                </button>
            </p>
        </>
    }
}
