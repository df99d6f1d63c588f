//! The Model Context Protocol, read by the project's own strict JSON reader.
//!
//! Payloads are passed on as the received bytes and never serialised again: no unknown field is lost,
//! and one invalid tool does not lose the list. This crate decides nothing: callers compare tools with
//! the lock.
//!
//! | module or item | content |
//! |---|---|
//! | [`message`] | reading and writing of requests, notifications and responses; for both sides |
//! | [`lines`], [`sse`] | framing by lines and by server-sent events; for both sides |
//! | [`Client`] | connecting, listing tools, calling one, closing |
//! | [`Multiplexed`], [`Driver`] | several requests at the same time over one pair of streams |
//! | [`Stdio`], [`Http`] | the transports of a client |
//! | [`HttpPeer`], [`Endpoint`] | the trait that sends HTTP requests, and its implementation over the way out |
//! | [`MirroredHeaders`], [`decoded`] | headers that repeat values of a body, as a server checks them |
//! | [`Version`], [`Generation`] | the versions of the protocol |
//! | [`Limits`], [`Wait`] | limits, deadlines and cancellation |

mod client;
mod endpoint;
mod error;
mod header_value;
mod http;
mod http_peer;
mod id;
mod identity;
mod inbox;
mod json;
mod limits;
pub mod lines;
pub mod message;
mod multiplexed;
mod negotiation;
mod parameter_headers;
mod scan;
pub mod sse;
mod stdio;
mod tool_list;
mod transport;
mod version;
mod wait;

pub use agent_way_out::Cancel;
pub use client::{Client, Generations, Options};
pub use endpoint::Endpoint;
pub use error::{Error, Excess, Violation};
pub use header_value::decoded;
pub use http::Http;
pub use http_peer::{HttpAnswer, HttpMethod, HttpPeer, HttpRequest};
pub use id::Id;
pub use identity::Call;
pub use inbox::{Notification, Traffic};
pub use json::{Elements, Json, Malformed};
pub use limits::Limits;
pub use multiplexed::{Driver, Multiplexed, progress};
pub use parameter_headers::MirroredHeaders;
pub use stdio::Stdio;
pub use tool_list::{ExcludedTool, ToolList};
pub use transport::Transport;
pub use version::{Generation, Version};
pub use wait::Wait;
