//! What lies over the page.

use web_sys::HtmlDialogElement;
use yew::prelude::*;

/// What a dialog needs.
#[derive(Properties, PartialEq)]
pub struct ModalProps {
    /// Its heading.
    pub title: AttrValue,
    /// Called when it is closed, by whatever means.
    pub on_close: Callback<()>,
    /// What it shows.
    pub children: Html,
}

/// A dialog of the browser's own, which keeps the keyboard inside and gives it back afterwards.
#[component]
pub fn Modal(props: &ModalProps) -> Html {
    let dialog = use_node_ref();
    {
        let dialog = dialog.clone();
        use_effect_with((), move |()| {
            if let Some(dialog) = dialog.cast::<HtmlDialogElement>() {
                // It fails only if it is open already.
                let _ = dialog.show_modal();
            }
        });
    }
    html! {
        <dialog
            ref={dialog}
            aria-labelledby="dialog-title"
            onclose={props.on_close.reform(|_: Event| ())}
        >
            <header>
                <h2 id="dialog-title">{ &props.title }</h2>
                <button
                    class="close"
                    onclick={props.on_close.reform(|_: MouseEvent| ())}
                    aria-label="Close"
                >
                    { "×" }
                </button>
            </header>
            { props.children.clone() }
        </dialog>
    }
}
