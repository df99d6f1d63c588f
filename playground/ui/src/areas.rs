//! The areas of the playground, one of which is seen.
//!
//! Which one stands in the address behind `#`. What is seen first has nothing there, and links that
//! hold inputs open it. `static/boot.js` shows the module that an area is in, and loads it when it
//! is first seen.

use wasm_bindgen::prelude::{Closure, JsCast as _};
use yew::prelude::*;

/// An area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Which servers and tools an agent gets.
    Servers,
    /// Plans of several steps.
    Plans,
    /// Plans of one call.
    Call,
    /// Whether a summary says what a payload says.
    Grounding,
}

impl Area {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Servers, Self::Plans, Self::Call, Self::Grounding];

    /// The one that the address names.
    pub fn current() -> Self {
        let location = web_sys::window().map(|window| window.location());
        let hash = location.and_then(|location| location.hash().ok());
        Self::of(&hash.unwrap_or_default())
    }

    fn of(hash: &str) -> Self {
        let named = Self::ALL.into_iter().find(|area| area.hash() == hash);
        named.unwrap_or(Self::Servers)
    }

    /// What the address has behind the path.
    pub fn hash(self) -> &'static str {
        match self {
            Self::Servers => "#",
            Self::Plans => "#plans",
            Self::Call => "#call",
            Self::Grounding => "#grounding",
        }
    }

    /// Goes there.
    pub fn open(self) {
        if let Some(window) = web_sys::window() {
            // A hash is a hash.
            let _ = window.location().set_hash(self.hash());
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Servers => "Servers",
            Self::Plans => "Plans",
            Self::Call => "One call",
            Self::Grounding => "Grounding",
        }
    }
}

/// Renders a component in the element of this id, which `index.html` has for a module.
pub fn render<C: BaseComponent<Properties = ()>>(id: &str) {
    let element = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id(id));
    if let Some(element) = element {
        yew::Renderer::<C>::with_root(element).render();
    }
}

/// The area that is seen, for a component that is to be shown anew with another one.
#[hook]
pub fn use_area() -> Area {
    let area = use_state(Area::current);
    {
        let area = area.setter();
        use_effect_with((), move |()| {
            let changed = Closure::<dyn FnMut()>::new(move || area.set(Area::current()));
            let window = web_sys::window();
            if let Some(window) = &window {
                // A window takes every listener.
                let _ = window.add_event_listener_with_callback(
                    "hashchange",
                    changed.as_ref().unchecked_ref(),
                );
            }
            move || {
                if let Some(window) = window {
                    let _ = window.remove_event_listener_with_callback(
                        "hashchange",
                        changed.as_ref().unchecked_ref(),
                    );
                }
            }
        });
    }
    *area
}

/// Links to all areas.
#[component]
pub fn Areas() -> Html {
    let area = use_area();
    let links = Area::ALL.map(|each| {
        let current = (each == area).then_some("page");
        html! { <a href={each.hash()} aria-current={current}>{ each.name() }</a> }
    });
    html! { <nav class="areas" aria-label="Areas">{ for links }</nav> }
}

#[cfg(test)]
mod tests {
    use super::Area;

    #[test]
    fn an_area_is_known_by_its_hash_and_everything_else_is_the_first_one() {
        for area in Area::ALL {
            assert_eq!(Area::of(area.hash()), area);
        }
        for hash in ["", "#1.q1bK", "#plan", "plans"] {
            assert_eq!(Area::of(hash), Area::Servers, "{hash}");
        }
    }
}
