//! The engine of `agent` for browsers, as a wasm module of one of several kinds.
//!
//! A worker of the playground calls [`page`], and [`Session`] keeps the inputs, so that an edit of one
//! text does not read the others again. The feature `plans` selects the session of the page of plans, and
//! `run` adds runs of plans to it. The feature `session` selects that of the page of sessions, and `import`
//! the session that imports documents. The feature `review` adds the session that compares two locks to the
//! module of policies.
//! The feature `api` selects the functions for programs in JavaScript instead, which visitors of the
//! page don't load. Nothing here decides: the engine's answers are passed on.

#[cfg(feature = "api")]
pub mod api;
mod evaluator;
#[cfg(feature = "import")]
pub mod imports;
mod inputs;
#[cfg(not(feature = "api"))]
pub mod page;
#[cfg(feature = "plans")]
pub mod plans;
#[cfg(feature = "policy")]
mod policy_view;
#[cfg(feature = "import")]
mod questions;
#[cfg(feature = "review")]
pub mod review;
#[cfg(feature = "run")]
pub mod run;
mod session;
#[cfg(feature = "session")]
pub mod sessions;
#[cfg(feature = "api")]
mod texts;

pub use inputs::Inputs;
pub use session::Session;
