//! The tools that a client sees. Listing, expanding and calling ask the same functions.

use super::basis::Basis;
use super::client::{Generation, Key};
use super::expanded::ExpandedTools;
use super::live::Live;
use super::options::Expansion;
use agent_api::decide::token_estimate;
use agent_api::explain::CallReason;
use agent_api::model::{Load, ToolView};
use agent_api::served::stub_definition;
use agent_syntax::json::Writer;

/// Time for which a client may keep a list, in milliseconds: a quarantine changes it at any time.
const LIST_TTL_MS: u32 = 0;

/// What clients see at a moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surface<'s> {
    pub(crate) basis: &'s Basis,
    /// By number of the server.
    pub(crate) lives: &'s [Live],
    pub(crate) expanded: &'s ExpandedTools,
    pub(crate) expansion: Expansion,
}

impl Surface<'_> {
    /// Returns why nobody may have a tool, on any surface. An observing session withholds only what
    /// drifted.
    pub(crate) fn withholding(&self, tool: usize) -> Vec<CallReason> {
        let drift = self.drift(tool);
        let refusals = &self.basis.tools[tool].served.refusals;
        drift.into_iter().chain(refusals.iter().cloned()).collect()
    }

    /// Returns the reason of a tool that its server no longer lists as it was locked.
    pub(crate) fn drift(&self, tool: usize) -> Option<CallReason> {
        let own = &self.basis.tools[tool];
        let deviation = self.lives[own.server].deviation(tool)?;
        let server = &self.basis.servers[own.server];
        Some(deviation.reason(&server.name, own.name(), &own.digest))
    }

    /// Returns whether no surface has a tool.
    pub(crate) fn is_withheld(&self, tool: usize) -> bool {
        let own = &self.basis.tools[tool];
        !own.served.refusals.is_empty() || self.lives[own.server].deviation(tool).is_some()
    }

    /// Returns whether a tool stands behind the stub of its server.
    pub(crate) fn is_behind_stub(&self, tool: usize) -> bool {
        self.basis.tools[tool].load == Load::OnDemand && self.expansion != Expansion::None
    }

    /// Returns whether a session's list has a tool under its own name.
    pub(crate) fn is_listed(&self, tool: usize, session: Option<&Key>) -> bool {
        !self.is_withheld(tool) && (!self.is_behind_stub(tool) || self.is_added(tool, session))
    }

    /// Returns whether an expansion added a tool to a session's list.
    fn is_added(&self, tool: usize, session: Option<&Key>) -> bool {
        self.expansion == Expansion::List && self.expanded.has(session, tool)
    }

    /// Returns the tools behind the stub of a server that are not withheld.
    pub(crate) fn stub_tools(&self, server: usize) -> Vec<usize> {
        let tools = self.basis.tools_of(server);
        tools
            .filter(|tool| self.is_behind_stub(*tool) && !self.is_withheld(*tool))
            .collect()
    }

    /// Returns the definition of a server's stub, if it has one.
    pub(crate) fn stub(&self, server: usize) -> Option<String> {
        let tools = self.stub_tools(server);
        if tools.is_empty() {
            return None;
        }
        let entry = self.basis.entry(server)?;
        let name = |tool: &usize| self.basis.tools[*tool].name();
        let tools: Vec<ToolView<'_>> = tools.iter().filter_map(|it| entry.tool(name(it))).collect();
        Some(stub_definition(entry, &tools))
    }

    /// Returns the definitions that a session's list has, by name: whether it is one of a stub, and its
    /// text.
    fn entries(&self, generation: Generation, session: Option<&Key>) -> Vec<(&str, String)> {
        let tools = self.basis.tools.iter().enumerate();
        let listed = tools.filter(|(number, _)| self.is_listed(*number, session));
        let mut entries: Vec<_> = listed
            .map(|(_, tool)| (tool.name(), tool.entry(generation).to_owned()))
            .collect();
        let servers = self.basis.servers.iter().enumerate();
        entries.extend(servers.filter_map(|(number, server)| {
            let stub = self.stub(number)?;
            Some((&*server.stub, stub))
        }));
        entries.sort_by(|a, b| a.0.cmp(b.0));
        entries
    }

    /// Returns the result of `tools/list`.
    pub(crate) fn list(&self, generation: Generation, session: Option<&Key>) -> String {
        let mut w = Writer::dense();
        let is_new = generation == Generation::Stateless;
        w.object(|w| {
            if is_new {
                w.key("cacheScope").string("private");
                w.key("resultType").string("complete");
            }
            w.key("tools").array(|w| {
                for (_, entry) in self.entries(generation, session) {
                    w.json(&entry);
                }
            });
            if is_new {
                w.key("ttlMs").number(LIST_TTL_MS);
            }
        });
        let mut text = w.finish();
        text.pop();
        text
    }

    /// Returns the names of a session's list, and of the tools behind its stubs.
    pub(crate) fn names(&self, session: Option<&Key>) -> Vec<&str> {
        let numbers = 0..self.basis.tools.len();
        let tools = numbers.filter(|number| self.is_listed(*number, session));
        let tools = tools.map(|number| self.basis.tools[number].name());
        let stubs = self.basis.servers.iter().enumerate();
        let stubs = stubs.filter(|(number, _)| !self.stub_tools(*number).is_empty());
        let mut names: Vec<_> = tools.chain(stubs.map(|(_, it)| &*it.stub)).collect();
        names.sort_unstable();
        names
    }

    /// Returns the estimated tokens of what every client sees, and of what a session has got.
    pub(crate) fn tokens(&self, session: Option<&Key>) -> u64 {
        let numbers = 0..self.basis.tools.len();
        let has = |tool: &usize| {
            let is_got = self.expanded.has(session, *tool);
            self.is_listed(*tool, session) || is_got && !self.is_withheld(*tool)
        };
        let tools = numbers.filter(has);
        let tools = tools.map(|number| token_estimate(&self.basis.tools[number].definition));
        let servers = 0..self.basis.servers.len();
        let stubs = servers.filter_map(|server| self.stub(server));
        tools.sum::<u64>() + stubs.map(|stub| token_estimate(&stub)).sum::<u64>()
    }

    /// Returns which tools no surface has. Two lists differ if these do.
    pub(crate) fn withheld(&self) -> Vec<bool> {
        let numbers = 0..self.basis.tools.len();
        numbers.map(|number| self.is_withheld(number)).collect()
    }
}
