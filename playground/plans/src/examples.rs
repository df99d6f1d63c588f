//! The examples, each of which demonstrates something else.

use agent_ui::areas::Area;
use agent_ui::content::Gallery;
use agent_ui::example;

mod gallery;

pub(crate) use gallery::BASIS;

/// The examples of each area.
pub(crate) const GALLERIES: &[Gallery] = &[
    Gallery {
        area: Area::Plans,
        title: "Plans of several steps",
        examples: gallery::PLANS,
    },
    Gallery {
        area: Area::Call,
        title: "Plans of one call",
        examples: gallery::CALLS,
    },
    Gallery {
        area: Area::Grounding,
        title: "Groundings",
        examples: gallery::GROUNDINGS,
    },
];
