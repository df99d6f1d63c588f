//! Elements that several views show.

use crate::state::Page;
use agent_answer::{Requirement, ServerName};
use agent_ui::names::{Lookalikes, name};
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
pub(crate) fn server_name(
    lookalikes: &Lookalikes,
    server: &ServerName,
    tool: Option<&str>,
) -> Html {
    html! {
        <>
            { lookalikes.name(&server.id, "") }{ " " }{ name(&server.version, "version") }
            if let Some(tool) = tool {
                <span class="slash">{ " / " }</span>{ name(tool, "tool") }
            }
        </>
    }
}

/// Shows the address of a server, which goes on in another line behind a stroke rather than within a word.
pub(crate) fn endpoint(address: &str) -> Html {
    let parts = address.split_inclusive(['/', '-', '@']);
    let parts = parts.map(|part| html! { <>{ part }<wbr /></> });
    html! { <span class="endpoint">{ for parts }</span> }
}

/// Returns the permissions of a requirement, or the constraints of its capability.
pub(crate) fn tags(requirement: &Requirement) -> &[String] {
    let capability = requirement.capability.as_ref();
    capability.map_or(&requirement.permissions, |it| &it.constraints)
}
