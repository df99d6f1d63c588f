//! The resources and prompts that clients see: those of servers from which the lock passes them on \[4\].

use super::basis::Basis;
use super::client::Generation;
use super::entries::{Entry, Lists};
use super::limits::LIST_TTL_MS;
use super::method::ListKind;
use super::names::{Named, served_names};
use agent_api::model::Serve;
use agent_api::text::sort::sort_by;
use agent_syntax::json::Writer;
use std::collections::BTreeMap;

/// What clients see beside tools at a moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Served<'s> {
    pub(crate) basis: &'s Basis,
    /// By number of the server.
    pub(crate) lists: &'s [Lists],
    /// Whether the session only observes, so that it passes on what no lock does.
    pub(crate) observe: bool,
}

/// The server of a resource or of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The number of the server, and the name of the prompt there.
    One(usize, String),
    /// The names to ask for instead, or of the servers that all have it.
    Several(Vec<String>),
    /// No server.
    Nobody,
}

impl<'s> Served<'s> {
    /// Returns whether something is passed on from a server.
    pub(crate) fn passes(&self, server: usize, what: Serve) -> bool {
        self.observe || self.basis.serves(&self.basis.servers[server], what)
    }

    /// Returns the servers from which something is passed on.
    pub(crate) fn servers(&self, what: Serve) -> impl Iterator<Item = usize> {
        let servers = 0..self.basis.servers.len();
        servers.filter(move |server| self.passes(*server, what))
    }

    /// Returns the entries of a kind with their servers, in the order of the servers.
    fn entries(&self, kind: ListKind) -> Vec<(usize, &'s Entry)> {
        let mut found = Vec::new();
        for server in self.servers(kind.method().serve()) {
            let list = self.lists[server].get(kind);
            let entries = list.into_iter().flat_map(|it| &it.entries);
            found.extend(entries.map(|entry| (server, entry)));
        }
        found
    }

    /// Returns the entries of a kind by the names that clients ask for them. A name with several holders
    /// belongs to none of them.
    fn named(&self, kind: ListKind) -> BTreeMap<String, Vec<(usize, &'s Entry)>> {
        let entries = self.entries(kind);
        let names = match kind {
            ListKind::Prompts => {
                let named = entries.iter().map(|(server, entry)| Named {
                    server: &self.basis.servers[*server].name,
                    tool: &entry.key,
                });
                served_names(&named.collect::<Vec<_>>())
            }
            _ => entries.iter().map(|(_, it)| it.key.clone()).collect(),
        };
        let mut named: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (name, entry) in names.into_iter().zip(entries) {
            named.entry(name).or_default().push(entry);
        }
        named
    }

    /// Returns the result of a list, in the order of the servers and of their own lists.
    pub(crate) fn list(&self, kind: ListKind, generation: Generation) -> String {
        let named = self.named(kind);
        let mut places = BTreeMap::new();
        for (name, holders) in &named {
            if let [(server, entry)] = &holders[..] {
                places.insert((*server, entry.key.as_str()), name);
            }
        }
        let mut w = Writer::dense();
        let is_new = generation == Generation::Stateless;
        w.object(|w| {
            if is_new {
                w.key("cacheScope").string("private");
            }
            w.key(kind.member()).array(|w| {
                for (server, entry) in self.entries(kind) {
                    if let Some(name) = places.get(&(server, entry.key.as_str())) {
                        entry.write(w, kind, name);
                    }
                }
            });
            if is_new {
                w.key("resultType").string("complete");
                w.key("ttlMs").number(LIST_TTL_MS);
            }
        });
        let mut text = w.finish();
        text.pop();
        text
    }

    /// Returns the names that several servers list, with the servers. No client gets them.
    pub(crate) fn shared(&self, kind: ListKind) -> Vec<(String, Vec<&'s str>)> {
        let named = self.named(kind).into_iter();
        let shared = named.filter(|(_, holders)| holders.len() > 1);
        let shared = shared.map(|(name, holders)| (name, self.names_of(&holders)));
        shared.collect()
    }

    fn names_of(&self, holders: &[(usize, &'s Entry)]) -> Vec<&'s str> {
        let servers = holders.iter();
        let mut names: Vec<_> = servers
            .map(|(server, _)| self.basis.servers[*server].name.as_str())
            .collect();
        names.dedup();
        names
    }

    /// Returns the server of a URI without a fault: the one that lists it, else the one whose template it
    /// matches.
    pub(crate) fn resource(&self, uri: &str) -> Owner {
        let owner = |mut servers: Vec<usize>| {
            sort_by(&mut servers, Ord::cmp);
            servers.dedup();
            match &servers[..] {
                [] => Owner::Nobody,
                [server] => Owner::One(*server, String::new()),
                _ => {
                    let names = servers
                        .iter()
                        .map(|it| self.basis.servers[*it].name.clone());
                    Owner::Several(names.collect())
                }
            }
        };
        let listed = self.entries(ListKind::Resources).into_iter();
        let listed = listed.filter(|(_, entry)| entry.key == uri);
        match owner(listed.map(|(server, _)| server).collect()) {
            Owner::Nobody => {}
            found => return found,
        }
        let templates = self.entries(ListKind::Templates).into_iter();
        let matching = templates.filter(|(_, entry)| {
            let template = entry.template.as_ref();
            template.is_some_and(|template| template.matches(uri))
        });
        owner(matching.map(|(server, _)| server).collect())
    }

    /// Returns the server of a prompt.
    pub(crate) fn prompt(&self, name: &str) -> Owner {
        let named = self.named(ListKind::Prompts);
        match named.get(name).map(Vec::as_slice) {
            Some([(server, entry)]) => Owner::One(*server, entry.key.clone()),
            Some(holders) => {
                let names = self.names_of(holders).into_iter();
                Owner::Several(names.map(str::to_owned).collect())
            }
            None => {
                let own = named.into_iter().filter(|(_, holders)| {
                    let mut holders = holders.iter();
                    holders.any(|(_, entry)| entry.key == name)
                });
                let names: Vec<_> = own.map(|(name, _)| name).collect();
                match names.is_empty() {
                    true => Owner::Nobody,
                    false => Owner::Several(names),
                }
            }
        }
    }
}
