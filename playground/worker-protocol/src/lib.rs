//! The messages between a page of the playground and the engine's worker.
//!
//! The page sends a [`Request`] and the [`Texts`] that changed. The worker replies with an [`Answer`],
//! whose values are those of [`agent_answer`]. Both cross as [bytes](to_bytes). The pages of [plans] and
//! of [sessions](session) have separate messages, and so have an [import] and a [review].

mod answer;
mod bytes;
pub mod import;
pub mod plans;
mod policy;
mod request;
pub mod review;
pub mod run;
pub mod session;
mod texts;

pub use answer::{About, Answer, Explained};
pub use bytes::{from_bytes, to_bytes};
pub use policy::{Cell, PolicyView, Table};
pub use request::{ExplanationRequest, ListRequest, MatrixRequest, RejectedRequest, Request};
pub use texts::Texts;
