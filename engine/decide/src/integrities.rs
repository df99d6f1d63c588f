//! The integrities of entries, each computed once: an entry may be large, and have many locked tools.

use agent_model::{Rank, ServerView};
use std::collections::BTreeMap;

/// The integrities of entries of one index.
#[derive(Debug, Default)]
pub struct Integrities(BTreeMap<Rank, String>);

impl Integrities {
    /// Returns the integrity of an entry.
    pub fn of(&mut self, server: ServerView<'_>) -> &str {
        let known = self.0.entry(server.rank());
        known.or_insert_with(|| agent_lower::integrity(server))
    }
}
