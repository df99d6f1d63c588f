//! The program `mcp`, with a daemon and apps in the sandbox.

mod bed;
mod ci;
mod failures;
mod foreign;
mod go_apps;
mod grants;
mod lifecycle;
mod protocol;
mod run;
mod rust_apps;
