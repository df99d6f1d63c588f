//! Links that hold all inputs of a page.
//!
//! They have the form that [`link_form`] describes. Browsers send nothing behind `#` to a server.

use crate::answer::ENGINE;
use crate::areas::Area;
use crate::browser;
use crate::content::Content;
use crate::examples::load_first;
use crate::names::document_name;
use crate::notice::Notice;
use crate::page::{Page, use_page};
use crate::saved::SavedInputs;
use crate::state::Dialog;
use crate::words::count;
use agent_answer::link_form::{self, LENGTH_LIMIT, SIZE_LIMIT, VERSION};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Returns the part of the address that holds inputs, if it has one.
fn fragment(hash: &str) -> Option<&str> {
    let rest = hash.strip_prefix('#')?;
    let rest = rest.strip_prefix(Area::of(hash).name())?;
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    (!rest.is_empty()).then_some(rest)
}

/// Reads the inputs of a link.
async fn unpack<C: Content>(fragment: &str) -> Result<SavedInputs, String> {
    let Some(packed) = fragment.strip_prefix(VERSION) else {
        return Err("its format is unknown".to_owned());
    };
    read::<C>(&browser::decompress(packed, SIZE_LIMIT).await?)
}

fn read<C: Content>(json: &str) -> Result<SavedInputs, String> {
    let saved = SavedInputs::read::<C>(json)?;
    let named = !saved.field(link_form::ENGINE).is_empty();
    named
        .then(|| saved.into_work())
        .ok_or_else(|| "it names no engine".to_owned())
}

/// Returns a link to this page that holds the inputs, or the reason why it can't be made.
pub(crate) async fn link(saved: SavedInputs, area: Area) -> Result<String, String> {
    let mut saved = saved.into_work();
    saved.set(link_form::ENGINE, ENGINE.to_owned());
    let packed = browser::compress(&saved.to_json()).await?;
    let name = match area.name() {
        "" => String::new(),
        name => format!("{name}."),
    };
    let link = format!("{}#{name}{VERSION}{packed}", browser::address());
    if link.len() > LENGTH_LIMIT {
        return Err(format!(
            "the link would have {} characters, and many programs cut links after {LENGTH_LIMIT}; \
             send the files instead",
            link.len()
        ));
    }
    Ok(link)
}

/// Opens the inputs of the last visit or of the first example, the link in the address, and the views that the address
/// names behind `?`.
pub(crate) fn open<C: Content>(page: &Page<C>) {
    let page = page.clone();
    spawn_local(async move {
        let kept = page.keeping.claim().await;
        match &kept {
            Some(kept) => kept.load(&page),
            None => load_first(&page).await,
        }
        arrive(page.clone(), kept.unwrap_or_default()).await;
        page.update(|state| C::show(state, &browser::parameter));
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
            let (saved, present) = (Rc::new(saved), Rc::new(present));
            let body = html! { <Question<C> {saved} {present} /> };
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
    let engine = saved.field(link_form::ENGINE);
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
    present: Rc<SavedInputs>,
}

/// The question whether a link may replace inputs, with the documents that differ.
#[component]
fn Question<C: Content>(props: &QuestionProps) -> Html {
    let page = use_page::<C>();
    let saved = Rc::clone(&props.saved);
    let open = page.callback(move |page, _| {
        page.update(|state| state.dialog = None);
        open_link(page, &saved);
    });
    let documents = C::kinds().map(|kind| {
        let texts = [&props.present, &props.saved].map(|it| it.text(kind));
        (document_name(kind), texts)
    });
    let fields = C::FIELDS.iter().map(|name| {
        let texts = [&props.present, &props.saved].map(|it| it.field(name));
        (*name, texts)
    });
    let items = documents.chain(fields).filter_map(|(name, texts)| {
        let how = difference(texts)?;
        Some(html! { <li><code>{ name }</code>{ ": " }<bdi>{ how }</bdi></li> })
    });
    html! {
        <>
            <p>{ "The link and your inputs differ:" }</p>
            <ul class="compared">{ for items }</ul>
            <p class="choices">
                <button class="primary" autofocus=true onclick={open}>
                    { "Open, and keep your inputs under Recent" }
                </button>
                <button onclick={page.on(|state| state.dialog = None)}>
                    { "Stay with your inputs" }
                </button>
            </p>
        </>
    }
}

/// Returns how the text of a link differs from the present one, in a few words; `None` if it does not.
fn difference([present, linked]: [&str; 2]) -> Option<String> {
    if present == linked {
        return None;
    }
    match (present, linked) {
        ("", _) => return Some("only in the link".to_owned()),
        (_, "") => return Some("only in yours".to_owned()),
        _ => {}
    }
    let [mut present, mut linked] = [present, linked].map(|it| it.lines().collect::<Vec<_>>());
    for _ in 0..2 {
        let same = present.iter().zip(&linked).take_while(|(a, b)| a == b);
        let same = same.count();
        for lines in [&mut present, &mut linked] {
            lines.drain(..same);
            // Then from the end.
            lines.reverse();
        }
    }
    let lines = match present.len().max(linked.len()) as u32 {
        0 => "line ends".to_owned(),
        lines => count(lines, "line"),
    };
    let keys = linked.iter().chain(&present).find_map(|line| key(line));
    Some(match keys {
        Some(key) => format!("{lines}, `{key}`"),
        None => lines,
    })
}

/// Returns the key of a line of YAML or JSON.
fn key(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(':')?;
    let key = key.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (!key.is_empty() && key.chars().all(is_part)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_difference_has_its_lines_and_the_first_key() {
        for (texts, expected) in [
            (["a: 1\n", "a: 1\n"], None),
            (["", "a: 1\n"], Some("only in the link")),
            (["a: 1\n", ""], Some("only in yours")),
            (["a: 1\nb: 2\n", "a: 1\nb: 3\n"], Some("1 line, `b`")),
            (["a\nb\nc", "a\n\"x-y\": [\n]\nc"], Some("2 lines, `x-y`")),
            (["a\na\n", "a\n"], Some("1 line")),
            (["a\n", "a"], Some("line ends")),
            (["a", "b (c: d)"], Some("1 line")),
        ] {
            assert_eq!(difference(texts).as_deref(), expected, "{texts:?}");
        }
    }
}
