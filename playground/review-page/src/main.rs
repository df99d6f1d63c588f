//! The page of reviews: what the later of two sets of documents gives an agent, more access first.
//!
//! The page shows and the engine compares, in a worker that only [`engine`] knows.

mod content;
mod engine;
mod gallery;
mod inputs;
mod review;
mod state;
mod texts;

// The gallery is also a part of a test of the worker.
use agent_ui::example;

fn main() {
    agent_ui::app::render::<state::Reviews>("review");
}
