//! The page of sessions: what an agent sees under a lock, what is decided about its calls, and which calls
//! of an audit log other documents would decide otherwise.
//!
//! The page shows and the engine decides, in a worker that only [`engine`] knows.

mod arguments;
mod audit;
mod call;
mod content;
mod engine;
mod events;
mod gallery;
mod history;
mod inputs;
mod keyboard;
mod refusal;
mod session;
mod state;
mod tools;

// The gallery is also a part of a test of the worker.
use agent_ui::example;

fn main() {
    agent_ui::app::render::<state::Sessions>("session");
}
