//! Tools of MCP servers by the lock: which of them may be called, whoever plans the call.

use super::{CallContext, CallDenial};
use agent_lower::{ToolEntry, digest};
use agent_model::{Grant, HUMAN_IN_THE_LOOP, Index, Lock, Name, Selection, ServerView, ToolView};
use agent_text::Likeness;

/// How many near names are told.
const NEAR: usize = 3;

/// The tool that is to be called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    /// The id of its server.
    pub(super) server: &'a str,
    /// The version of the server, if only one will do.
    pub(super) version: Option<&'a str>,
    /// Its name.
    pub(super) tool: &'a str,
}

/// What is known of a tool by the lock, the index and the catalogue.
#[derive(Debug)]
pub(super) struct LockedTool<'a> {
    /// What its server lists for it.
    pub(super) listed: Option<ToolEntry<'a>>,
    /// The digest of that definition.
    pub(super) definition: Option<String>,
    /// The entries of the index that were locked.
    pub(super) entries: Vec<ServerView<'a>>,
    /// The tool in each of those.
    pub(super) tools: Vec<ToolView<'a>>,
    /// That it is not defined as it was locked.
    pub(super) changed: Option<CallDenial<'a>>,
}

impl<'a> LockedTool<'a> {
    /// Find a tool, and everything that forbids to call it but that it has changed.
    pub(super) fn find(
        target: Target<'a>,
        context: CallContext<'a>,
        likeness: &mut Likeness,
        denials: &mut Vec<CallDenial<'a>>,
    ) -> Self {
        let listed = listed(target, context, likeness, denials).map(ToolEntry::read);
        let selections = match context.lock {
            Some(lock) => locked(target, lock, denials),
            None => {
                denials.push(CallDenial::LockMissing);
                Vec::new()
            }
        };
        let entries = entries(&selections, context.index, denials);
        let tools: Vec<_> = entries
            .iter()
            .filter_map(|server| server.tool(target.tool))
            .collect();
        if let Some(lock) = context.lock {
            denials.extend(forbidden(target, lock, &tools));
        }
        let definition = listed
            .as_ref()
            .map(|listed| digest(&listed.definition(target.tool)));
        let changed = definition
            .as_deref()
            .and_then(|present| changed(present, &selections, &tools));
        Self {
            listed,
            definition,
            entries,
            tools,
            changed,
        }
    }

    /// Whether a human has to approve of every call of it \[4\].
    pub(super) fn needs_approval(&self) -> bool {
        let mut blocks = self.tools.iter().flat_map(|tool| tool.advertised());
        blocks.any(|block| block.tags().any(|tag| tag == HUMAN_IN_THE_LOOP))
    }
}

/// The tool as its server lists it, as JSON.
fn listed<'a>(
    Target {
        server: id,
        tool: name,
        ..
    }: Target<'a>,
    context: CallContext<'a>,
    likeness: &mut Likeness,
    denials: &mut Vec<CallDenial<'a>>,
) -> Option<&'a str> {
    let mut near = |names: Vec<&'a str>, word: &str| likeness.nearest(word, names, NEAR);
    let (tool, tools) = match context.catalogue {
        Some(catalogue) => {
            let Some(server) = catalogue.server(id) else {
                let ids = catalogue.servers.iter().map(|it| it.id.as_str());
                let nearest = near(ids.collect(), id);
                denials.push(CallDenial::UnknownServer { nearest });
                return None;
            };
            let text = catalogue.text.as_str();
            let tool = server.tool(name).map(|tool| tool.span.of(text));
            let names = server.tools.iter().map(|it| it.name.as_str());
            (tool, names.collect())
        }
        None => {
            let mut versions = context.index.versions(id).peekable();
            if versions.peek().is_none() {
                let ids = context.index.servers().map(ServerView::id);
                let nearest = near(ids.collect(), id);
                denials.push(CallDenial::UnknownServer { nearest });
                return None;
            }
            let tools: Vec<_> = versions.flat_map(ServerView::tools).collect();
            let tool = tools.iter().find(|tool| tool.name() == name);
            let names = tools.iter().map(|tool| tool.name());
            (tool.map(|tool| tool.entry()), names.collect())
        }
    };
    if tool.is_none() {
        let nearest = near(tools, name);
        denials.push(CallDenial::UnknownTool { nearest });
    }
    tool
}

/// The selections of the lock that the call may be made under.
fn locked<'a>(
    target: Target<'_>,
    lock: &'a Lock,
    denials: &mut Vec<CallDenial<'a>>,
) -> Vec<&'a Selection> {
    let selections: Vec<_> = lock
        .selections
        .iter()
        .filter(|it| it.id.as_str() == target.server)
        .filter(|it| {
            target
                .version
                .is_none_or(|version| it.version.as_str() == version)
        })
        .filter(|it| match &it.grant {
            Grant::Category(_) => true,
            Grant::Capability { tool, .. } => tool.as_str() == target.tool,
        })
        .collect();
    if selections.is_empty() {
        denials.push(CallDenial::NotLocked);
    }
    selections
}

/// The entries of the index that were locked.
fn entries<'a>(
    selections: &[&'a Selection],
    index: &'a Index,
    denials: &mut Vec<CallDenial<'a>>,
) -> Vec<ServerView<'a>> {
    let mut entries: Vec<ServerView<'a>> = Vec::new();
    for selection in selections {
        let (version, integrity) = (selection.version.as_str(), &*selection.integrity);
        let entry = index
            .versions(selection.id.as_str())
            .find(|server| server.version() == version)
            .filter(|server| agent_lower::integrity(*server) == integrity);
        match entry {
            Some(entry) if entries.iter().all(|it| it.rank() != entry.rank()) => {
                entries.push(entry);
            }
            Some(_) => {}
            None => {
                let denial = CallDenial::EntryChanged { version, integrity };
                if !denials.contains(&denial) {
                    denials.push(denial);
                }
            }
        }
    }
    entries
}

/// The labels of the lock that forbid the tool, what it can do, or what it was granted with.
fn forbidden<'a>(
    target: Target<'_>,
    lock: &'a Lock,
    tools: &[ToolView<'a>],
) -> Vec<CallDenial<'a>> {
    let forbids = |label: &str| {
        let pairs = || tools.iter().flat_map(|tool| tool.advertised());
        label == target.tool
            || pairs().any(|block| block.pair() == label || block.verb_and_resource().0 == label)
    };
    let labels = lock.forbid.iter().map(|label| label.as_str());
    labels
        .filter(|label| forbids(label))
        .map(|label| CallDenial::Forbidden { label })
        .collect()
}

/// That the tool is not defined as it was locked: for a capability by its digest, for a category
/// by that of the index's entry, whose integrity was checked.
fn changed<'a>(
    present: &str,
    selections: &[&'a Selection],
    tools: &[ToolView<'a>],
) -> Option<CallDenial<'a>> {
    let of_capability = selections.iter().filter_map(|it| match &it.grant {
        Grant::Capability { definition, .. } => Some(definition.clone()),
        Grant::Category(_) => None,
    });
    let of_entry = tools
        .iter()
        .map(|tool| agent_lower::definition_digest(*tool));
    of_capability
        .chain(of_entry)
        .find(|locked| locked != present)
        .map(|locked| CallDenial::DefinitionChanged {
            locked,
            present: present.to_owned(),
        })
}
