//! The effects of runs: this library performs what a run of the engine asks for, and nothing else.
//!
//! | item | content |
//! |---|---|
//! | [`Run`] | the turns of a run and this host |
//! | [`Effects`] | performs one action |
//! | [`proxy`] | the network of programs that reach only listed hosts |
//! | [`handler`] | handlers as components under wasmtime |

mod effects;
pub mod handler;
mod network;
mod planners;
mod programs;
mod progress;
mod requests;
mod run;
mod secrets;
mod server_command;
mod servers;
mod signals;
mod zone;

pub use agent_way_out::{Lookup, Proxy, Resolver};
pub use effects::{Approver, Effects};
pub use network::proxy;
pub use planners::PlannerChoice;
pub use run::{Run, block_on, random, run_id};
pub use zone::Zone;
