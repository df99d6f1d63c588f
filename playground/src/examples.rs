//! The examples, each of which shows another code.

use crate::inputs::Texts;
use crate::page::use_page;
use crate::state::{Action, Notice};
use yew::prelude::*;

/// An example.
pub(crate) struct Example {
    /// The name of its folder.
    pub(crate) name: &'static str,
    /// What it shows, in a few words.
    pub(crate) title: &'static str,
    /// The code that it shows. Empty: all is well.
    pub(crate) code: &'static str,
    manifest: &'static str,
    index: &'static str,
    lock: &'static str,
}

impl Example {
    pub(crate) fn texts(&self) -> Texts {
        Texts {
            manifest: self.manifest.to_owned(),
            index: self.index.to_owned(),
            lock: self.lock.to_owned(),
        }
    }
}

/// What the first visit shows: the example of the command line's demo.
pub(crate) const HELLO: Example = Example {
    name: "hello-agent",
    title: "Two requirements, both with a server",
    code: "",
    manifest: include_str!("../../examples/hello-agent/agents.md"),
    index: include_str!("../../examples/hello-agent/mcp.index.json"),
    lock: "",
};

/// All others.
pub(crate) const EXAMPLES: [Example; 0] = [];

/// The gallery.
#[component]
pub(crate) fn Examples() -> Html {
    let page = use_page();
    let items = [&HELLO].into_iter().chain(&EXAMPLES).map(|example| {
        let page = page.clone();
        let open = Callback::from(move |_: MouseEvent| {
            example.texts().put(&page);
            page.dispatch(Action::CloseDialog);
            page.dispatch(Notice::done(format!("Opened the example {}", example.name)));
        });
        html! {
            <li>
                <button class="example" onclick={open}>
                    <strong>{ example.title }</strong>
                    <span class="code">
                        { if example.code.is_empty() { "✓" } else { example.code } }
                    </span>
                </button>
            </li>
        }
    });
    html! { <ul class="gallery">{ for items }</ul> }
}
