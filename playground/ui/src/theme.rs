//! Light and dark.

use crate::areas::use_area;
use crate::browser;
use yew::prelude::*;

/// The name under which the theme is kept.
const THEME: &str = "agent-playground/theme";

/// The themes, in the order in which the switch goes through them.
const THEMES: [&str; 3] = ["system", "light", "dark"];

/// The attribute of the root that says which theme is shown.
const ATTRIBUTE: &str = "data-theme";

/// Shows the page in a theme. The style sheet knows the names.
fn show_theme(theme: &str) {
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.document_element());
    if let Some(root) = root {
        // An attribute name that is none can't be set; this one is one.
        let _ = root.set_attribute(ATTRIBUTE, theme);
    }
}

/// The theme that is shown: that of the root, or the one that was kept.
fn theme() -> &'static str {
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.document_element());
    let theme = root.and_then(|root| root.get_attribute(ATTRIBUTE));
    let theme = theme.or_else(|| browser::load(THEME));
    let known = THEMES
        .into_iter()
        .find(|known| theme.as_deref() == Some(known));
    known.unwrap_or(THEMES[0])
}

/// The switch. Every area has one; with another area it is shown anew.
#[component]
pub fn ThemeSwitch() -> Html {
    let show = use_force_update();
    use_area();
    let theme = theme();
    use_effect_with(theme, |theme| show_theme(theme));
    let next = Callback::from(move |_: MouseEvent| {
        let at = THEMES.iter().position(|name| *name == theme).unwrap_or(0);
        let next = THEMES[(at + 1) % THEMES.len()];
        show_theme(next);
        // If it can't be kept, it holds for this visit.
        browser::store(THEME, next);
        show.force_update();
    });
    html! {
        <button onclick={next} aria-label={format!("Theme: {theme}")} title="Theme">
            { match theme { "light" => "☀", "dark" => "☾", _ => "◐" } }
        </button>
    }
}
