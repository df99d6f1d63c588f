//! An agent that is served, with its clients.

use super::gateway::Shared;
use super::sessions::Sessions;
use super::token::Token;
use std::rc::Rc;

/// An agent with its lock.
pub(crate) struct Agent {
    /// Its name among the agents of this gateway.
    pub(crate) name: String,
    /// Its path over HTTP.
    pub(crate) path: String,
    /// Its clients, with their tokens.
    pub(crate) clients: Vec<(String, Token)>,
    pub(crate) shared: Rc<Shared>,
    pub(crate) sessions: Sessions,
}
