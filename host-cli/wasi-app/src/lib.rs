//! Apps that are WebAssembly components of the world `wasi:http/proxy`: no process is started for them. \[2, 10\]
//!
//! A component answers each request in a new instance, which starts without a state and vanishes
//! afterwards. What one request leaves for another is in `wasi:keyvalue/store`, in the memory of this process.
//!
//! | item | content |
//! |---|---|
//! | [`component()`] | what a compiler wrote, as a component that is one of these apps |
//! | [`App`], [`Settings`] | a component that is compiled and linked, and what it gets |
//! | [`Log`] | where its output goes |
//! | [`Outgoing`], [`Sending`], [`NotSent`] | who sends its requests to others, and why one was not sent |
//! | [`limits`] | every limit, with its unit |
//!
//! # What an app reaches
//!
//! Nothing of the machine: no files, no sockets. It has clocks, random bytes, the environment of [`Settings`], and
//! standard streams that lead to the log. A request to another server, by `wasi:http/outgoing-handler`, is sent by the
//! [`Outgoing`] of the settings; without one, the call fails with `HTTP-request-denied`.
//!
//! # What ends a request
//!
//! A request has a budget of fuel and a time, and all requests together have a memory and a share of processor time.
//! A request that exceeds its part, or traps, is answered with the status 500 and recorded in the log. The app
//! lives on: other requests have other instances.

mod app;
mod bindings;
mod budget;
mod component;
pub mod limits;
mod log;
mod outgoing;
mod request;
mod share;
mod state;
mod store;

pub use app::{App, Settings};
pub use component::component;
pub use log::Log;
pub use outgoing::{NotSent, Outgoing, Sending};
