//! The tools that a client sees. Listing, expanding and calling ask the same functions.

use super::basis::Basis;
use super::client::{Generation, Key};
use super::expanded::ExpandedTools;
use super::health::ServerHealth;
use super::limits::LIST_TTL_MS;
use super::live::Live;
use super::offered::{Offer, marked, offers};
use super::options::Expansion;
use agent_api::decide::token_estimate;
use agent_api::diagnostic::Code;
use agent_api::explain::CallReason;
use agent_api::model::{HealthStatus, Load, ToolView};
use agent_api::served::stub_definition;
use agent_api::text::sort::sort_by;
use agent_api::text::visible;
use agent_record::Clock;
use agent_syntax::json::Writer;
use std::collections::BTreeMap;

/// What clients see at a moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surface<'s> {
    pub(crate) basis: &'s Basis,
    /// By number of the server.
    pub(crate) lives: &'s [Live],
    pub(crate) expanded: &'s ExpandedTools,
    pub(crate) expansion: Expansion,
    /// The observed health, by number of the server.
    pub(crate) health: &'s [ServerHealth],
    pub(crate) now: Clock,
    /// Whether the session only observes, so that it offers what no lock has.
    pub(crate) observe: bool,
}

/// What decides on lists, but for what sessions have expanded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Which tools no surface has, by number.
    withheld: Vec<bool>,
    /// The offered tools: the names that clients call, and the digests of the definitions.
    offered: Vec<(String, String)>,
}

impl<'s> Surface<'s> {
    /// Returns why no client may have a tool, on any surface. An observing session withholds only what
    /// drifted.
    pub(crate) fn withholding(&self, tool: usize) -> Vec<CallReason> {
        let drift = self.drift(tool);
        let refusals = &self.basis.tools[tool].served.refusals;
        let reasons = drift.into_iter().chain(refusals.iter().cloned());
        reasons.chain(self.replaced(tool)).collect()
    }

    /// Returns why a tool is not served now, by the health of servers: a fallback is in its place, or it
    /// is a fallback that takes no place.
    fn replaced(&self, tool: usize) -> Option<CallReason> {
        if self.is_in_force(tool) {
            return None;
        }
        match self.vetoed(self.basis.tools[tool].server) {
            Some((reason, _)) if !self.basis.tools[tool].terms.fallbacks.is_empty() => Some(reason),
            _ => self.standing_by(tool),
        }
    }

    /// Returns the reason of a fallback that takes no place now.
    pub(crate) fn standing_by(&self, tool: usize) -> Option<CallReason> {
        let own = &self.basis.tools[tool];
        let first = &self.basis.tools[*own.terms.firsts.first()?];
        if !own.terms.fallbacks.is_empty() || self.is_in_force(tool) {
            return None;
        }
        let (name, first_name) = (visible(own.name()), visible(first.name()));
        let server = &self.basis.servers[first.server].name;
        let text = format!(
            "`{name}` is the fallback of `{first_name}`, and health does not veto the server `{server}`"
        );
        let help = format!("Call `{first_name}`.");
        Some(CallReason::new(Code::HealthVeto, text).help(help))
    }

    /// Returns whether a tool is served by the health of servers: it is no fallback, and none takes its
    /// place; or it is one whose first has a vetoed server.
    pub(crate) fn is_in_force(&self, tool: usize) -> bool {
        self.is_in_force_under(tool, &|server| self.is_vetoed(server))
    }

    fn is_in_force_under(&self, tool: usize, is_vetoed: &dyn Fn(usize) -> bool) -> bool {
        let tools = &self.basis.tools;
        let terms = &tools[tool].terms;
        terms.hold(tool, |tool| is_vetoed(tools[tool].server))
    }

    /// Returns the names of the tools that are served while another one is not: its fallbacks, or those
    /// whose fallback it is.
    pub(crate) fn instead_of(&self, tool: usize) -> Vec<String> {
        let terms = &self.basis.tools[tool].terms;
        let others = terms.fallbacks.iter().chain(&terms.firsts);
        let served = others.filter(|it| !self.is_withheld(**it));
        served
            .map(|it| self.basis.tools[*it].name().to_owned())
            .collect()
    }

    /// Returns the health of a server: of the snapshot, if there is one.
    pub(crate) fn status(&self, server: usize) -> (Option<HealthStatus>, Option<u64>) {
        match &self.basis.health {
            Some(snapshot) => (snapshot.status(&self.basis.servers[server].id), None),
            None => {
                let health = self.health[server].at(self.now.unix_ms);
                (Some(health.status), health.ends_ms())
            }
        }
    }

    /// Returns whether health vetoes the calls of a server. What a server has now is not known before it
    /// has listed it.
    pub(crate) fn is_vetoed(&self, server: usize) -> bool {
        let passes = self.status(server).0.is_some_and(HealthStatus::passes);
        !passes || !self.lives[server].is_listed
    }

