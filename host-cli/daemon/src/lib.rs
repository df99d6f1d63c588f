//! The daemon of the five verbs \[2\]: it performs what the engine decides about tasks and their apps.
//!
//! The engine reads requests, plans, policies and manifests, and says what may be done. The daemon plans by a planner,
//! changes files, starts apps in sandboxes, sends probes, and serves the apps at the app gateway.
//!
//! | module | content |
//! |---|---|
//! | `daemon` | the tasks, and the way of a request through the daemon |
//! | `plan_create`, `fs_apply`, `run_start`, `httpcheck`, `report` | the five verbs |
//! | `planning`, `packages`, `probes`, `files` | planners, the dependency step, requests that test an app, the files of a task |
//! | `runners`, `foreign`, `staging`, `process`, `ending` | the runners of apps, foreign ones, the files that they write, the process that they ask for, how apps end |
//! | `task`, `memory`, `shown` | a task as the daemon knows it, as it is remembered, and as the app gateway sees it |
//! | `http`, `service`, `tools` | the verbs over HTTP, and as tools of the Model Context Protocol |
//! | `decider`, `refusal` | the engine, and why a verb fails |
//! | `counts` | counts of verbs, for Prometheus |
//! | `running` | the daemon as its program sees it |

mod counts;
mod daemon;
mod decider;
mod ending;
mod files;
mod foreign;
mod fs_apply;
mod http;
mod httpcheck;
mod memory;
mod packages;
mod plan_create;
mod planning;
mod probes;
mod process;
mod refusal;
mod report;
mod run_start;
mod runners;
mod running;
mod service;
mod shown;
mod staging;
mod task;
mod tools;

pub use agent_tasks::supervise;
pub use daemon::Daemon;
pub use running::{Place, Setup, export, prepare, serve};
