//! The calls that wait for a server or for an approval.

use super::basis::{Basis, Server, Tool};
use super::client::{Generation, Key};
use super::method::Method;
use super::state::call_text;
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
    /// session calls, and for a request of a method.
    pub(crate) tool: Option<usize>,
    /// The method, of a request that is no call of a tool.
    pub(crate) method: Option<Method>,
    /// The URI that the request names. A state does not have it.
    pub(crate) uri: Option<String>,
    /// Names the arguments.
    pub(crate) arguments: Key,
    /// The approval that it waits for. A call without one was passed on.
    pub(crate) approval: Option<String>,
    /// The approval that it was passed on with.
    pub(crate) approved: Option<String>,
    /// How often the gateway has repeated it because its server asked for it.
    pub(crate) repetition: u32,
    /// Why it would have been refused if the session did not only observe.
    pub(crate) observed: Vec<Code>,
    /// Its text in an exported state. It is written once, as a state is exported for every message.
    pub(crate) exported: String,
}

impl OpenCall {
    /// Returns what names the tool and its server. Calls of tools that the lock does not have are not
    /// continued.
    pub(crate) fn tool_key(&self) -> Option<Key> {
        let tool = self.tool()?;
        Some(tool_key(&self.basis.servers[tool.server], tool))
    }

    /// Returns the locked tool.
    pub(crate) fn tool(&self) -> Option<&Tool> {
        Some(&self.basis.tools[self.tool?])
    }
}

/// Names a tool and its server.
pub(crate) fn tool_key(server: &Server, tool: &Tool) -> Key {
    Key::of(&[&server.id, &server.version, tool.own_name()])
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

    /// Opens a call.
    pub(crate) fn insert(&mut self, id: u64, mut call: OpenCall) {
        call.exported = call_text(id, &call);
        self.open.insert(id, call);
    }

    /// Returns the calls that wait for an approval.
    pub(crate) fn waiting(&self, approval: &str) -> Vec<u64> {
        let open = self.open.iter();
        open.filter(|(_, call)| call.approval.as_deref() == Some(approval))
            .map(|(id, _)| *id)
            .collect()
    }
}
