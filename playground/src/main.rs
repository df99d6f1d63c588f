//! The page of the playground: paste `agents.md`, see every yes and no.
//!
//! The page shows and the engine decides. The engine runs in a worker, and only [`engine`] knows
//! of it; only [`editor`] knows of the text editor. The texts live in the editors, everything else
//! in one [`state::State`].

mod app;
mod browser;
mod dialog;
mod editor;
mod engine;
mod examples;
mod files;
mod footer;
mod funnel;
mod header;
mod inputs;
mod markdown;
mod matrix;
mod page;
mod problems;
mod secrets;
mod share;
mod state;
mod story;
mod tokens;
mod verdict;
mod what_if;

fn main() {
    yew::Renderer::<app::App>::new().render();
}
