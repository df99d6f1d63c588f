//! The Model Context Protocol, read by the project's own strict JSON reader.
//!
//! Payloads are passed on as the bytes that were received, and never written again: no unknown field
//! is lost, and one odd tool does not lose the list. Nothing here decides whether a tool is the locked
//! one, or may be called.
//!
//! | module or item | content |
//! |---|---|
//! | [`message`] | requests, notifications and responses, and how they are written; for both sides |
//! | [`lines`], [`sse`] | framing by lines and by server-sent events; for both sides |
//! | [`Client`] | connecting, listing tools, calling one, closing |
//! | [`Stdio`], [`Http`] | the transports of a client |
//! | [`HttpPeer`], [`Endpoint`] | how HTTP requests leave, and the way out as one such way |
//! | [`Version`], [`Generation`] | the versions of the protocol |
//! | [`Limits`], [`Wait`] | what ends an operation early |

mod client;
mod endpoint;
mod error;
mod header_value;
mod http;
mod http_peer;
mod id;
mod inbox;
mod json;
mod limits;
pub mod lines;
pub mod message;
mod negotiation;
mod parameter_headers;
pub mod sse;
mod stdio;
mod tool_list;
mod transport;
mod version;
mod wait;

pub use client::{Client, Generations, Options};
pub use endpoint::Endpoint;
pub use error::{Error, Excess, Violation};
pub use http::Http;
pub use http_peer::{HttpAnswer, HttpMethod, HttpPeer, HttpRequest};
pub use id::Id;
pub use inbox::{Notification, Traffic};
pub use json::{Json, Malformed};
pub use limits::Limits;
pub use stdio::Stdio;
pub use tool_list::{ExcludedTool, ToolList};
pub use transport::Transport;
pub use version::{Generation, Version};
pub use wait::Wait;
