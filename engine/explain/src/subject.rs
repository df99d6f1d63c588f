//! Names of servers, tools and requirements.

use super::decision::Decision;
use agent_decide::Resolution;
use agent_model::{Index, Name, ServerView, ToolView};
use agent_text::nearest;

/// Everything that a name stands for.
#[derive(Debug, Clone)]
pub struct Subject<'r> {
    /// The servers of that id, ordered by version.
    pub servers: Vec<ServerView<'r>>,
    /// The requirements of that category or capability.
    pub requirements: Vec<Decision<'r>>,
    /// The tools of that name.
    pub tools: Vec<ToolView<'r>>,
}

/// Finds a server by `id` or `id@version`, a tool by that and `/tool`, the requirements of a
/// category, and those of a capability by `verb:resource`. Returns `None` if nothing has the name.
pub fn subject<'r>(resolution: &'r Resolution, name: &str) -> Option<Subject<'r>> {
    let index = resolution.index();
    // The name of a tool contains no `/`, so the last one begins it.
    let tools = match name.rsplit_once('/') {
        Some((server, tool)) => {
            let servers = servers(index, server).into_iter();
            servers.filter_map(|server| server.tool(tool)).collect()
        }
        None => Vec::new(),
    };
    let requirements =
        Decision::all(resolution).filter(|decision| decision.required().name == name);
    let subject = Subject {
        servers: servers(index, name),
        requirements: requirements.collect(),
        tools,
    };
    let found = !subject.servers.is_empty()
        || !subject.requirements.is_empty()
        || !subject.tools.is_empty();
    found.then_some(subject)
}

/// Returns the servers of an `id`, or that of an `id@version`.
fn servers<'i>(index: &'i Index, name: &str) -> Vec<ServerView<'i>> {
    // An id contains no `@`, so the first one ends it.
    let (id, version) = match name.split_once('@') {
        Some((id, version)) => (id, Some(version)),
        None => (name, None),
    };
    let versions = index.versions(id);
    versions
        .filter(|server| version.is_none_or(|version| server.version() == version))
        .collect()
}

/// Returns the server ids, required categories and advertised capabilities of similar spelling.
pub fn did_you_mean<'r>(resolution: &'r Resolution, name: &str) -> Vec<&'r str> {
    let requirements = resolution.manifest().requirements.iter();
    let categories = requirements.map(|requirement| requirement.category.value.as_str());
    let ids = resolution.index().servers().map(ServerView::id);
    let pairs = resolution.index().pair_names();
    nearest(name, categories.chain(ids).chain(pairs), 3)
}
