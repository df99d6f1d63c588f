//! The gateway between an MCP client and the servers of a lock \[4, 6 and 7.3\].
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
//! | `conversation` | the protocol of a client, of both generations |
//! | `stdio` | a client over standard input and output |

mod audit;
mod calls;
mod conversation;
mod decider;
mod gateway;
mod servers;
mod stdio;
mod upstream;

pub use audit::AuditLog;
pub use gateway::Gateway;
