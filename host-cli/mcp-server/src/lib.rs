//! Serves MCP clients: over standard input and output, and over HTTP on loopback, in both generations of the protocol.
//!
//! A [`Service`] answers what is asked of it. This crate knows the protocol, the transports, and who may ask.
//!
//! | module | content |
//! |---|---|
//! | `service`, `served` | what a server does for its clients; a service with its clients over HTTP |
//! | `conversation` | the protocol of a client, of both generations |
//! | `changes` | changes of the lists that clients get |
//! | `questions` | requests to a client |
//! | `stdio` | a client over standard input and output |
//! | `listener`, `private_socket` | a listener on loopback and one of a user, and their connections |
//! | `guard`, `token` | who may ask: `Host`, `Origin` and bearer tokens |
//! | `endpoint` | the endpoint of MCP over HTTP, of both generations |
//! | `mirrored` | headers that repeat values of the body |
//! | `sessions` | sessions of clients over HTTP |
//! | `events`, `counted` | streams of server-sent events; counts with a maximum |

mod changes;
mod conversation;
mod counted;
mod endpoint;
mod events;
mod guard;
mod http;
mod listener;
mod mirrored;
mod private_socket;
mod questions;
mod served;
mod service;
mod sessions;
mod stdio;
mod token;

pub use changes::{Announcements, ClientList};
pub use conversation::Response;
pub use endpoint::Endpoint;
pub use events::Body;
pub use guard::{Ambiguous, Hosts, client, single};
pub use http::{read_body, respond_with};
pub use listener::{Listener, Protocol, serve_connections};
pub use mirrored::{HEADER_MISMATCH, check as check_mirrored, check_given, generation};
pub use private_socket::{PrivateConnections, PrivateSocket};
pub use served::Served;
pub use service::{Answer, Client, INTERNAL_ERROR, Service, Trace};
pub use sessions::Sessions;
pub use stdio::serve as serve_stdio;
pub use token::{Token, private};
