//! The definitions that belong beside a lock, and how a file differs from them \[0, 3.1\].

use super::drift::Drift;
use super::expansion::locked_tools;
use agent_diagnostic::Code;
use agent_lower::{
    StoredDefinition, Uncallable, definition_digest, integrity, locked_digest, uncallable,
};
use agent_model::{Grant, Index, Lock, Name, Selection, ServerView, ToolName, ToolView};
use agent_text::sort::{map_of, set_of};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of entries that a drift names.
const LIMIT: usize = 20;

/// Returns the tools whose definitions belong beside a lock, by digest: those of capabilities, and
/// those that its categories expose.
pub fn locked_definitions<'i>(lock: &Lock, index: &'i Index) -> BTreeMap<String, ToolView<'i>> {
    let tools = locked_tools(lock, index).into_iter();
    map_of(tools.map(|tool| (definition_digest(tool), tool)))
}

/// Returns the locked tools that nobody can call, ordered by server, version and name.
pub(super) fn uncallable_tools<'i>(lock: &Lock, index: &'i Index) -> Vec<Uncallable<'i>> {
    let tools = locked_tools(lock, index).into_iter();
    tools.filter_map(uncallable).collect()
}

/// Compares `agents.definitions.json`, whose entries are `None` if it is missing or unreadable, with
/// the definitions of a lock. Entries of a category are compared only while the index has its locked
/// entry: a changed entry is another drift.
pub fn compare_definitions(
    lock: &Lock,
    index: &Index,
    stored: Option<&[StoredDefinition]>,
) -> Option<Drift> {
    let known = set_of(stored.into_iter().flatten().map(|it| &*it.digest));
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    // That a lock was edited is another drift, and no fault of the definitions.
    let mut edited: BTreeSet<String> = BTreeSet::new();
    let mut is_open = false;
    for selection in &lock.selections {
        let id = selection.id.as_str();
        match &selection.grant {
            Grant::Capability {
                definition, tool, ..
            } => {
                let present = current_digest((selection, tool, definition), index);
                if let Some(present) = present.filter(|it| it != definition) {
                    edited.extend([present, definition.clone()]);
                }
                wanted.insert(definition.clone(), format!("`{tool}` of `{id}`"));
            }
            Grant::Category { .. } => is_open |= current(selection, index).is_none(),
        }
    }
    if !is_open {
        for tool in locked_tools(lock, index) {
            let digest = locked_digest(tool, |digest| known.contains(digest));
            let name = format!("`{}` of `{}`", tool.name(), tool.server().id());
            wanted.entry(digest).or_insert(name);
        }
    }
    wanted.retain(|digest, _| !edited.contains(digest));
    if wanted.is_empty() && stored.is_none_or(<[_]>::is_empty) {
        return None;
    }
    let missing = wanted
        .iter()
        .filter(|(digest, _)| !known.contains(&***digest));
    let missing = missing.map(|(_, name)| format!("{name} is missing"));
    let found = stored.into_iter().flatten().filter_map(|entry| {
        let name = wanted.get(&entry.digest);
        match name {
            _ if entry.actual() != entry.digest => {
                let name = name.unwrap_or(&entry.digest);
                Some(format!("{name} does not have its digest"))
            }
            None if !is_open && !edited.contains(&entry.digest) => {
                Some(format!("`{}` belongs to no locked tool", entry.digest))
            }
            _ => None,
        }
    });
    let mut details: Vec<_> = missing.chain(found).collect();
    let more = details.len().saturating_sub(LIMIT);
    details.truncate(LIMIT);
    if more > 0 {
        details.push(format!("and {more} more"));
    }
    let drift = Drift {
        code: Code::DefinitionsChanged,
        category: None,
        capability: None,
        tool: None,
        before: None,
        after: None,
        details,
        places: Vec::new(),
    };
    (!drift.details.is_empty()).then_some(drift)
}

/// Returns the digest of a selected tool in the locked entry, if the index has that entry.
fn current_digest(
    (selection, tool, locked): (&Selection, &ToolName, &str),
    index: &Index,
) -> Option<String> {
    let tool = current(selection, index)?.tool(tool.as_str())?;
    Some(locked_digest(tool, |digest| digest == locked))
}

/// Returns the locked entry of a selection, if the index has it.
fn current<'i>(selection: &Selection, index: &'i Index) -> Option<ServerView<'i>> {
    let server = index.find(selection.id.as_str(), selection.version.as_str());
    server.filter(|server| integrity(*server) == selection.integrity)
}
