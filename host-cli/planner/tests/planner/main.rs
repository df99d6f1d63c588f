//! The planners against their peers: a server of raw bytes, and small programs.

mod command;
mod openai;
mod request;
mod rust;
mod server;
mod services;
mod template;
