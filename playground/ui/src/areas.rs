//! The areas of the playground, one of which is visible.
//!
//! The address names the visible area behind `#`. The first area has nothing there, and links that
//! hold inputs open it. `static/boot.js` loads the module of an area when it is first visible.

use crate::browser::{self, use_window_event};
use yew::prelude::*;

/// An area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// The servers and tools that an agent gets.
    Servers,
    /// Plans of several steps.
    Plans,
    /// Plans of one call.
    Call,
    /// Summaries and their evidence.
    Grounding,
    /// What an agent sees, and its calls.
    Session,
    /// Audit logs of such calls.
    Audit,
    /// What the later of two locks changes.
    Review,
}

/// The areas in the order of an agent's story: resolve, plan, serve, evidence. Each with its hash in the address, its
/// name and what happens there.
const AREAS: [(Area, &str, &str, &str); 7] = [
    (Area::Servers, "#", "Servers", "resolve a lock"),
    (Area::Plans, "#plans", "Plans", "check each step"),
    (Area::Call, "#call", "One call", "check a tool call"),
    (Area::Session, "#session", "Session", "serve an agent"),
    (Area::Audit, "#audit", "Audit", "replay its log"),
    (Area::Grounding, "#grounding", "Grounding", "check evidence"),
    (Area::Review, "#diff", "Review", "compare two locks"),
];

impl Area {
    /// Returns the area that the address names.
    pub(crate) fn current() -> Self {
        Self::of(&browser::hash())
    }

    /// A link names the area of its inputs in front of them. Those of the first area stand alone.
    pub(crate) fn of(hash: &str) -> Self {
        let name = hash.split('.').next();
        let named = AREAS.into_iter().find(|(_, each, ..)| Some(*each) == name);
        named.map_or(Self::Servers, |(area, ..)| area)
    }

    /// Returns the name of the area, which is empty for the first.
    pub(crate) fn name(self) -> &'static str {
        &self.hash()[1..]
    }

    /// Returns the hash of the area.
    pub(crate) fn hash(self) -> &'static str {
        let entry = AREAS.into_iter().find(|(area, ..)| *area == self);
        entry.map_or("#", |(_, hash, ..)| hash)
    }

    /// Makes this the visible area.
    pub fn open(self) {
        if Self::current() != self {
            browser::set_hash(self.hash());
        }
    }
}

/// Returns the visible area, and renders the component again when it changes.
#[hook]
pub(crate) fn use_area() -> Area {
    let area = use_state(Area::current);
    let changed = area.setter();
    use_window_event("hashchange", move |_| changed.set(Area::current()));
    *area
}

/// Links to all areas.
#[component]
pub(crate) fn Areas() -> Html {
    let area = use_area();
    let links = AREAS.map(|(each, hash, name, about)| {
        let current = (each == area).then_some("page");
        html! {
            <a href={hash} aria-current={current} title={about}>{ name }<small aria-hidden="true">{ about }</small></a>
        }
    });
    html! { <nav class="areas" aria-label="Areas">{ for links }</nav> }
}

#[cfg(test)]
mod tests {
    use super::{AREAS, Area};

    #[test]
    fn an_area_has_a_hash_and_every_other_hash_is_the_first_area() {
        for (area, hash, ..) in AREAS {
            assert_eq!(Area::of(hash), area);
        }
        for hash in ["", "#1.q1bK", "#plan", "#plan.1.q1bK", "plans"] {
            assert_eq!(Area::of(hash), Area::Servers, "{hash}");
        }
        assert_eq!(Area::of("#call.1.q1bK"), Area::Call);
    }
}
