//! The program `mcp`, with a daemon and apps in the sandbox.

mod bed;
mod ci;
mod contract;
mod failures;
mod foreign;
mod go_apps;
mod grants;
mod lifecycle;
mod options;
mod protocol;
mod run;
mod tracing;
