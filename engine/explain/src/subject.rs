//! Names of servers, tools and requirements.

use super::decision::Decision;
use agent_decide::Resolution;
use agent_model::{Index, Name, ServerView, ToolView};
use agent_text::nearest;

/// Maximum number of servers and of tools that a name stands for.
const LISTED: usize = 20;

/// Everything that a name stands for.
#[derive(Debug, Clone)]
pub struct Subject<'r> {
    /// The servers of that id, or of that category if no requirement names it, ordered by id and
    /// version.
    pub servers: Vec<ServerView<'r>>,
    /// The requirements of that category or capability.
    pub requirements: Vec<Decision<'r>>,
    /// The tools of that name, and those that advertise that capability if no requirement names it,
    /// ordered by server, version and name.
    pub tools: Vec<ToolView<'r>>,
    /// The number of further servers and tools.
    pub more: usize,
}

/// Finds a server by `id` or `id@version`, a tool by its name, alone or behind that and a `/`, the
/// requirements of a category, and those of a capability by `verb:resource`. Without requirements, the
/// servers and tools that offer it. Returns `None` if nothing has the name.
pub fn subject<'r>(resolution: &'r Resolution, name: &str) -> Option<Subject<'r>> {
    let index = resolution.index();
    // The name of a tool contains no `/`, so the last one begins it.
    let mut tools: Vec<_> = match name.rsplit_once('/') {
        Some((server, tool)) => {
            let servers = servers(index, server).into_iter();
            servers.filter_map(|server| server.tool(tool)).collect()
        }
        None => index.tools().filter(|tool| tool.name() == name).collect(),
    };
    let mut servers = servers(index, name);
    let requirements =
        Decision::all(resolution).filter(|decision| decision.required().name == name);
    let requirements: Vec<_> = requirements.collect();
    if requirements.is_empty() {
        let advertises = |tool: &ToolView<'_>| tool.advertised().any(|it| it.pair() == name);
        tools.extend(index.tools().filter(advertises));
        let offers = |server: &ServerView<'_>| server.categories().any(|it| it == name);
        servers.extend(index.servers().filter(offers));
    }
    let more = servers.len().saturating_sub(LISTED) + tools.len().saturating_sub(LISTED);
    servers.truncate(LISTED);
    tools.truncate(LISTED);
    let is_found = !(servers.is_empty() && requirements.is_empty() && tools.is_empty());
    is_found.then_some(Subject {
        servers,
        requirements,
        tools,
        more,
    })
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

/// Returns the server ids, tools, required categories and advertised capabilities of similar spelling.
pub fn did_you_mean<'r>(resolution: &'r Resolution, name: &str) -> Vec<&'r str> {
    let requirements = resolution.manifest().requirements.iter();
    let categories = requirements.map(|requirement| requirement.category.value.as_str());
    let ids = resolution.index().servers().map(ServerView::id);
    let pairs = resolution.index().pair_names();
    let tools = resolution.index().tools().map(ToolView::name);
    let all = categories.chain(ids).chain(pairs).chain(tools);
    nearest(name, all, 3)
}
