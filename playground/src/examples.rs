//! The examples, each of which shows another code.

mod gallery;

use crate::inputs::Texts;
use crate::page::use_page;
use crate::state::Action;
use agent_ui::notice::Notice;
pub(crate) use gallery::HELLO;
use gallery::{EXAMPLES, Example};
use yew::prelude::*;

impl Example {
    pub(crate) fn texts(&self) -> Texts {
        Texts {
            manifest: self.manifest.to_owned(),
            index: self.index.to_owned(),
            lock: self.lock.to_owned(),
            task: self.task.to_owned(),
            tenant: self.tenant.to_owned(),
            tenant_id: String::new(),
            health: self.health.to_owned(),
            policy: self.policy.to_owned(),
            context: String::new(),
        }
    }
}

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
