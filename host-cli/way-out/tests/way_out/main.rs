//! The way out against servers on the loopback interface, most of them hostile.

mod connections;
mod hostile;
mod messages;
mod proxy;
mod server;
mod tls;
