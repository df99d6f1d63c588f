//! Light and dark.

use crate::areas::use_area;
use crate::browser;
use yew::prelude::*;

/// The key under which the browser keeps the theme.
const KEY: &str = "agent-playground/theme";

/// The themes, in the order of the switch. The style sheet knows the names.
const THEMES: [&str; 3] = ["system", "light", "dark"];

/// Returns the position of the visible theme, or else of the one that the browser kept.
fn current() -> usize {
    let theme = browser::theme().or_else(|| browser::load(KEY));
    let theme = theme.unwrap_or_default();
    THEMES.iter().position(|name| *name == theme).unwrap_or(0)
}

/// The switch. Every page has one and renders it again with another area.
#[component]
pub(crate) fn ThemeSwitch() -> Html {
    let update = use_force_update();
    use_area();
    let current = current();
    use_effect_with(current, |current| browser::show_theme(THEMES[*current]));
    let switch = move |_| {
        let next = THEMES[(current + 1) % THEMES.len()];
        browser::show_theme(next);
        // If the browser can't keep it, it holds for this visit.
        browser::store(KEY, next);
        update.force_update();
    };
    html! {
        <button
            onclick={switch}
        >
            { format!("Theme: {}", THEMES[current]) }
        </button>
    }
}
