//! The definitions that sessions of clients of 2025-11-25 have got, which count as used \[4, 6.2\].

use super::client::Key;
use super::limits::{EXPANDED_SESSIONS_MAX, EXPANDED_TOOLS_MAX};
use std::collections::{BTreeMap, BTreeSet};

/// The expanded tools of each session, by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExpandedTools {
    pub(crate) sessions: BTreeMap<Key, BTreeSet<usize>>,
}

impl ExpandedTools {
    /// Returns whether a session has got the definition of a tool.
    pub(crate) fn has(&self, session: Option<&Key>, tool: usize) -> bool {
        self.of(session).any(|known| known == tool)
    }

    /// Returns the tools that a session has got.
    pub(crate) fn of(&self, session: Option<&Key>) -> impl Iterator<Item = usize> {
        let tools = session.and_then(|session| self.sessions.get(session));
        tools.into_iter().flatten().copied()
    }

    /// Returns whether a session may get further definitions.
    pub(crate) fn has_room(&self, session: &Key, tools: &[usize]) -> bool {
        let known = self.sessions.get(session);
        let is_new = |tool: &&usize| known.is_none_or(|known| !known.contains(tool));
        let new = tools.iter().filter(is_new).count();
        let all: usize = self.sessions.values().map(BTreeSet::len).sum();
        all + new <= EXPANDED_TOOLS_MAX
            && (known.is_some() || self.sessions.len() < EXPANDED_SESSIONS_MAX)
    }

    /// Notes that a session has got definitions. Returns whether one is new.
    pub(crate) fn add(&mut self, session: &Key, tools: &[usize]) -> bool {
        let known = self.sessions.entry(session.clone()).or_default();
        let before = known.len();
        known.extend(tools);
        known.len() > before
    }
}
