//! A service with its clients over HTTP.

use super::sessions::Sessions;
use super::token::Token;
use std::rc::Rc;

/// A service with its clients over HTTP.
pub struct Served<S> {
    /// Its path.
    pub path: String,
    /// Its clients, with their tokens.
    pub clients: Vec<(String, Token)>,
    /// What answers them.
    pub service: Rc<S>,
    /// Their sessions.
    pub sessions: Sessions<S>,
}
