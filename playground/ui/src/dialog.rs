//! Dialogs over the page, and the notice.

use crate::browser::focus_in;
use crate::content::Content;
use crate::notice::Undo;
use crate::page::Page;
use crate::problems::prose;
use crate::state::Dialog;
use web_sys::{Element, HtmlDialogElement};
use yew::prelude::*;

/// Shows the dialog that is open.
pub(crate) fn dialogs<C: Content>(page: &Page<C>) -> Html {
    let on_close = page.on(|state| state.dialog = None);
    let dialog = page.state.dialog.clone().map(|Dialog { title, body }| {
        html! { <Modal key={title} {title} {on_close}>{ body }</Modal> }
    });
    html! { { for dialog } }
}

/// Shows the notice of a page, in a separate row: it covers nothing.
pub(crate) fn notice<C: Content>(page: &Page<C>) -> Html {
    let notice = page.state.notice.as_ref().map(|notice| {
        let change = notice.undo.clone();
        let undo = page.callback(move |page, event: MouseEvent| {
            page.undo(&change);
            // The button goes. The keyboard stays where the fix was.
            if event.detail() == 0
                && let Some(button) = event.target_dyn_into::<Element>()
                && let Ok(Some(page)) = button.closest(".page")
            {
                focus_in(&page, ".panel");
            }
        });
        html! {
            <p class={classes!("notice", notice.alarming.then_some("alarming"))}>
                <span>{ prose(&notice.text) }</span>
                if notice.undo != Undo::Nothing {
                    <button onclick={undo}>{ "Undo" }</button>
                }
                { close("Close", page.on(|state| state.notice = None)) }
            </p>
        }
    });
    html! { <div class="notices" role="status" aria-live="polite">{ notice }</div> }
}

#[derive(Properties, PartialEq)]
struct ModalProps {
    title: AttrValue,
    on_close: Callback<()>,
    children: Html,
}

/// A dialog of the browser, which keeps the keyboard inside and returns it afterwards.
#[component]
fn Modal(props: &ModalProps) -> Html {
    let dialog = use_node_ref();
    {
        let dialog = dialog.clone();
        use_effect_with((), move |()| {
            if let Some(dialog) = dialog.cast::<HtmlDialogElement>() {
                // This fails only if it is open already.
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
                { close("Close", props.on_close.reform(|_| ())) }
            </header>
            { props.children.clone() }
        </dialog>
    }
}

/// Shows a button that closes something.
pub fn close(label: &'static str, onclick: Callback<MouseEvent>) -> Html {
    html! { <button class="close" {onclick} aria-label={label}>{ "×" }</button> }
}

/// Keyboard shortcuts of every page, and what each does.
const KEYS: [(&str, &str); 4] = [
    ("?", "this help"),
    ("Tab, Shift Tab", "next or previous, also from an editor"),
    ("F8 in an editor", "next problem"),
    ("Ctrl Z, Ctrl F in an editor", "undo, search"),
];

/// Returns the help dialog.
pub(crate) fn help<C: Content>() -> Dialog {
    let keys = KEYS.iter().chain(C::KEYS);
    let keys = keys.map(|(key, does)| {
        html! { <><dt><kbd>{ *key }</kbd></dt><dd>{ *does }</dd></> }
    });
    let body = html! {
        <>
            { C::help() }
            <p>
                { "Nothing leaves your browser: there is no server behind this page. The browser keeps \
                   your inputs and the last ten before them, under “Recent”, until you delete them there." }
            </p>
            <h3>{ "Keys" }</h3>
            <dl class="keys">{ for keys }</dl>
        </>
    };
    Dialog {
        title: "Help",
        body,
    }
}
