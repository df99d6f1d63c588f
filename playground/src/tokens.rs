//! What the definitions of the selected tools cost of a context window.

use agent_protocol::Tokens;
use agent_ui::words::{count, thousands};
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub(crate) struct TokenBarProps {
    pub(crate) tokens: Tokens,
}

/// The estimate as a bar, against the budget of the tenant where there is one.
#[component]
pub(crate) fn TokenBar(props: &TokenBarProps) -> Html {
    let tokens = props.tokens;
    let used = tokens.tools.saturating_add(tokens.stubs);
    let over = tokens.budget.is_some_and(|budget| used > budget);
    let said = match tokens.budget {
        None => format!(
            "About {} from the start; there is no budget",
            count(used, "token")
        ),
        Some(budget) if over => format!(
            "About {} from the start: {} more than the budget of {}",
            count(used, "token"),
            thousands(used - budget),
            thousands(budget),
        ),
        Some(budget) => format!(
            "About {} from the start, of {}",
            count(used, "token"),
            thousands(budget),
        ),
    };
    let stubs = (tokens.stubs > 0).then(|| {
        format!(
            "{} for tools, {} for stubs",
            thousands(tokens.tools),
            thousands(tokens.stubs)
        )
    });
    html! {
        <div class={classes!("tokens", over.then_some("over"))}>
            <p>
                { said }
                if let Some(stubs) = stubs { <span class="quiet">{ format!(" ({stubs})") }</span> }
                <span class="quiet" title="The bytes of the canonical form of each definition, divided by 4">
                    { " · an estimate" }
                </span>
            </p>
            { tokens.budget.map(|budget| bar(tokens, budget)) }
        </div>
    }
}

/// The width of the picture in its own units; it is stretched to the width that there is.
const WIDTH: u64 = 10_000;

/// A bar of all that is used or may be; what is over the budget is behind the mark.
fn bar(tokens: Tokens, budget: u32) -> Html {
    let used = tokens.tools.saturating_add(tokens.stubs);
    let all = used.max(budget).max(1);
    let width = |number: u32| u64::from(number) * WIDTH / u64::from(all);
    let (tools, both, mark) = (width(tokens.tools), width(used), width(budget));
    html! {
        <svg viewBox={format!("0 0 {WIDTH} 8")} preserveAspectRatio="none" role="img" aria-label="Token budget">
            <rect class="all" width={WIDTH.to_string()} height="8" />
            <rect class="tools" width={tools.to_string()} height="8" />
            <rect
                class="stubs"
                x={tools.to_string()}
                width={(both - tools).to_string()}
                height="8"
            />
            if used > budget {
                <rect
                    class="excess"
                    x={mark.to_string()}
                    width={(both - mark).to_string()}
                    height="8"
                />
            }
        </svg>
    }
}
