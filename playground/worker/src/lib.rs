//! The engine of `agent` for browsers.
//!
//! One wasm module, and two ways to use it. The playground runs it in a worker: [`Session`] keeps
//! the inputs, so that a keystroke in one text does not have the others read again. For other
//! programs, [`api`] has a function for each question. Neither decides anything: they call the
//! engine and hand on what it says.

pub mod api;
mod ask;
mod convert;
mod evaluator;
mod health;
mod inputs;
mod session;
mod tokens;
mod verdict;
mod view;

pub use inputs::Inputs;
pub use session::Session;
