//! The selections of a lock.

use agent_lower::integrity;
use agent_model::{
    Endpoint, Grant, Name, Scope, Selection, ServerId, ServerVersion, ServerView, selection_hash,
};

/// Returns the selection of a server. The names of an index are valid, so there is always one.
pub(super) fn selection(
    grant: Grant,
    scopes: Vec<Scope>,
    server: ServerView<'_>,
) -> Option<Selection> {
    let hash = hash(server, scopes.iter().map(Scope::as_str));
    Some(Selection {
        grant,
        scopes,
        id: checked(ServerId::new(server.id()))?,
        version: checked(ServerVersion::new(server.version()))?,
        endpoint: checked(Endpoint::new(server.endpoint()))?,
        hash,
        integrity: integrity(server),
    })
}

/// Returns the specification's hash of a selection \[0, 3.1\].
pub(super) fn hash<'s>(server: ServerView<'_>, scopes: impl Iterator<Item = &'s str>) -> String {
    selection_hash(server.id(), server.version(), server.endpoint(), scopes)
}

/// Returns a name of an index, which was validated when the index was loaded.
pub(super) fn checked<N, E>(name: Result<N, E>) -> Option<N> {
    debug_assert!(name.is_ok());
    name.ok()
}
