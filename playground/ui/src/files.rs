//! Files that a person brings.

use crate::browser;
use crate::editor::{Editors, file_name};
use crate::notice::Notice;
use agent_protocol::DocumentKind;
use web_sys::{DragEvent, FileList, HtmlInputElement};
use yew::prelude::*;

/// The largest file that is taken, in bytes.
const FILE_LIMIT: u32 = 64 << 20;

/// What became of files.
pub struct Taken {
    /// The inputs that are in the editors now, as steps that can be undone.
    pub sources: Vec<DocumentKind>,
    /// What is to be said of it.
    pub notice: Notice,
}

/// Reads files into the editors, each into the one that its name tells. `known` says which names do.
pub async fn take(
    files: &FileList,
    editors: &Editors,
    source_of: impl Fn(&str) -> Option<DocumentKind>,
    known: &str,
) -> Taken {
    let mut taken = Vec::new();
    let mut refused = Vec::new();
    for file in browser::read_files(files, FILE_LIMIT).await {
        match (source_of(&file.name), file.text) {
            (Some(source), Some(text)) => {
                editors.replace(source, &text);
                taken.push(source);
            }
            (None, _) => refused.push(format!(
                "{}: its name tells none of the inputs, such as {known}",
                file.name
            )),
            (_, None) => refused.push(format!("{}: more than {} MB", file.name, FILE_LIMIT >> 20)),
        }
    }
    let names: Vec<_> = taken.iter().map(|source| file_name(*source)).collect();
    Taken {
        notice: if refused.is_empty() {
            Notice {
                undo: taken.clone(),
                ..Notice::done(format!("Opened {}", names.join(", ")))
            }
        } else {
            Notice::alarm(format!("Not opened: {}", refused.join("; ")))
        },
        sources: taken,
    }
}

/// What is to be done with files that are dropped on an element.
pub fn on_drop(on_files: Callback<FileList>) -> Callback<DragEvent> {
    Callback::from(move |event: DragEvent| {
        let files = event.data_transfer().and_then(|data| data.files());
        if let Some(files) = files.filter(|files| files.length() > 0) {
            event.prevent_default();
            on_files.emit(files);
        }
    })
}

/// What a button that opens files needs.
#[derive(Properties, PartialEq)]
pub struct OpenProps {
    /// The ends of names that are offered, with commas between them.
    pub accept: AttrValue,
    /// Called with the files.
    pub on_files: Callback<FileList>,
}

/// A button that opens files.
#[component]
pub fn Open(props: &OpenProps) -> Html {
    let picker = use_node_ref();
    let pick = {
        let picker = picker.clone();
        Callback::from(move |_: MouseEvent| {
            if let Some(input) = picker.cast::<HtmlInputElement>() {
                input.click();
            }
        })
    };
    let on_files = props.on_files.clone();
    let picked = Callback::from(move |event: Event| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        if let Some(files) = input.as_ref().and_then(HtmlInputElement::files) {
            on_files.emit(files);
        }
    });
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
