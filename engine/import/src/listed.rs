//! A list of tools alone: the answer to `tools/list`, its result, or the list in it.

use super::capture::{at, endpoint, listed, tools};
use super::described::{DescribedServer, member};
use super::registry::version;
use agent_diagnostic::Problems;
use agent_lower::fields::{opening, text};
use agent_syntax::{Node, Value};

/// The members that may name the server, in the order of their precedence.
const NAMES: [&[&str]; 5] = [
    &["package"],
    &["server"],
    &["server", "name"],
    &["serverInfo", "name"],
    &["name"],
];

/// The members that may have its version.
const VERSIONS: [&[&str]; 3] = [
    &["server", "version"],
    &["serverInfo", "version"],
    &["version"],
];

/// The members that may have its endpoint.
const ENDPOINTS: [&[&str]; 3] = [&["endpoint"], &["url"], &["server", "url"]];

/// Reads the server of a list of tools, which may have no name.
pub(super) fn read<'a>(
    root: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Option<DescribedServer<'a>> {
    let tools = match &root.value {
        Value::Sequence(items) => Some(listed(items, problems)),
        _ => tools(root, opening(root), problems),
    };
    let find = |paths: &[&[&str]]| {
        let mut found = paths.iter().filter_map(|path| at(root, path));
        found.find(|it| matches!(it.value.value, Value::String(_)))
    };
    let name = find(&NAMES).and_then(|it| Some((text(&it.value, "", problems)?, it.value.span)));
    let version = version(find(&VERSIONS), problems);
    let endpoint = endpoint(find(&ENDPOINTS), problems);
    Some(DescribedServer {
        document: problems.text().number(),
        names: name.into_iter().collect(),
        at: name.map_or_else(|| opening(root), |(_, span)| span),
        version,
        endpoint,
        tools: Some(tools?),
    })
}

/// Returns whether a document is a list of tools, or contains one and says nothing else of them.
pub(super) fn fits(root: &Node<'_>) -> bool {
    let is_list = |node: &Node<'_>| matches!(node.value, Value::Sequence(_));
    match &root.value {
        Value::Sequence(items) => !items.is_empty() && items.iter().any(is_tool),
        Value::Mapping(entries) => {
            let tools = at(root, &["result", "tools"]).or_else(|| member(entries, "tools"));
            let is_failed =
                member(entries, "jsonrpc").is_some() && member(entries, "error").is_some();
            is_failed || tools.is_some_and(|it| is_list(&it.value))
        }
        _ => false,
    }
}

/// Returns whether an item of a list is a tool. A server of a registry has no schema of arguments.
fn is_tool(item: &Node<'_>) -> bool {
    match &item.value {
        Value::Mapping(entries) => {
            member(entries, "name").is_some() && member(entries, "inputSchema").is_some()
        }
        _ => false,
    }
}
