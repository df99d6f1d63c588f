//! What would make it a yes.

use crate::problems::prose;
use crate::words::capitalised;
use agent_protocol::Fix;
use yew::prelude::*;

/// What would make it a yes, each with a button that does it: `on_apply` is called with one that has
/// edits.
pub fn fixes(fixes: &[Fix], on_apply: &Callback<Fix>) -> Html {
    let items = fixes.iter().map(|fix| {
        let apply = {
            let (on_apply, fix) = (on_apply.clone(), fix.clone());
            Callback::from(move |_: MouseEvent| on_apply.emit(fix.clone()))
        };
        html! {
            <li class={classes!("fix", fix.widening.then_some("widening"))}>
                <span>{ prose(&capitalised(&fix.text)) }</span>
                if fix.edits.is_some() {
                    <button class="apply" onclick={apply}>{ "Apply" }</button>
                }
            </li>
        }
    });
    html! { <ul class="fixes" aria-label="What would make it a yes">{ for items }</ul> }
}
