//! The gateway before the apps of tasks \[2, 4\].
//!
//! `http://127.0.0.1:23456/apps/<task_id>/*` leads to the Unix socket of a task's app, `/` lists the tasks, and a
//! leased port serves one task without the prefix. The gateway decides nothing about tasks: [`Tasks`] says which there
//! are and where their apps listen.
//!
//! # Apps are not trusted
//!
//! Requests are read strictly, and so are the responses of apps: a message that two parsers could read in two ways is
//! refused. `Host` must be the gateway's own address, so that no page of another site reads what an app answers.
//!
//! All apps at the gateway's port have one origin, with each other and with the index page. A page of one app can call
//! every other app; what an app must keep from others belongs at its leased port, which is an origin of its own.
//! (Cookies know no ports: browsers send them to all apps of the machine.) The gateway protects what is its own:
//!
//! - It has no endpoint that changes something.
//! - The index page and logs are opened by a browser's address line or a link alone: a request that a page makes says so
//!   in `Sec-Fetch-Dest`, and is refused. Their policy puts them into a sandbox, so that a page that opens them can't
//!   read them.
//! - `Service-Worker-Allowed` and `Clear-Site-Data` of apps act on the whole origin, and are dropped.
//!
//! | module | content |
//! |---|---|
//! | `gateway`, `listener`, `site`, `lease` | its thread, listeners on loopback, what connections share, the leases of ports |
//! | `connection`, `target`, `page`, `reply`, `refusal` | the requests of a client, where they lead, and what the gateway answers itself |
//! | `stream` | the stream of a client, of which hyper reads checked heads only |
//! | `request`, `response`, `field` | heads: checked, and made anew for the other side |
//! | `exchange`, `body`, `tunnel` | a request to an app and its response, their bodies, WebSockets |
//! | `app`, `pool`, `deadline` | connections to apps; kept ones; timers that are cheap to move |
//! | `limits`, `escape` | the limits; texts in HTML and JSON |

mod app;
mod body;
mod connection;
mod deadline;
mod escape;
mod exchange;
mod field;
mod gateway;
mod lease;
pub mod limits;
mod listener;
mod page;
mod pool;
mod refusal;
mod reply;
mod request;
mod response;
mod site;
mod stream;
mod target;
mod tasks;
mod tunnel;

pub use gateway::{Config, Gateway};
pub use tasks::{Log, TaskState, TaskSummary, Tasks};
