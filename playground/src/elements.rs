//! Elements that several views show.

use crate::state::Page;
use agent_answer::{Requirement, ServerName};
use agent_ui::names::Name;
use yew::prelude::*;

/// Shows that a view has nothing to show, and why.
pub(crate) fn nothing(page: &Page) -> Html {
    let waiting = page.state.stale();
    let text = if waiting {
        "…"
    } else {
        "No decision: an input has errors."
    };
    html! { <p class="quiet">{ text }</p> }
}

/// Shows the head of a table.
pub(crate) fn table_head(names: [&'static str; 3]) -> Html {
    let names = names.map(|name| html! { <th scope="col">{ name }</th> });
    html! { <thead><tr>{ for names }</tr></thead> }
}

/// Shows the name of a server, or of one of its tools.
pub(crate) fn server_name(server: &ServerName, tool: Option<&str>) -> Html {
    html! {
        <>
            <Name name={server.id.clone()} />{ " " }
            <Name class="version" name={server.version.clone()} />
            if let Some(tool) = tool {
                <span class="slash">{ " / " }</span><Name class="tool" name={tool.to_owned()} />
            }
        </>
    }
}

/// Returns the permissions of a requirement, or the constraints of its capability.
pub(crate) fn tags(requirement: &Requirement) -> &[String] {
    let capability = requirement.capability.as_ref();
    capability.map_or(&requirement.permissions, |it| &it.constraints)
}
