//! The foot of the page: what decided.

use yew::prelude::*;

/// The SHA-256 of the component that the command line embeds, from the same sources. None in a
/// build that did not make it.
const COMPONENT: Option<&str> = option_env!("AGENT_COMPONENT_SHA256");

/// What is said of the engine.
#[derive(Properties, PartialEq)]
pub struct FooterProps {
    /// Its version; empty before it is there.
    pub version: AttrValue,
    /// How long it took; 0 before it decided anything.
    pub milliseconds: f64,
}

/// The foot.
#[component]
pub fn Footer(props: &FooterProps) -> Html {
    let tenths = (props.milliseconds * 10.0 + 0.5) as u32;
    let time = format!("decided in {}.{} ms", tenths / 10, tenths % 10);
    html! {
        <footer class="foot">
            <span>{ format!("engine {}", props.version) }</span>
            if props.milliseconds > 0.0 {
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
