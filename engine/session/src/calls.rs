//! The calls that wait for a server or for an approval.

use super::basis::{Basis, Tool};
use super::client::{Generation, Key};
use agent_api::diagnostic::Code;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A call that is open.
#[derive(Debug, Clone)]
pub(crate) struct OpenCall {
    /// The lock that it was decided under, which it keeps.
    pub(crate) basis: Arc<Basis>,
    pub(crate) client: Key,
    pub(crate) generation: Generation,
    /// The number of the server.
    pub(crate) server: usize,
    /// The number of the tool; `None` for one that the lock does not have, which only an observing
    /// session calls.
    pub(crate) tool: Option<usize>,
    /// The approval that it waits for. A call without one was passed on.
    pub(crate) approval: Option<String>,
    /// Why it would have been refused if the session did not only observe.
    pub(crate) observed: Vec<Code>,
}

impl OpenCall {
    /// Returns the locked tool.
    pub(crate) fn tool(&self) -> Option<&Tool> {
        Some(&self.basis.tools[self.tool?])
    }
}

/// The open calls by id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calls {
    pub(crate) open: BTreeMap<u64, OpenCall>,
    /// The last id.
    pub(crate) last: u64,
}

impl Calls {
    /// Returns the id of the next call, whether it is opened or not.
    pub(crate) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Returns the calls that wait for an approval.
    pub(crate) fn waiting(&self, approval: &str) -> Vec<u64> {
        let open = self.open.iter();
        open.filter(|(_, call)| call.approval.as_deref() == Some(approval))
            .map(|(id, _)| *id)
            .collect()
    }
}
