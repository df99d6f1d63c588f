//! What is looked up again and again in one lock, for many tools.

use agent_json_schema::SchemaRoom;
use agent_model::{Lock, Name, Selection};

/// What was looked up in one lock, and the room for the schemas of its tools.
#[derive(Debug, Default)]
pub struct Lookups {
    /// The server that was asked for last, and the numbers of its selections. Tools are prepared server by server.
    selections: (String, Vec<usize>),
    /// The room for the schemas of prepared tools.
    schema_room: SchemaRoom,
}

impl Lookups {
    pub(super) fn schema_room(&self) -> &SchemaRoom {
        &self.schema_room
    }

    /// Returns the selections of all versions of a server, in the order of the lock.
    pub(super) fn selections<'l>(
        &mut self,
        lock: &'l Lock,
        server: &str,
    ) -> impl Iterator<Item = &'l Selection> {
        let (id, numbers) = &mut self.selections;
        if id != server {
            let all = lock.selections.iter().enumerate();
            let own = all.filter(|(_, it)| it.id.as_str() == server);
            *numbers = own.map(|(number, _)| number).collect();
            server.clone_into(id);
        }
        let own = numbers.iter();
        own.filter_map(|number| lock.selections.get(*number))
    }
}
