//! What lies over the page: examples, sharing, help, and notices.

use crate::examples::Examples;
use crate::page::use_page;
use crate::problems::prose;
use crate::share::Share;
use crate::state::{Action, Dialog};
use std::rc::Rc;
use web_sys::HtmlDialogElement;
use yew::prelude::*;

/// The dialog that is open, and the notice.
#[component]
pub(crate) fn Dialogs() -> Html {
    let page = use_page();
    let open = match page.state.dialog {
        None => html! {},
        Some(Dialog::Examples) => html! { <Modal title="Examples"><Examples /></Modal> },
        Some(Dialog::Share) => html! { <Modal title="Share"><Share /></Modal> },
        Some(Dialog::Help) => html! { <Modal title="Help"><Help /></Modal> },
    };
    html! { <>{ open }<Notice /></> }
}

#[derive(Properties, PartialEq)]
struct ModalProps {
    title: AttrValue,
    children: Html,
}

/// A dialog of the browser's own, which keeps the keyboard inside and gives it back afterwards.
#[component]
fn Modal(props: &ModalProps) -> Html {
    let page = use_page();
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
        <dialog ref={dialog} aria-labelledby="dialog-title" onclose={page.on(|| Action::CloseDialog)}>
            <header>
                <h2 id="dialog-title">{ &props.title }</h2>
                <button class="close" onclick={page.on(|| Action::CloseDialog)} aria-label="Close">
                    { "×" }
                </button>
            </header>
            { props.children.clone() }
        </dialog>
    }
}

/// The last thing that is to be said.
#[component]
fn Notice() -> Html {
    let page = use_page();
    let notice = page.state.notice.as_ref().map(|notice| {
        let undo = {
            let (page, sources) = (page.clone(), notice.undo.clone());
            Callback::from(move |_: MouseEvent| {
                let editors = Rc::clone(&page.editors);
                for source in &sources {
                    editors.undo(*source);
                }
                page.dispatch(Action::CloseNotice);
            })
        };
        html! {
            <p class={classes!("notice", notice.alarming.then_some("alarming"))}>
                <span>{ prose(&notice.text) }</span>
                if !notice.undo.is_empty() {
                    <button onclick={undo}>{ "Undo" }</button>
                }
                <button class="close" onclick={page.on(|| Action::CloseNotice)} aria-label="Close">
                    { "×" }
                </button>
            </p>
        }
    });
    html! { <div class="notices" role="status" aria-live="polite">{ notice }</div> }
}

/// What can be done here, and with which keys.
const KEYS: [(&str, &str); 9] = [
    ("?", "this help"),
    (
        "Alt 1 … Alt 5",
        "verdict, matrix, what if, lock, explanation",
    ),
    (
        "Tab, Shift Tab",
        "from one thing to the next; editors are left by it, too",
    ),
    ("← → in the tabs", "the tab beside"),
    (
        "← ↑ → ↓ in the matrix",
        "the cell beside; Page Up, Page Down, Home, End",
    ),
    ("Enter on a cell", "its story"),
    ("Escape", "close the story or a dialog"),
    ("F8 in an editor", "the next problem"),
    ("Ctrl Z, Ctrl F in an editor", "undo, search"),
];

#[component]
fn Help() -> Html {
    let keys = KEYS.map(|(key, does)| html! { <><dt><kbd>{ key }</kbd></dt><dd>{ does }</dd></> });
    html! {
        <>
            <p>
                { "An agent says in " }<code>{ "agents.md" }</code>
                { " what it requires; " }<code>{ "mcp.index.json" }</code>
                { " says what servers there are. While you type, the engine decides which server each \
                   requirement gets, and says of every server why or why not." }
            </p>
            <p>
                { "A click on a stage of the funnel lists the servers that it holds back. A click on \
                   the name of a server, or on a cell of the matrix, tells its whole story: every \
                   check, where both values stand, and the smallest change that would make it a yes." }
            </p>
            <p>
                { "Capabilities are required in " }<code>{ "agents.md" }</code>{ " or in a task; the tools of \
                   the servers meet them. A tenant prefers some of them, a snapshot of health and a \
                   policy keep others away. The story of a tool has a switch for the health of its \
                   server." }
            </p>
            <p>
                { "Nothing leaves your browser: there is no server behind this page. The inputs are \
                   kept in this browser until you reset them. A shared link holds them in the part \
                   behind #, which browsers do not send." }
            </p>
            <h3>{ "Keys" }</h3>
            <dl class="keys">{ for keys }</dl>
        </>
    }
}
