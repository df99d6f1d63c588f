//! The runner that is tested, where an app of the test runs.

use super::protocol::Answer;
use crate::{Error, Request};
use agent_sandbox::Inside;
use std::net::SocketAddr;
use std::path::Path;

/// A runner with the folder, the port and the app of one part of the test.
pub(super) trait Subject {
    /// Asks the runner. `what` names the request in sentences.
    async fn ask(&mut self, what: &str, request: &Request<'_>) -> Answer;

    /// Returns whether the app that was started has written to streams that are not its own; `None` if it can't.
    async fn spoils_streams(&mut self) -> Option<Result<bool, Error>>;

    /// Returns the network of the app; `None` if no app runs.
    fn inside(&self) -> Option<Inside>;

    /// Returns the addresses of the listeners in it.
    fn listening(&self) -> Vec<SocketAddr>;

    /// Ends the app, if it still runs.
    async fn end(self);
}

/// Makes subjects.
pub(super) trait Subjects {
    type Subject: Subject;

    async fn open(&self, folder: &Path, port: u16) -> Result<Self::Subject, Error>;
}
