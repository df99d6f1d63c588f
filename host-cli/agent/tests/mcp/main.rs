//! The program `mcp`, with a daemon and apps in the sandbox.

mod attacks;
mod bed;
mod ci;
mod clean_up;
mod contract;
mod copies;
mod crowd;
mod failures;
mod foreign;
mod go_apps;
mod grants;
mod lifecycle;
mod one_at_a_time;
mod options;
mod own_network;
mod packages;
mod ports;
mod protocol;
mod recovery;
mod remains;
mod routing;
mod run;
mod rust_apps;
mod small_app;
mod tracing;
mod tutorial_apps;
