//! What lies over the page: examples, help, and notices.

use crate::actor::use_page;
use crate::examples::Examples;
use crate::state::{Action, Dialog};
use agent_protocol::DocumentKind;
use agent_ui::dialog::Modal;
use agent_ui::notice::NoticeLine;
use yew::prelude::*;

/// The dialog that is open, and the notice.
#[component]
pub(crate) fn Dialogs() -> Html {
    let page = use_page();
    let dialog = page.state.dialog.map(|dialog| {
        let (title, body) = match dialog {
            Dialog::Examples => ("Examples", html! { <Examples /> }),
            Dialog::Help => ("Help", help()),
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
const KEYS: [(&str, &str); 5] = [
    ("?", "this help"),
    (
        "Tab, Shift Tab",
        "from one thing to the next; editors are left by it, too",
    ),
    ("Enter on a check", "all of it: values, places, changes"),
    ("F8 in an editor", "the next problem"),
    ("Ctrl Z, Ctrl F in an editor", "undo, search"),
];

fn help() -> Html {
    let keys = KEYS.map(|(key, does)| html! { <><dt><kbd>{ key }</kbd></dt><dd>{ does }</dd></> });
    html! {
        <>
            <p>
                { "A planner, usually a language model, answers with a plan. The engine decides whether \
                   it may be carried out, before anything is called, and says everything that speaks \
                   against it." }
            </p>
            <p>
                <strong>{ "Plans" }</strong>
                { " have steps. Each is checked against the tool pool, the instruction profile and what \
                   is locked; what can be known only while it runs is named. " }
                <strong>{ "One call" }</strong>
                { " is a plan that calls one tool of an MCP server, once." }
            </p>
            <p>
                { "A click on a check tells what was compared, where it stands, and the smallest change \
                   that would make it a yes. A change that is marked lets the agent do more." }
            </p>
            <p>
                <strong>{ "Grounding" }</strong>
                { " looks in a payload for the evidence of each claim, character for character. What is \
                   found is marked there; of what is not, what is nearest." }
            </p>
            <p>
                { "Nothing leaves your browser, and nothing is called. The inputs are kept in this \
                   browser until you reset them." }
            </p>
            <h3>{ "Keys" }</h3>
            <dl class="keys">{ for keys }</dl>
        </>
    }
}
