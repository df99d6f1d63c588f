//! The foot of the page: what decided.

use crate::page::use_page;
use yew::prelude::*;

/// The SHA-256 of the component that the command line embeds, from the same sources. None in a
/// build that did not make it.
const COMPONENT: Option<&str> = option_env!("AGENT_COMPONENT_SHA256");

#[component]
pub(crate) fn Footer() -> Html {
    let page = use_page();
    let tenths = (page.state.milliseconds * 10.0 + 0.5) as u32;
    let time = format!("decided in {}.{} ms", tenths / 10, tenths % 10);
    html! {
        <footer class="foot">
            <span>{ format!("engine {}", page.state.about.version) }</span>
            if page.state.milliseconds > 0.0 {
                <span class="time">{ time }</span>
            }
            if let Some(digest) = COMPONENT {
                <span class="digest" title="SHA-256 of the component that the command line embeds">
                    { "component sha256 " }<code>{ digest }</code>
                </span>
            }
            <a href="https://github.com/agent-engine/agent">{ "source" }</a>
        </footer>
    }
}
