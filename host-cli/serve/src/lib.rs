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
//! | `deadline` | how long a server may take for a call |
//! | `requests` | requests of clients for resources and prompts, likewise |
//! | `service` | the gateway as its clients see it, by the protocol of `agent-mcp-server` |
//! | `approvals` | calls that wait for a human |
//! | `page` | the local page: servers, tools, and calls that wait |
//! | `control`, `overview`, `state` | the socket of `agent status`, its text, and the folder of both |
//! | `metrics` | counts of decisions and calls, for Prometheus |
//! | `traced` | spans of requests and calls |
//! | `reload` | documents that are read again when their files change |

mod approvals;
mod audit;
mod calls;
mod control;
mod deadline;
mod decider;
mod gateway;
mod metrics;
mod overview;
mod page;
mod reload;
mod requests;
mod servers;
mod service;
mod state;
mod traced;
mod upstream;

pub use audit::AuditLog;
pub use control::running;
pub use gateway::{Gateway, Setup, Work};
pub use overview::status_text;
pub use reload::Source;
pub use state::token_path;
