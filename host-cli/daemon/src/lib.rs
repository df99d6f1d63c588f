//! The daemon of the five verbs \[2\]: it performs what the engine decides about tasks and their apps.
//!
//! The engine reads requests, plans, policies and manifests, and says what may be done. The daemon plans by a planner,
//! changes files, starts apps in sandboxes, sends probes, and serves the apps at the app gateway.
//!
//! | module | content |
//! |---|---|
//! | `daemon` | the tasks, and the way of a request through the daemon |
//! | `verb`, `effects` | a verb at work in the engine, and the effects that it orders |
//! | `planning`, `packages`, `probes`, `files` | planners, the dependency step, requests that test an app, the files of a task |
//! | `runners`, `foreign`, `staging`, `process`, `ending` | the runners of apps, foreign ones, the files that they write, the process that they ask for, how apps end |
//! | `rust_build`, `rust_toolchain` | apps in Rust: the build of a component, and the toolchain for it |
//! | `task`, `memory`, `shown` | a task as the daemon knows it, as it is remembered, and as the app gateway sees it |
//! | `http`, `service`, `tools` | the verbs over HTTP, and as tools of the Model Context Protocol |
//! | `decider`, `refusal`, `ending` | the engine, why a verb fails, and why an app is over |
//! | `traced`, `counts` | spans of verbs and of their stages, and counts for Prometheus |
//! | `running` | the daemon as its program sees it |
//! | `client`, `forward` | a running daemon as other programs reach it, and over their standard streams |
//! | `stored` | the tasks of a folder that no daemon serves |

mod client;
mod counts;
mod daemon;
mod decider;
mod effects;
mod ending;
mod files;
mod foreign;
mod forward;
mod http;
mod memory;
mod packages;
mod planning;
mod probes;
mod process;
mod refusal;
mod runners;
mod running;
mod rust_build;
mod rust_toolchain;
mod service;
mod shown;
mod staging;
mod stored;
mod task;
mod tools;
mod traced;
mod verb;

pub use agent_tasks::Exported;
pub use client::Client;
pub use forward::forward;
pub use running::{Place, Setup, export, prepare, serve};
pub use stored::{kill_stored, stored_tasks};

use agent_effects::app_proxy;
use agent_host::{Engine, Failure};
use std::io::Read;

/// Runs the app of a task to its end, as its description says. The proxy of an app is in this process, which outlives the
/// daemon, and the engine in this process decides on each of its connections.
///
/// # Errors
///
/// When there is nothing to report to: the description is unusable, the task is missing, or it runs already.
pub fn supervise(input: impl Read) -> Result<(), Failure> {
    let proxy = |hosts| {
        let made = Engine::embedded().and_then(|engine| app_proxy(&engine, hosts));
        made.map_err(|failure| failure.message)
    };
    agent_tasks::supervise(input, proxy).map_err(Failure::new)
}
