//! What all sessions of one process share.

use rmcp::ErrorData;
use std::hash::{BuildHasher as _, RandomState};
use tokio::sync::broadcast;

/// Number of announced changes that a slow subscriber may lag behind.
const CHANGES: usize = 16;

/// A list that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Tools,
    Prompts,
}

/// The key of request states, and the subscribers to changes.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The key by which this process recognises its own request states.
    key: RandomState,
    pub(crate) changes: broadcast::Sender<Change>,
}

impl Shared {
    pub(crate) fn new() -> Self {
        Self {
            key: RandomState::new(),
            changes: broadcast::Sender::new(CHANGES),
        }
    }

    /// Returns a request state for a step of a tool. The client can read it but can't make another one.
    pub(crate) fn seal(&self, tool: &str, step: &str) -> String {
        format!("{step}-{:016x}", self.key.hash_one((tool, step)))
    }

    /// Returns the step of a request state of a tool.
    ///
    /// # Errors
    ///
    /// When this process did not issue the state for the tool.
    pub(crate) fn open<'a>(&self, tool: &str, state: &'a str) -> Result<&'a str, ErrorData> {
        let step = state.split('-').next().unwrap_or_default();
        match self.seal(tool, step) == state {
            true => Ok(step),
            false => Err(ErrorData::invalid_params(
                "the request state fails its integrity check",
                None,
            )),
        }
    }
}
