//! That the engine does not answer.

use yew::prelude::*;

/// Says why, and what becomes of it.
pub fn failure(reason: &str) -> Html {
    html! {
        <p class="failure" role="alert">
            { format!("The engine stopped: {reason}. Nothing is lost; with the next change it is started again.") }
        </p>
    }
}
