//! The effects of runs: this library performs what a run of the engine asks for, and nothing else.
//!
//! | item | content |
//! |---|---|
//! | [`Run`] | the turns of a run and this host |
//! | [`Effects`] | performs one action |
//! | [`Access`], [`Connected`] | what this host can reach, and servers that it talks to |
//! | [`Posts`], [`Otlp`] | documents that are posted to URLs of the operator, and a collector of spans behind one |
//! | [`Capture`] | the capture of a live server |
//! | [`proxy`], [`app_proxy`] | the network of programs that reach only listed hosts |
//! | [`named_secrets`] | secrets of the operator, by name |
//! | [`PlannerChoice`], [`planner`] | planners |
//! | [`handler`] | handlers as components under wasmtime |

mod access;
mod capture;
mod connected;
mod effects;
pub mod handler;
mod network;
mod otlp;
mod planners;
mod posts;
mod programs;
mod progress;
mod requests;
mod run;
mod secrets;
mod server_command;
mod step_server;

pub use access::Access;
pub use agent_way_out::{Lookup, Proxy, Resolver};
pub use capture::{Capture, Wanted};
pub use connected::{ConnectError, Connected, Connection, Ended, LastWords, PeerText, Process};
pub use effects::{Approver, Effects};
pub use network::{app_proxy, proxy};
pub use otlp::Otlp;
pub use planners::{PlannerChoice, planner};
pub use posts::Posts;
pub use run::{Run, run_id};
pub use secrets::named_secrets;
