//! The effects of runs: this library performs what a run of the engine asks for, and nothing else.
//!
//! | item | content |
//! |---|---|
//! | [`Run`] | the turns of a run and this host |
//! | [`Effects`] | performs one action |
//! | [`handler`] | handlers as components under wasmtime |

mod effects;
pub mod handler;
mod planners;
mod programs;
mod progress;
mod requests;
mod run;
mod secrets;
mod servers;
mod zone;

pub use effects::{Approver, Effects};
pub use planners::PlannerChoice;
pub use run::{Run, block_on, random, run_id};
pub use zone::Zone;
