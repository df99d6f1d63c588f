//! The selections of a lock.

use agent_lower::{ignoring, integrity};
use agent_model::{
    Endpoint, Grant, Name, Scope, Selection, ServerId, ServerVersion, ServerView, ToolName,
    selection_hash,
};
use agent_text::sort::sort_by;

/// Returns the selection of a server. The names of an index are valid, so there is always one.
pub(super) fn selection(
    grant: Grant,
    scopes: Vec<Scope>,
    server: ServerView<'_>,
) -> Option<Selection> {
    let hash = hash(server, scopes.iter().map(Scope::as_str));
    Some(Selection {
        patterns: ignored_patterns(&grant, server),
        grant,
        scopes,
        id: checked(ServerId::new(server.id()))?,
        version: checked(ServerVersion::new(server.version()))?,
        endpoint: checked(Endpoint::new(server.endpoint()))?,
        hash,
        integrity: integrity(server).to_owned(),
    })
}

/// Returns the tools of a grant whose unusable patterns are ignored, sorted.
pub(super) fn ignored_patterns(grant: &Grant, server: ServerView<'_>) -> Vec<ToolName> {
    let tools = ignoring(server, |name| grant.covers(name));
    let mut tools: Vec<_> = tools.filter_map(|it| checked(ToolName::new(it))).collect();
    sort_by(&mut tools, Ord::cmp);
    tools
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
