//! The cost of the selected tools' definitions in a context window.

use agent_answer::Tokens;
use agent_ui::words::{count, thousands};
use yew::prelude::*;

/// Shows the estimate as a bar, against the budget of the tenant if there is one.
pub(crate) fn token_bar(tokens: Tokens) -> Html {
    let used = tokens.tools.saturating_add(tokens.stubs);
    let over = tokens.budget.and_then(|budget| used.checked_sub(budget));
    let over = over.filter(|over| *over > 0);
    let limit = match (tokens.budget, over) {
        (None, _) => "; there is no budget".to_owned(),
        (Some(budget), None) => format!(", of {}", thousands(budget)),
        (Some(budget), Some(over)) => format!(
            ": {} more than the budget of {}",
            thousands(over),
            thousands(budget),
        ),
    };
    html! {
        <div class={classes!("tokens", over.map(|_| "over"))}>
            <p>
                { format!("About {} from the start{limit}", count(used, "token")) }
                if tokens.stubs > 0 {
                    <span class="quiet">
                        { format!(
                            " ({} for tools, {} for stubs)",
                            thousands(tokens.tools),
                            thousands(tokens.stubs)
                        ) }
                    </span>
                }
                <span class="quiet" title="The bytes of the canonical form of each definition, divided by 4">
                    { " · an estimate" }
                </span>
            </p>
            { for tokens.budget.map(|budget| bar(tokens.tools, used, budget)) }
        </div>
    }
}

/// The width of the picture in its own units. It is stretched to the available width.
const WIDTH: u64 = 10_000;

/// Draws a bar of the budget, or of the use if that is more. A mark separates the use beyond the
/// budget.
fn bar(tools: u32, used: u32, budget: u32) -> Html {
    let all = used.max(budget).max(1);
    let width = |number: u32| u64::from(number) * WIDTH / u64::from(all);
    let part = |class: &'static str, from: u64, to: u64| {
        let (x, width) = (from.to_string(), to.saturating_sub(from).to_string());
        html! { <rect {class} {x} {width} height="8" /> }
    };
    html! {
        <svg viewBox={format!("0 0 {WIDTH} 8")} preserveAspectRatio="none" role="img" aria-label="Token budget">
            { part("all", 0, WIDTH) }
            { part("tools", 0, width(tools)) }
            { part("stubs", width(tools), width(used)) }
            if used > budget { { part("excess", width(budget), width(used)) } }
        </svg>
    }
}
