//! Commands in the sandbox: what reaches them, what stops them, and what they leave.

mod exchange;
mod fences;
mod inbound;
mod limits;
mod proxy;
#[path = "../support/mod.rs"]
mod support;
mod unavailable;
mod unsandboxed;
