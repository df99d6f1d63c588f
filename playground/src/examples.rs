//! The examples, each of which demonstrates another code.

use agent_ui::areas::Area;
use agent_ui::content::Gallery;
use agent_ui::example;

mod gallery;

/// All examples.
pub(crate) const GALLERIES: &[Gallery] = &[Gallery {
    area: Area::Servers,
    title: "Servers and tools",
    examples: gallery::EXAMPLES,
}];
