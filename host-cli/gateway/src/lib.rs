//! The gateway between MCP clients and the servers of locks \[4, 6 and 7.3\].
//!
//! A session of the engine decides: which tools a client sees, whether a call passes, what it gets. The
//! gateway moves bytes, keeps servers connected and appends the session's records to the audit log.
//!
//! | module | content |
//! |---|---|
//! | `gateway` | the gateway as its program sees it |
//! | `decider` | the session in its instance of the engine, which is replaced when it fails |
//! | `audit` | the log of records |
//! | `servers` | the servers of the lock: connected, listed, and connected again |
//! | `upstream` | the connection to one server, for many calls at the same time |
//! | `calls` | calls of clients, from the decision to the answer |
//! | `requests` | requests of clients for resources and prompts, likewise |
//! | `changes` | changes of the lists that clients get |
//! | `conversation` | the protocol of a client, of both generations |
//! | `stdio` | a client over standard input and output |
//! | `listener` | a listener on loopback, and its connections |
//! | `guard`, `token` | who may ask: `Host`, `Origin` and bearer tokens |
//! | `endpoint` | the endpoint of MCP over HTTP, of both generations |
//! | `mirrored` | headers that repeat values of the body |
//! | `sessions` | sessions of clients over HTTP |
//! | `events`, `counted` | streams of server-sent events; counts with a maximum |
//! | `approvals` | calls that wait for a human |
//! | `page` | the local page: servers, tools, and calls that wait |
//! | `control`, `overview`, `state` | the socket of `agent status`, its text, and the folder of both |
//! | `metrics` | counts of decisions and calls, for Prometheus |
//! | `traced`, `otlp` | spans of requests and calls, and the collector that gets them |
//! | `reload` | documents that are read again when their files change |
//! | `agent` | an agent that is served, with its clients |

mod agent;
mod approvals;
mod audit;
mod calls;
mod changes;
#[cfg(unix)]
mod control;
mod conversation;
mod counted;
mod decider;
mod endpoint;
mod events;
mod gateway;
mod guard;
mod listener;
mod metrics;
mod mirrored;
mod otlp;
mod overview;
mod page;
mod questions;
mod reload;
mod requests;
mod servers;
mod sessions;
mod state;
mod stdio;
mod token;
mod traced;
mod upstream;

pub use audit::AuditLog;
#[cfg(unix)]
pub use control::running;
pub use gateway::{Gateway, Setup, Work};
pub use listener::Listener;
pub use otlp::Otlp;
pub use overview::status_text;
pub use reload::Source;
pub use state::token_path;
pub use token::Token;
