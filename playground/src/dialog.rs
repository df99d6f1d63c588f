//! What lies over the page: examples, sharing, help, and notices.

use crate::examples::Examples;
use crate::page::use_page;
use crate::share::Share;
use crate::state::{Action, Dialog};
use agent_protocol::DocumentKind;
use agent_ui::dialog::Modal;
use agent_ui::notice::NoticeLine;
use yew::prelude::*;

/// The dialog that is open, and the notice.
#[component]
pub(crate) fn Dialogs() -> Html {
    let page = use_page();
    let dialog = page.state.dialog.as_ref().map(|dialog| {
        let (title, body) = match dialog {
            Dialog::Examples => ("Examples", html! { <Examples /> }),
            Dialog::Share => ("Share", html! { <Share /> }),
            Dialog::Help => ("Help", html! { <Help /> }),
        };
        html! { <Modal key={title} {title} on_close={page.on(|| Action::CloseDialog)}>{ body }</Modal> }
    });
    let on_undo = {
        let page = page.clone();
        Callback::from(move |sources: Vec<DocumentKind>| {
            for source in sources {
                page.editors.undo(source);
            }
            page.dispatch(Action::CloseNotice);
        })
    };
    html! {
        <>
            { dialog }
            <NoticeLine
                notice={page.state.notice.clone()}
                {on_undo}
                on_close={page.on(|| Action::CloseNotice)}
            />
        </>
    }
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
