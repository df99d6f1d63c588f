//! The client against servers: fake ones that lie, and one that we did not write.

mod fake;
mod http_exchange;
mod http_lies;
mod http_stub;
mod independent;
mod loopback;
mod multiplexed;
mod stdio_exchange;
mod stdio_lies;
