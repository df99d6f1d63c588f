//! The first page of the playground: the servers and tools that an agent gets, with every yes and
//! no.
//!
//! The page shows and the engine decides, in a worker that only [`engine`] knows. [`import`] asks another worker
//! about a document that is not in the index yet.

mod answer;
mod content;
mod elements;
mod engine;
mod evaluation;
mod explanation;
mod exports;
mod files;
mod funnel;
mod gallery;
mod import;
mod inputs;
mod markdown;
mod matrix;
mod policy;
mod recognition;
mod reservations;
mod state;
mod tokens;
mod tour;
mod verdict;
mod what_if;

// The gallery is also a part of a test of the worker.
use agent_ui::example;

fn main() {
    agent_ui::app::render::<state::Servers>("servers");
}
