//! Tools of MCP servers by the lock, for calls and for steps of plans.

use super::call_record::{CallCheck, CallDenial, CallTrace};
use super::locked_policy::CallPolicy;
use super::lookups::Lookups;
use super::matching::EvaluationContext;
use agent_lower::{PolicyPhase, ToolEntry, concealed, digest, locked_digest};
use agent_model::{
    ForbidLabel, Grant, HUMAN_IN_THE_LOOP, Index, Lock, Name, Selection, ServerView, ToolView,
    ToolsSnapshot,
};
use agent_text::Likeness;
use agent_text::sort::sort_by;

/// Maximum number of similar names to report.
pub(super) const NEAR: usize = 3;

/// The documents that a call is decided against.
#[derive(Debug, Clone, Copy)]
pub struct CallContext<'a> {
    /// The index of servers.
    pub index: &'a Index,
    /// The lock. Without one every call is denied.
    pub lock: Option<&'a Lock>,
    /// The present tools of the servers; `None` for those of the index.
    pub catalogue: Option<&'a ToolsSnapshot>,
    /// The policy with its tenant, task and context. Without one no policy decides.
    pub evaluation_context: Option<&'a EvaluationContext>,
}

impl CallContext<'_> {
    /// Returns the denial of a call outside of a session, which knows no calls before it, if the tenant has rules about
    /// them.
    pub(super) fn history_unknown(&self) -> Option<CallDenial<'static>> {
        let has_rules = self.evaluation_context?.has_history_rules();
        has_rules.then_some(CallDenial::HistoryUnknown)
    }
}

/// The tool to call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    /// The id of its server.
    pub(super) server: &'a str,
    /// The required version of the server, if any.
    pub(super) version: Option<&'a str>,
    /// The name.
    pub(super) tool: &'a str,
}

/// A tool by the lock, the index and the catalogue.
#[derive(Debug)]
pub(super) struct LockedTool<'a> {
    /// The entry that the server lists.
    pub(super) listed: Option<ToolEntry<'a>>,
    /// The digest of that definition.
    pub(super) definition: Option<String>,
    /// The selections that grant the call.
    pub(super) selections: Vec<&'a Selection>,
    /// The locked entries of the index.
    pub(super) entries: Vec<ServerView<'a>>,
    /// The tool in each of those.
    pub(super) tools: Vec<ToolView<'a>>,
    /// The denial if the definition is not the locked one.
    pub(super) changed: Option<CallDenial<'a>>,
    /// The policy on calls, if one decides.
    pub(super) policy: Option<CallPolicy>,
}

impl<'a> LockedTool<'a> {
    /// Finds a tool and records the checks [`CallCheck::Listed`], [`CallCheck::Locked`] and
    /// [`CallCheck::Permitted`].
    pub(super) fn find(
        target: Target<'a>,
        context: CallContext<'a>,
        (likeness, lookups): (&mut Likeness, &mut Lookups),
        trace: &mut CallTrace<'a>,
    ) -> Self {
        let (listed, denial) = match listed(target, context, likeness) {
            Ok(listed) => (Some(ToolEntry::read(listed)), None),
            Err(denial) => (None, Some(denial)),
        };
        let is_unknown = denial.is_some();
        trace.record(CallCheck::Listed, Vec::from_iter(denial));
        let mut denials = Vec::new();
        let selections: Vec<_> = match context.lock {
            Some(lock) => lookups
                .selections(lock, target.server)
                .filter(|it| grants(it, target))
                .collect(),
            None => Vec::new(),
        };
        if selections.is_empty() {
            match context.lock {
                Some(_) if is_unknown => {}
                Some(lock) => {
                    let any = Target {
                        version: None,
                        ..target
                    };
                    let others = lookups.selections(lock, target.server);
                    let others = others.filter(|it| grants(it, any));
                    let mut versions: Vec<_> = others.map(|it| it.version.as_str()).collect();
                    sort_by(&mut versions, Ord::cmp);
                    versions.dedup();
                    let only = only_of(target, lock);
                    denials.push(CallDenial::NotLocked { versions, only });
                }
                None => denials.push(CallDenial::LockMissing),
            }
        }
        let entries = entries(&selections, context.index, &mut denials);
        trace.record(CallCheck::Locked, denials);
        let tools = entries.iter();
        let tools: Vec<_> = tools.filter_map(|it| it.tool(target.tool)).collect();
        let labels = context
            .lock
            .map(|lock| forbidding(&lock.forbid, target.tool, &tools));
        let denials = labels.into_iter().flatten();
        let denials = denials.map(|label| CallDenial::Forbidden { label });
        let hidden = tools.iter().find_map(|tool| concealed(*tool));
        let hidden = hidden.map(|found| CallDenial::Concealed {
            character: found.character,
            pointer: found.pointer,
        });
        trace.record(CallCheck::Permitted, denials.chain(hidden).collect());
        let definition = listed.as_ref();
        let definition = definition.map(|listed| digest(&listed.definition(target.tool)));
        let known = listed.as_ref().zip(definition.as_deref());
        let changed = known.and_then(|(listed, definition)| {
            changed((target.tool, listed, definition), &selections, &tools)
        });
        let policy = CallPolicy::new(PolicyPhase::Call, context, (&selections, &tools));
        Self {
            listed,
            selections,
            definition,
            entries,
            tools,
            changed,
            policy,
        }
    }

    /// Returns whether a human must approve every call of the tool \[4\].
    pub(super) fn needs_approval(&self) -> bool {
        self.has_tag(HUMAN_IN_THE_LOOP)
    }

