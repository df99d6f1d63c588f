//! Loads a gateway on loopback: clients and servers of both generations, and the project of a lock with many servers.
//!
//! The soak test and the measurements use it. Clients and servers block, one thread for each connection, so that
//! they need no library of the gateway's.

pub mod http;
pub mod message;
pub mod process;
pub mod project;
pub mod random;
pub mod server;
