//! The first page of the playground: the servers and tools that an agent gets, with every yes and no.
//!
//! The page shows and the engine decides, in a worker that only [`engine`] knows.

mod answer;
mod engine;
mod examples;
mod explanation;
mod files;
mod funnel;
mod inputs;
mod markdown;
mod matrix;
mod secrets;
mod share;
mod state;
mod tokens;
mod verdict;
mod what_if;

fn main() {
    agent_ui::areas::render::<state::Servers>("servers");
}
