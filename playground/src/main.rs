//! What the playground shows first: paste `agents.md`, see every yes and no.
//!
//! The page shows and the engine decides. The engine runs in a worker, and only [`engine`] knows
//! of it. The texts live in the editors, everything else in one [`state::State`]. What other areas
//! of the playground need as well is in `agent_ui`.

mod app;
mod dialog;
mod engine;
mod examples;
mod files;
mod funnel;
mod header;
mod inputs;
mod markdown;
mod matrix;
mod page;
mod secrets;
mod share;
mod state;
mod story;
mod tokens;
mod verdict;
mod what_if;

fn main() {
    agent_ui::areas::render::<app::App>("servers");
}
