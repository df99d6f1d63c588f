//! Tools that servers list and no lock has, in a session that only observes \[4\].
//!
//! A tool is offered as its server first listed it. One that it lists otherwise later is quarantined like a
//! locked one, until it lists the first definition again.

use super::basis::{Basis, entry_of, renamed};
use super::client::Generation;
use super::limits::{OFFERED_MAX_BYTES, UNLOCKED_NAME_MAX_BYTES};
use super::live::Deviation;
use super::names::{Named, served_names};
use super::refusal::OBSERVED_KEY;
use agent_api::diagnostic::Code;
use agent_api::lower::{ToolEntry, digest};
use agent_api::served::drifted;
use agent_api::text::sort::map_of;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::{Value, json_string};
use std::collections::BTreeMap;

/// What is known of a tool that no lock has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offered {
    /// The digest of its first definition.
    pub(crate) first: String,
    /// What its server lists in its place now.
    pub(crate) deviation: Option<Deviation>,
    /// The first definition. A state does not have it: it is `None` until the server lists its tools
    /// again.
    pub(crate) definition: Option<String>,
}

impl Offered {
    /// Returns whether its server no longer lists it at all.
    pub(crate) fn is_gone(&self) -> bool {
        self.deviation == Some(Deviation::Missing)
    }

    /// Returns whether a list has it.
    pub(crate) fn is_listed(&self) -> bool {
        self.deviation.is_none() && self.definition.is_some()
    }
}

/// Returns what is known of a tool after its server listed these entries under its name, and the
/// differences from its first definition. Returns `None` for the first definition of one that is too
/// large.
pub(crate) fn after(
    before: Option<&Offered>,
    name: &str,
    (entry, count): (&str, usize),
) -> Option<(Offered, Vec<String>)> {
    let definition = ToolEntry::read(entry).definition(name);
    let present = digest(&definition);
    let Some(before) = before else {
        let fits = definition.len() <= OFFERED_MAX_BYTES;
        let deviation = (count > 1).then_some(Deviation::Repeated);
        let offered = Offered {
            first: present,
            deviation,
            definition: Some(definition),
        };
        return fits.then(|| (offered, Vec::new()));
    };
    let mut after = before.clone();
    let mut changes = Vec::new();
    after.deviation = match present == before.first {
        _ if count > 1 => Some(Deviation::Repeated),
        true => {
            after.definition = Some(definition);
            None
        }
        false => {
            let (found, widens) = match &before.definition {
                Some(first) => drifted(first, &definition),
                // Without the first definition, a collision can't be excluded.
                None => (Vec::new(), true),
            };
            changes = found;
            Some(Deviation::Changed { present, widens })
        }
    };
    Some((after, changes))
}

/// An offered tool with the name that clients call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer<'s> {
    /// The number of its server.
    pub(crate) server: usize,
    /// The name that its server has for it.
    pub(crate) own_name: &'s str,
    pub(crate) offered: &'s Offered,
}

/// Returns the offered tools by the names that clients call. The lock's names come first: an offered tool
/// whose names belong to others is not in the list.
pub(crate) fn offers<'s>(
    basis: &Basis,
    offered: impl Iterator<Item = (usize, &'s str, &'s Offered)>,
) -> BTreeMap<String, Offer<'s>> {
    let offered: Vec<_> = offered.collect();
    let stubs = basis.servers.iter().map(|it| &*it.stub);
    let locked: Vec<_> = basis
        .tools
        .iter()
        .map(|it| it.name())
        .chain(stubs)
        .collect();
    let shared = |name: &str| locked.contains(&name);
    let named: Vec<_> = offered
        .iter()
        .map(|(server, tool, _)| Named {
            server: &basis.servers[*server].name,
            tool,
        })
        .collect();
    let names = served_names(&named);
    let mut found: BTreeMap<String, Vec<Offer<'s>>> = BTreeMap::new();
    for ((name, named), (server, own_name, offered)) in names.into_iter().zip(&named).zip(offered) {
        let name = match shared(&name) && name == own_name {
            true => named.with_server(),
            false => name,
        };
        found.entry(name).or_default().push(Offer {
            server,
            own_name,
            offered,
        });
    }
    let single = found.into_iter().filter_map(|(name, mut it)| {
        let offer = it.pop()?;
        (it.is_empty() && !shared(&name)).then_some((name, offer))
    });
    map_of(single)
}

/// Returns the entry of a list for an offered tool, marked as one that no lock has.
pub(crate) fn marked(offer: &Offer<'_>, name: &str, generation: Generation) -> Option<String> {
    let definition = offer.offered.definition.as_deref()?;
    let shown = renamed(definition, name);
    let entry = entry_of(&shown, generation).unwrap_or(shown);
    let root = parse_strict(&entry)?;
    let Value::Mapping(members) = &root.value else {
        return None;
    };
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("_meta").object(|w| {
            w.key(OBSERVED_KEY)
                .object(|w| w.key("codes").strings([Code::ToolNotLocked.name()]));
        });
        for member in members {
            w.key(&member.key).json(member.value.span.of(&entry));
        }
    });
    let mut text = w.finish();
    text.pop();
    Some(text)
}

/// Returns whether a name is short enough to be remembered.
pub(crate) fn is_short(name: &str) -> bool {
    json_string(name).len() <= UNLOCKED_NAME_MAX_BYTES
}
