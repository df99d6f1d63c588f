//! The program `mcp`, with a daemon and apps in the sandbox.

mod attacks;
mod bed;
mod ci;
mod clean_up;
mod crowd;
mod failures;
mod foreign;
mod go_apps;
mod grants;
mod lifecycle;
mod own_network;
mod ports;
mod packages;
mod protocol;
mod recovery;
mod remains;
mod routing;
mod run;
mod small_app;
