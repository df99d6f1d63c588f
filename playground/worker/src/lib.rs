//! The engine of `agent` for browsers, as a wasm module of one of three kinds.
//!
//! The playground runs it in a worker: `page` is what the worker calls, and [`Session`] keeps the
//! inputs, so that a keystroke in one text does not have the others read again. With the feature
//! `plans` that is the session of the page of plans. For other programs, with the feature `api`, `api`
//! has a function for each question. A visitor of the page does not load what only others call. None
//! decides anything: they call the engine and hand on what it says.

#[cfg(feature = "api")]
pub mod api;
mod convert;
mod evaluator;
mod health;
mod inputs;
#[cfg(not(feature = "api"))]
pub mod page;
#[cfg(feature = "plans")]
pub mod plans;
mod session;
#[cfg(feature = "api")]
mod texts;
mod tokens;
mod verdict;
mod view;

pub use inputs::Inputs;
pub use session::Session;
