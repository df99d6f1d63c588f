//! Access of this user to remote servers, by OAuth 2.1 as MCP uses it.
//!
//! | module | content |
//! |---|---|
//! | `flow` | the authorization: from the server's challenge to the kept tokens |
//! | `refresh` | the token of a server, renewed before it expires |
//! | `probe` | what a server requires of a client without a token |
//! | `scopes` | the scopes that are asked for |
//! | `client` | the client as the authorization server knows it |
//! | `metadata` | protected resources (RFC 9728) and authorization servers (RFC 8414, OpenID Connect) |
//! | `challenge` | `WWW-Authenticate` of a server |
//! | `redirect` | the answer of the browser, on a port of loopback |
//! | `fetch` | requests over the way out, to addresses that the engine checked |
//! | `store` | the kept tokens, a file for each issuer |
//! | `document` | members of JSON, and of queries |
//! | `environment` | the program in which a user logs in |

mod challenge;
mod client;
mod document;
mod environment;
mod fetch;
mod flow;
mod metadata;
mod probe;
mod redirect;
mod refresh;
mod scopes;
mod store;

pub use environment::{Environment, FindTarget};
pub use flow::{LoggedIn, Login};
pub use refresh::bearer;
pub use store::{KeptLogin, Store};
