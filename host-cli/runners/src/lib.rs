//! Foreign runners: executables that write, start, stop and check the app of a task. \[2, 3\]
//!
//! A runner is untrusted. It runs once for each [`RunnerRequest`], in the sandbox, with one JSON object on its
//! standard input and one on its standard output. All invocations of a task share one sandbox, a [`RunnerSession`]:
//! an app that `start` leaves behind outlives that invocation, and nothing outlives the session.
//!
//! Nothing is decided here. The caller gives a [`Reply`] to the engine, which says what it means.
//!
//! | item | content |
//! |---|---|
//! | [`Runner`], [`Place`] | the executable; the folder, the port and the limits of a task |
//! | [`RunnerSession`], [`Reply`], [`Error`] | the sandbox of a task, what an invocation left, why there is nothing |
//! | [`RunnerRequest`], [`Method`] | what a runner is asked |
//! | [`Applied`], [`Started`], [`Health`] | the data of answers |
//! | [`conformance`] | the test of a runner |
//! | [`limits`] | every limit, with its unit |

mod answer;
pub mod built_in;
pub mod conformance;
mod error;
pub mod limits;
mod request;
mod runner;
mod session;

pub use answer::{Applied, Health, Started};
pub use error::Error;
pub use request::{Method, RunnerRequest};
pub use runner::{Place, Runner};
pub use session::{APP, Reply, RunnerSession};
