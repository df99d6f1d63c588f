//! The page of plans and groundings: every check of every step, and the evidence of every claim of
//! a summary.
//!
//! The page shows and the engine decides, in a worker that only [`engine`] knows.

mod content;
mod decision;
mod engine;
mod flow;
mod gallery;
mod grounding;
mod inputs;
mod marks;
mod run;
mod state;
mod stepping;

// The gallery is also a part of a test of the worker.
use agent_ui::example;

fn main() {
    agent_ui::app::render::<state::Plans>("plans");
}
