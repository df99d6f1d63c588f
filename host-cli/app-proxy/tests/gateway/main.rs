//! A gateway on loopback, with apps at Unix sockets and clients over TCP. Everything that is sent is raw.

mod bed;
mod index_page;
mod leases;
mod limits;
mod one_at_a_time;
mod properties;
mod routing;
mod streaming;
mod strict_requests;
mod strict_responses;
mod websocket;