    /// Returns whether a locked entry advertises a tag for the tool.
    pub(super) fn has_tag(&self, wanted: &str) -> bool {
        let mut blocks = self.tools.iter().flat_map(|tool| tool.advertised());
        blocks.any(|block| block.tags().any(|tag| tag == wanted))
    }
}

/// Returns the definition that the server lists, as JSON.
fn listed<'a>(
    target: Target<'a>,
    context: CallContext<'a>,
    likeness: &mut Likeness,
) -> Result<&'a str, CallDenial<'a>> {
    let (id, name) = (target.server, target.tool);
    let mut unknown_server = |ids: Vec<&'a str>| CallDenial::UnknownServer {
        nearest: likeness.nearest(id, ids, NEAR),
    };
    let (tool, names): (_, Vec<_>) = match context.catalogue {
        Some(catalogue) => {
            let Some(server) = catalogue.server(id) else {
                let ids = catalogue.servers.iter().map(|it| it.id.as_str());
                return Err(unknown_server(ids.collect()));
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
                return Err(unknown_server(ids.collect()));
            }
            let tools: Vec<_> = versions.flat_map(ServerView::tools).collect();
            let named = || tools.iter().filter(|tool| tool.name() == name);
            // Versions of a server may define a tool differently.
            let of_version = |tool: &&ToolView<'_>| Some(tool.server().version()) == target.version;
            let tool = named().find(of_version).or_else(|| named().next());
            let names = tools.iter().map(|tool| tool.name());
            (tool.map(|tool| tool.entry()), names.collect())
        }
    };
    tool.ok_or_else(|| {
        // Clients put the server in front of a tool that shares its name with another.
        let bare = |it: &&str| {
            let before = name.strip_suffix(*it);
            before.is_some_and(|it| {
                ["__", "/", ".", ":"]
                    .iter()
                    .any(|sign| it.strip_suffix(sign) == Some(id))
            })
        };
        let bare = names.iter().copied().find(bare);
        CallDenial::UnknownTool {
            nearest: bare.map_or_else(|| likeness.nearest(name, names, NEAR), |it| vec![it]),
        }
    })
}

/// Returns whether a selection of the server grants the call.
fn grants(selection: &Selection, target: Target<'_>) -> bool {
    let version = selection.version.as_str();
    selection.grant.covers(target.tool) && target.version.is_none_or(|required| version == required)
}

/// Returns the tools of a server that the lock names alone: sorted, without duplicates.
fn only_of<'a>(target: Target<'_>, lock: &'a Lock) -> Vec<&'a str> {
    let selections = lock.selections.iter();
    let own = selections.filter(|it| it.id.as_str() == target.server);
    let named = own.flat_map(|it| match &it.grant {
        Grant::Category { only, .. } => &**only,
        Grant::Capability { .. } => &[],
    });
    let mut named: Vec<_> = named.map(|tool| tool.as_str()).collect();
    sort_by(&mut named, Ord::cmp);
    named.dedup();
    named
}

/// Returns the locked entries of the index.
fn entries<'a>(
    selections: &[&'a Selection],
    index: &'a Index,
    denials: &mut Vec<CallDenial<'a>>,
) -> Vec<ServerView<'a>> {
    let mut entries: Vec<ServerView<'a>> = Vec::new();
    for selection in selections {
        let (version, integrity) = (selection.version.as_str(), &*selection.integrity);
        let entry = index
            .find(selection.id.as_str(), version)
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

/// Returns the labels of a lock that are the name, a pair or a verb of a tool.
pub(super) fn forbidding<'l>(
    forbid: &'l [ForbidLabel],
    name: &str,
    tools: &[ToolView<'_>],
) -> Vec<&'l str> {
    let forbids = |label: &&str| {
        let label = *label;
        let mut blocks = tools.iter().flat_map(|tool| tool.advertised());
        label == name
            || blocks.any(|block| block.pair() == label || block.verb_and_resource().0 == label)
    };
    let labels = forbid.iter().map(|label| label.as_str());
    labels.filter(forbids).collect()
}

/// Returns the denial of a definition that is not the locked one, or of a lock that was edited. A capability locks its digest; a
/// category locks the index's entry, whose integrity was checked.
fn changed<'a>(
    (name, listed, definition): (&str, &ToolEntry<'a>, &str),
    selections: &[&'a Selection],
    tools: &[ToolView<'a>],
) -> Option<CallDenial<'a>> {
    let of_capability = selections.iter().filter_map(|it| match &it.grant {
        Grant::Capability { definition, .. } => Some((*it, definition)),
        Grant::Category { .. } => None,
    });
    let is_edited = |(selection, locked): &(&Selection, &'a String)| {
        let (id, version) = (selection.id.as_str(), selection.version.as_str());
        let mut tools = tools.iter().copied();
        let is_own = |it: &ToolView<'_>| it.server().id() == id && it.server().version() == version;
        let tool = tools.find(is_own);
        tool.is_some_and(|tool| locked_digest(tool, |it| it == *locked) != **locked)
    };
    if let Some((_, locked)) = of_capability.clone().find(is_edited) {
        let locked = locked.clone();
        return Some(CallDenial::LockEdited { locked });
    }
    let of_capability = of_capability.map(|(_, locked)| locked.clone());
    let of_entry = tools
        .iter()
        .map(|tool| match tool.entry() == listed.text() {
            true => definition.to_owned(),
            false => agent_lower::definition_digest(*tool),
        });
    let mut changed = of_capability.chain(of_entry).filter(|it| it != definition);
    changed.find_map(|locked| {
        // A lock of earlier versions has a digest of fewer members.
        let present = listed.locked_form(name, |it| it == locked).0;
        (present != locked).then_some(CallDenial::DefinitionChanged { locked, present })
    })
}
