//! The way out: the only code of the host that opens a network connection.
//!
//! Callers decide where to connect. [`Resolver`] turns a name into addresses, the caller checks all of
//! them, and [`WayOut`] connects to the checked address and to no other. Server name
//! indication, the `Host` header and the certificate check use the name of the [`Target`].
//!
//! A program without a network reaches the outside by a [`Proxy`], whose [`Gate`] decides likewise.
//!
//! Absent by design: redirects, use of proxies (also those of the environment), cookies, retries,
//! decompression, other protocols than HTTP/1.1, and connections shared between calls. [`Connection`]
//! alone carries several requests, one after the other.
//!
//! | item | content |
//! |---|---|
//! | [`Resolver`], [`Lookup`] | addresses of a name, within a bounded time |
//! | [`Target`], [`Request`] | the server of an exchange, and the request |
//! | [`headers()`], [`form()`], [`percent_encoded()`] | what a request is made of |
//! | [`WayOut`] | certificates, connections, exchanges |
//! | [`Connection`], [`Exchange`] | several requests, and bodies in chunks |
//! | [`Proxy`], [`Gate`] | connections of a program without a network |
//! | [`Limits`], [`Cancel`] | limits in time and size, and cancellation |
//! | [`Error`], [`ErrorKind`] | the reasons of failures |
//! | [`quote()`] | bounded and printable quotes of a peer's text |

mod cancel;
mod connection;
mod error;
mod form;
mod head_meter;
mod limits;
mod metered;
mod proxy;
mod proxy_head;
mod quote;
mod request;
mod resolve;
mod target;
mod tls;
mod way_out;

pub use cancel::{Cancel, Canceller};
pub use connection::{Connection, Exchange};
pub use error::{Error, ErrorKind};
pub use form::{form, percent_encoded};
pub use hyper::header;
pub use hyper::{HeaderMap, Method, StatusCode};
pub use limits::Limits;
pub use proxy::{Gate, Proxy, ProxyLimits, Refusal, Serving};
pub use proxy_head::authority;
pub use quote::quote;
pub use request::{Request, headers};
pub use resolve::{Lookup, Resolver, SystemLookup};
pub use target::{Scheme, Target};
pub use tls::Roots;
pub use way_out::{Response, WayOut};
