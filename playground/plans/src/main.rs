//! The page of plans and groundings: every check of every step, and the evidence of every claim of a
//! summary.
//!
//! The page shows and the engine decides, in a worker that only [`engine`] knows.

mod decision;
mod engine;
mod examples;
mod flow;
mod grounding;
mod inputs;
mod marks;
mod state;

fn main() {
    agent_ui::areas::render::<state::Plans>("plans");
}
