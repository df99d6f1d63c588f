//! Plans and groundings: see every check of every step, and where the evidence of a summary is.
//!
//! A module of its own, which is loaded when one of its areas is first seen. It shows and the engine
//! decides, in a worker that only [`engine`] knows of. The texts live in the editors, everything else
//! in one [`state::State`].

mod actor;
mod app;
mod decision;
mod dialog;
mod engine;
mod examples;
mod flow;
mod grounding;
mod head;
mod inputs;
mod marks;
mod state;

fn main() {
    agent_ui::areas::render::<app::App>("plans");
}