    /// Returns why health vetoes the calls of a server, and when to try again.
    pub(crate) fn vetoed(&self, server: usize) -> Option<(CallReason, Option<u64>)> {
        if !self.is_vetoed(server) {
            return None;
        }
        let name = &self.basis.servers[server].name;
        let (status, ends) = self.status(server);
        let text = match status {
            Some(status) if status.passes() => {
                format!("the server `{name}` has not listed its tools yet")
            }
            Some(status) => format!("the server `{name}` is {}", status.as_str()),
            None => format!("the health of the server `{name}` is not known"),
        };
        // When another state ends is not known: a server may be connected again at any time.
        let ends = ends.filter(|_| status == Some(HealthStatus::Quarantine));
        let retry = ends.map(|end| end.saturating_sub(self.now.unix_ms));
        let (text, help) = match &self.lives[server].failure {
            Some(failure) => (
                format!("{text}: {failure}"),
                "Do without the server: its operator must mend it.",
            ),
            None => (
                text,
                "Wait until the server is healthy, then repeat the call.",
            ),
        };
        Some((CallReason::new(Code::HealthVeto, text).help(help), retry))
    }

    /// Returns the reason of a tool that its server no longer lists as it was locked.
    pub(crate) fn drift(&self, tool: usize) -> Option<CallReason> {
        let own = &self.basis.tools[tool];
        let deviation = self.lives[own.server].deviation(tool)?;
        let server = &self.basis.servers[own.server];
        let was = format!("was locked with the definition {}", own.digest);
        Some(deviation.reason(&server.name, own.own_name(), &was))
    }

    /// Returns whether no surface has a tool.
    pub(crate) fn is_withheld(&self, tool: usize) -> bool {
        self.is_withheld_under(tool, &|server| self.is_vetoed(server))
    }

    fn is_withheld_under(&self, tool: usize, is_vetoed: &dyn Fn(usize) -> bool) -> bool {
        let own = &self.basis.tools[tool];
        !own.served.refusals.is_empty()
            || self.lives[own.server].deviation(tool).is_some()
            || !self.is_in_force_under(tool, is_vetoed)
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
        let tools = tools.iter().map(|it| &self.basis.tools[*it]);
        let tools = tools.filter_map(|it| Some((it.name(), entry.tool(it.own_name())?)));
        let tools: Vec<(&str, ToolView<'_>)> = tools.collect();
        Some(stub_definition(entry, &tools))
    }

    /// Returns the definitions that a session's list has, by name: whether it is one of a stub, and its
    /// text.
    fn entries(&self, generation: Generation, session: Option<&Key>) -> Vec<(String, String)> {
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
        let mut entries: Vec<_> = entries
            .into_iter()
            .map(|(name, entry)| (name.to_owned(), entry))
            .collect();
        entries.extend(self.offers().into_iter().filter_map(|(name, offer)| {
            let entry = offer
                .offered
                .is_listed()
                .then(|| marked(&offer, &name, generation));
            Some((name, entry??))
        }));
        sort_by(&mut entries, |a, b| a.0.cmp(&b.0));
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
    pub(crate) fn names(&self, session: Option<&Key>) -> Vec<String> {
        let numbers = 0..self.basis.tools.len();
        let tools = numbers.filter(|number| self.is_listed(*number, session));
        let tools = tools.map(|number| self.basis.tools[number].name());
        let stubs = self.basis.servers.iter().enumerate();
        let stubs = stubs.filter(|(number, _)| !self.stub_tools(*number).is_empty());
        let names = tools.chain(stubs.map(|(_, it)| &*it.stub));
        let mut names: Vec<_> = names.map(str::to_owned).collect();
        let offers = self.offers().into_iter();
        names.extend(
            offers
                .filter(|(_, it)| it.offered.is_listed())
                .map(|(name, _)| name),
        );
        sort_by(&mut names, Ord::cmp);
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
        let tools = tools.map(|number| token_estimate(self.basis.tools[number].shown()));
        let servers = 0..self.basis.servers.len();
        let stubs = servers.filter_map(|server| self.stub(server));
        tools.sum::<u64>() + stubs.map(|stub| token_estimate(&stub)).sum::<u64>()
    }

    /// Returns what decides on lists, by the servers that health vetoes. Two lists differ if these do.
    pub(crate) fn shape(&self, vetoes: &[bool]) -> Shape {
        let numbers = 0..self.basis.tools.len();
        let is_vetoed = |server: usize| vetoes[server];
        let withheld = numbers.map(|number| self.is_withheld_under(number, &is_vetoed));
        let offers = self.offers().into_iter();
        let offers = offers.filter(|(_, it)| it.offered.is_listed());
        Shape {
            withheld: withheld.collect(),
            offered: offers
                .map(|(name, it)| (name, it.offered.first.clone()))
                .collect(),
        }
    }

    /// Returns the tools that no lock has, by the names that clients call.
    pub(crate) fn offers(&self) -> BTreeMap<String, Offer<'s>> {
        if !self.observe {
            return BTreeMap::new();
        }
        let lives = self.lives.iter().enumerate();
        let offered = lives.flat_map(|(server, live)| {
            let own = live.offered.iter();
            own.map(move |(name, offered)| (server, name.as_str(), offered))
        });
        offers(self.basis, offered)
    }

    /// Returns the reason of an offered tool that its server no longer lists as it first did.
    pub(crate) fn offer_drift(&self, offer: &Offer<'_>) -> Option<CallReason> {
        let deviation = offer.offered.deviation.as_ref()?;
        let server = &self.basis.servers[offer.server].name;
        let was = format!(
            "was first listed with the definition {}",
            offer.offered.first
        );
        Some(deviation.reason(server, offer.own_name, &was))
    }

    /// Returns which servers health vetoes.
    pub(crate) fn vetoes(&self) -> Vec<bool> {
        let servers = 0..self.basis.servers.len();
        servers.map(|server| self.is_vetoed(server)).collect()
    }
}
