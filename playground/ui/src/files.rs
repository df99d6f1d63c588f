//! Files that the user opens.

use crate::browser;
use crate::content::Content;
use crate::names::document_name;
use crate::notice::{Notice, Undo};
use crate::page::Page;
use wasm_bindgen_futures::spawn_local;
use web_sys::{DragEvent, FileList, HtmlInputElement};
use yew::prelude::*;

/// Maximum size of a file, in bytes.
const FILE_LIMIT: u32 = 64 << 20;

/// Reads files into editors. Their names select the documents.
pub(crate) fn open_files<C: Content>(page: &Page<C>, files: FileList) {
    let page = page.clone();
    spawn_local(async move {
        let area = page.state.area;
        let mut opened = Vec::new();
        let mut refused = Vec::new();
        for file in browser::read_files(&files, FILE_LIMIT).await {
            let kind = C::document_of(area, &file.name.to_ascii_lowercase());
            let text = file.text.as_ref().ok();
            let diverted = text.and_then(|text| page.divert(kind, text));
            match (diverted.or(kind), file.text) {
                (_, Err(reason)) => refused.push(format!("{}: {reason}", file.name)),
                (Some(kind), Ok(text)) => {
                    if diverted.is_none() {
                        page.editors.replace(kind, &text);
                    }
                    opened.push(kind);
                }
                (None, _) => refused.push(format!(
                    "{}: unknown file name; use a name such as {}",
                    file.name,
                    C::FILE_NAMES
                )),
            }
        }
        if let Some(first) = opened.first()
            && !opened.iter().any(|kind| C::shows(area, *kind))
            && let Some((area, _)) = C::LAYOUTS.iter().find(|(it, _)| C::shows(*it, *first))
        {
            area.open();
        }
        let shown = opened.clone();
        page.update(|state| shown.into_iter().for_each(|kind| state.show_input(kind)));
        let names: Vec<_> = opened.iter().map(|kind| document_name(*kind)).collect();
        page.notify(if refused.is_empty() {
            Notice {
                undo: Undo::Steps(opened),
                ..Notice::done(format!("Opened {}", names.join(", ")))
            }
        } else {
            Notice::alarm(format!("Not opened: {}", refused.join("; ")))
        });
    });
}

/// Downloads all documents that have a text as one archive.
pub(crate) fn download_all<C: Content>(page: &Page<C>) {
    let texts = C::kinds().map(|kind| (document_name(kind), page.editors.text(kind).into()));
    let texts: Vec<_> = texts.collect();
    browser::download_all("agent-documents.tar", &browser::object(&texts));
}

/// Returns a callback for files that are dropped on an element.
pub(crate) fn on_drop(on_files: Callback<FileList>) -> Callback<DragEvent> {
    Callback::from(move |event: DragEvent| {
        let files = event.data_transfer().and_then(|data| data.files());
        if let Some(files) = files.filter(|files| files.length() > 0) {
            event.prevent_default();
            on_files.emit(files);
        }
    })
}

#[derive(Properties, PartialEq)]
pub(crate) struct OpenProps {
    /// The file name extensions that are offered, separated by commas.
    pub(crate) accept: AttrValue,
    pub(crate) on_files: Callback<FileList>,
}

/// A button that opens files.
#[component]
pub(crate) fn Open(props: &OpenProps) -> Html {
    let picker = use_node_ref();
    let pick = {
        let picker = picker.clone();
        move |_| {
            if let Some(input) = picker.cast::<HtmlInputElement>() {
                input.click();
            }
        }
    };
    let on_files = props.on_files.clone();
    let picked = move |event: Event| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        if let Some(files) = input.and_then(|input| input.files()) {
            on_files.emit(files);
        }
    };
    html! {
        <>
            <button onclick={pick}>{ "Open…" }</button>
            <input
                type="file"
                multiple=true
                accept={props.accept.clone()}
                class="hidden"
                aria-label="Files"
                ref={picker}
                onchange={picked}
            />
        </>
    }
}
