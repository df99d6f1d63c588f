//! The differences between two locks, or between a lock and an index.

use super::matching::capability_failure;
use super::rejection::Rejection;
use super::selection::ignored_patterns;
use agent_diagnostic::Code;
use agent_lower::{Candidate, integrity, locked_digest};
use agent_model::{
    Capability, Grant, Index, Load, Lock, Name, NonEmpty, Scope, Selection, Serve, ServerId,
    ToolName, ToolView, selection_hash,
};
use agent_text::Place;
use agent_text::sort::{sort_by, sort_by_key};

/// One named difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// [`Code::LockMissing`], a code of drift, or the code of a reason that now rejects the locked
    /// server.
    pub code: Code,
    /// The category, if the difference is about one.
    pub category: Option<String>,
    /// The capability, if the difference is about one: `verb:resource`, and the constraints.
    pub capability: Option<String>,
    /// The tool of that capability.
    pub tool: Option<String>,
    /// The earlier value, if any.
    pub before: Option<String>,
    /// The present value, if any.
    pub after: Option<String>,
    /// The changes in detail, if known.
    pub details: Vec<String>,
    /// The places of the earlier value in the lock and of the present one in the index, if known.
    pub places: Vec<Place>,
}

impl Drift {
    /// Returns whether the difference gives the agent more access.
    pub fn widening(&self) -> bool {
        matches!(
            self.code,
            Code::ScopeWidened
                | Code::ToolsWidened
                | Code::ServeWidened
                | Code::PatternsWidened
                | Code::PolicyWidened
                | Code::RequirementAdded
                | Code::ForbidRemoved
        )
    }

    /// Returns whether the difference gives the agent less access.
    pub fn narrowing(&self) -> bool {
        matches!(
            self.code,
            Code::ScopeNarrowed
                | Code::ToolsNarrowed
                | Code::ServeNarrowed
                | Code::PatternsNarrowed
                | Code::PolicyNarrowed
                | Code::RequirementRemoved
                | Code::ForbidAdded
        )
    }
}

/// Whether a lock is current.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockState {
    /// There is no difference.
    Fresh,
    /// There are differences.
    Drifted(NonEmpty<Drift>),
}

impl LockState {
    /// Returns the differences.
    pub fn drifts(&self) -> &[Drift] {
        match self {
            Self::Fresh => &[],
            Self::Drifted(drifts) => drifts.as_slice(),
        }
    }

    /// Fails if there are differences.
    pub(super) fn fresh(self) -> Result<(), NonEmpty<Drift>> {
        match self {
            Self::Fresh => Ok(()),
            Self::Drifted(drifts) => Err(drifts),
        }
    }
}

impl From<Vec<Drift>> for LockState {
    fn from(drifts: Vec<Drift>) -> Self {
        NonEmpty::new(drifts).map_or(Self::Fresh, Self::Drifted)
    }
}

/// Compares the older lock, if any, with the newer: the agent, the forbidden labels, then the
/// selections by category and by capability.
pub fn compare(older: Option<&Lock>, newer: &Lock) -> LockState {
    let mut drifts = Drifts::default();
    let Some(older) = older else {
        drifts.add(Code::LockMissing, None, None, None);
        return drifts.0.into();
    };
    if older.agent != newer.agent {
        let name = |lock: &Lock| format!("{} {}", lock.agent.name, lock.agent.version);
        let (before, after) = (name(older), name(newer));
        drifts.add(Code::AgentChanged, None, Some(&before), Some(&after));
    }
    if older.policy != newer.policy {
        let (before, after) = (older.policy.as_deref(), newer.policy.as_deref());
        drifts.add(Code::PolicyChanged, None, before, after);
    }
    for label in removed(&older.forbid, &newer.forbid) {
        drifts.add(Code::ForbidRemoved, None, Some(label.as_str()), None);
    }
    for label in removed(&newer.forbid, &older.forbid) {
        drifts.add(Code::ForbidAdded, None, None, Some(label.as_str()));
    }
    let mut granted = Vec::new();
    for (side, lock) in [older, newer].into_iter().enumerate() {
        for selection in &lock.selections {
            // A fallback is compared with a fallback: which tool stands in for which is a difference.
            let required = match &selection.grant {
                Grant::Category { category, .. } => (None, Some(category), false),
                Grant::Capability {
                    capability,
                    fallback,
                    ..
                } => (Some(capability), None, *fallback),
            };
            granted.push((required, side, selection));
        }
    }
    sort_by_key(&mut granted, |(required, side, _)| (*required, *side));
    for same in granted.chunk_by(|a, b| a.0 == b.0) {
        let of = |side| same.iter().filter(move |it| it.1 == side).map(|it| it.2);
        drifts.compare_grant(of(0).collect(), of(1).collect());
    }
    drifts.0.into()
}

/// Compares a lock with the entries of an index: the index must contain every selection, with the
/// locked hash and integrity, and it must offer what the selection grants.
pub fn verify(lock: &Lock, index: &Index) -> LockState {
    verify_under(lock, index, None)
}

/// Compares a lock with the entries of an index, and with the digest of a policy if one is given.
pub fn verify_under(lock: &Lock, index: &Index, policy: Option<&str>) -> LockState {
    let mut drifts = Drifts::default();
    if policy.is_some() && policy != lock.policy.as_deref() && lock.has_capabilities() {
        drifts.add(Code::PolicyChanged, None, lock.policy.as_deref(), policy);
    }
    for selection in &lock.selections {
        let grant = Some(&selection.grant);
        let expected = selection_hash(
            selection.id.as_str(),
            selection.version.as_str(),
            selection.endpoint.as_str(),
            selection.scopes.iter().map(Scope::as_str),
        );
        drifts.compare_value(Code::HashChanged, grant, &selection.hash, &expected);
        let server = index.find(selection.id.as_str(), selection.version.as_str());
        let Some(server) = server else {
            drifts.add(Code::ServerRemoved, grant, Some(&named(selection)), None);
            continue;
        };
        let endpoint = selection.endpoint.as_str();
        drifts.compare_value(Code::EndpointChanged, grant, endpoint, server.endpoint());
        // An edited lock may be consistent and grant what the server never offered.
        match &selection.grant {
            Grant::Category {
                category: locked,
                only,
                ..
            } => {
                for tool in only.iter().map(ToolName::as_str) {
                    if server.tool(tool).is_none() {
                        drifts.add(Code::ToolMissing, grant, Some(tool), None);
                    }
                }
                let offered: Vec<_> = server.categories().collect();
                if !offered.contains(&locked.as_str()) {
                    drifts.add_missing(Code::MissingCategory, grant, locked.as_str(), &offered);
                }
            }
            Grant::Capability {
                capability,
                definition,
                tool,
                ..
            } => {
                let tool = server.tool(tool.as_str());
                let is_current = integrity(server) == selection.integrity;
                drifts.verify_tool(selection, is_current, capability, definition, tool);
            }
        }
        let offered: Vec<_> = server.scopes().collect();
        for scope in selection.scopes.iter().map(Scope::as_str) {
            if offered.binary_search(&scope).is_err() {
                drifts.add(Code::MissingScope, grant, Some(scope), None);
            }
        }
        let ignored = ignored_patterns(&selection.grant, server);
        drifts.compare_patterns(grant, &selection.patterns, &ignored);
        let (before, after) = (&selection.integrity, integrity(server));
        drifts.compare_value(Code::IntegrityChanged, grant, before, after);
    }
    drifts.0.into()
}

/// Returns the names in `a` that are not in `b`, both sorted.
fn removed<'l, N: Name>(a: &'l [N], b: &'l [N]) -> impl Iterator<Item = &'l N> {
    a.iter().filter(|name| b.binary_search(name).is_err())
}

fn named(selection: &Selection) -> String {
    format!("{} {}", selection.id, selection.version)
}

fn described(selection: &Selection) -> String {
    let patterns = match &*selection.patterns {
        [] => String::new(),
        tools => format!(", ignores patterns of {}", joined(tools)),
    };
    let (load, only, serve) = match &selection.grant {
        Grant::Capability {
            tool,
            load,
            fallback,
            ..
        } => {
            let role = if *fallback { ", fallback" } else { "" };
            let load = load.as_str();
            return format!("{} {tool} ({load}{role}){patterns}", named(selection));
        }
        Grant::Category {
            load, only, serve, ..
        } => (load, only, serve),
    };
    let mut words = format!("{} ({})", named(selection), joined(&selection.scopes));
    if *load == Load::OnDemand {
        words += ", on_demand";
    }
    if !only.is_empty() {
        words += &format!(", only {}", joined(only));
    }
    if !serve.is_empty() {
        let served: Vec<_> = serve.iter().map(|it| it.as_str()).collect();
        words += &format!(", serves {}", served.join(", "));
    }
    words + &patterns
}

/// Returns names separated by commas.
fn joined<N: Name>(names: &[N]) -> String {
    let names: Vec<_> = names.iter().map(Name::as_str).collect();
    names.join(", ")
}

/// The properties that match two selections: scopes, server, the rest of the grant.
type Same<'l> = (Option<&'l [Scope]>, Option<&'l ServerId>, Option<Rest<'l>>);

/// The `load`, the tools and what is served of a selection.
type Rest<'l> = (Load, &'l [ToolName], &'l [Serve]);

fn rest(selection: &Selection) -> Rest<'_> {
    match &selection.grant {
        Grant::Category {
            load, only, serve, ..
        } => (*load, only, serve),
        Grant::Capability { tool, load, .. } => (*load, std::slice::from_ref(tool), &[]),
    }
}

/// Moves selections with the same key out of both lists, in order.
fn pair<'l>(
    older: &mut Vec<&'l Selection>,
    newer: &mut Vec<&'l Selection>,
    key: fn(&Selection) -> Same<'_>,
) -> Vec<(&'l Selection, &'l Selection)> {
    let by_key = |list: &[&'l Selection]| {
        let mut keyed: Vec<_> = list.iter().map(|one| key(one)).zip(0..).collect();
        sort_by(&mut keyed, Ord::cmp);
        keyed
    };
    let mut waiting = by_key(newer).into_iter().peekable();
    let mut places = Vec::new();
    for (wanted, place) in by_key(older) {
        while waiting.next_if(|(key, _)| *key < wanted).is_some() {}
        if let Some((_, other)) = waiting.next_if(|(key, _)| *key == wanted) {
            places.push((place, other));
        }
    }
    let pairs = places.iter().map(|(a, b)| (older[*a], newer[*b])).collect();
    let (of_older, of_newer) = places.into_iter().unzip();
    remove(older, of_older);
    remove(newer, of_newer);
    pairs
}

/// Removes the items at these places.
fn remove(list: &mut Vec<&Selection>, places: Vec<usize>) {
    let mut kept = vec![true; list.len()];
    for place in places {
        kept[place] = false;
    }
    let mut kept = kept.into_iter();
    list.retain(|_| kept.next().unwrap_or_default());
}

#[derive(Default)]
struct Drifts(Vec<Drift>);

impl Drifts {
    fn add(
        &mut self,
        code: Code,
        grant: Option<&Grant>,
        before: Option<&str>,
        after: Option<&str>,
    ) {
        let (category, capability) = match grant {
            None => (None, None),
            Some(Grant::Category { category, .. }) => (Some(category.to_string()), None),
            Some(Grant::Capability { capability, .. }) => (None, Some(capability.to_string())),
        };
        let tool = match grant {
            Some(Grant::Capability { tool, .. }) => Some(tool.to_string()),
            _ => None,
        };
        self.0.push(Drift {
            code,
            category,
            capability,
            tool,
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
            details: Vec::new(),
            places: Vec::new(),
        });
    }

    fn add_missing(&mut self, code: Code, grant: Option<&Grant>, locked: &str, offered: &[&str]) {
        let offered = offered.join(", ");
        let after = Some(&*offered).filter(|it| !it.is_empty());
        self.add(code, grant, Some(locked), after);
    }

    fn compare_value(&mut self, code: Code, grant: Option<&Grant>, before: &str, after: &str) {
        if before != after {
            self.add(code, grant, Some(before), Some(after));
        }
    }

    /// Compares a locked tool with that of the index. `is_current` says that the index has the locked entry.
    fn verify_tool(
        &mut self,
        selection: &Selection,
        is_current: bool,
        capability: &Capability,
        definition: &str,
        tool: Option<ToolView<'_>>,
    ) {
        let grant = Some(&selection.grant);
        let Some(tool) = tool else {
            self.add(Code::ToolChanged, grant, Some(&described(selection)), None);
            return;
        };
        match capability_failure(capability, &Candidate::of(tool)) {
            Some(Rejection::MissingCapability { offered }) => {
                let pair = capability.pair();
                self.add_missing(Code::MissingCapability, grant, &pair, &offered);
            }
            Some(Rejection::ConstraintUnmet { missing }) => {
                let missing = missing.join(", ");
                self.add(Code::ConstraintUnmet, grant, Some(&missing), None);
            }
            _ => {}
        }
        let present = locked_digest(tool, |digest| digest == definition);
        // In the locked entry a tool has the locked definition, so another digest was written by hand.
        let code = match is_current {
            true => Code::HashChanged,
            false => Code::DefinitionChanged,
        };
        self.compare_value(code, grant, definition, &present);
    }

    /// Compares the selections for one category or capability. Several requirements may name it, so
    /// selections are paired first: by the same scopes, server and rest, then the same scopes and
    /// server, then the same scopes, then the same server, then in order.
    fn compare_grant<'l>(&mut self, mut older: Vec<&'l Selection>, mut newer: Vec<&'l Selection>) {
        let keys: [fn(&Selection) -> Same<'_>; 5] = [
            |one| (Some(&one.scopes), Some(&one.id), Some(rest(one))),
            |one| (Some(&one.scopes), Some(&one.id), None),
            |one| (Some(&one.scopes), None, None),
            |one| (None, Some(&one.id), None),
            |_| (None, None, None),
        ];
        let mut pairs = Vec::new();
        for key in keys {
            pairs.extend(pair(&mut older, &mut newer, key));
        }
        sort_by(&mut pairs, |(a, _), (b, _)| a.order().cmp(&b.order()));
        for (a, b) in pairs {
            self.compare_selection(a, b);
        }
        for gone in older {
            let (grant, before) = (Some(&gone.grant), described(gone));
            self.add(Code::RequirementRemoved, grant, Some(&before), None);
        }
        for new in newer {
            let (grant, after) = (Some(&new.grant), described(new));
            self.add(Code::RequirementAdded, grant, None, Some(&after));
        }
    }

    /// Compares the tools of a server that two selections lock. An empty list is every tool.
    fn compare_only(&mut self, grant: Option<&Grant>, before: &[ToolName], after: &[ToolName]) {
        match (before, after) {
            ([], []) => {}
            (before, []) => self.add(Code::ToolsWidened, grant, Some(&joined(before)), None),
            ([], after) => self.add(Code::ToolsNarrowed, grant, None, Some(&joined(after))),
            (before, after) => {
                for tool in removed(after, before) {
                    self.add(Code::ToolsWidened, grant, None, Some(tool.as_str()));
                }
                for tool in removed(before, after) {
                    self.add(Code::ToolsNarrowed, grant, Some(tool.as_str()), None);
                }
            }
        }
    }

    fn compare_patterns(&mut self, grant: Option<&Grant>, before: &[ToolName], after: &[ToolName]) {
        for tool in removed(after, before) {
            self.add(Code::PatternsWidened, grant, None, Some(tool.as_str()));
        }
        for tool in removed(before, after) {
            self.add(Code::PatternsNarrowed, grant, Some(tool.as_str()), None);
        }
    }

    fn compare_selection(&mut self, a: &Selection, b: &Selection) {
        let grant = Some(&b.grant);
        self.compare_patterns(grant, &a.patterns, &b.patterns);
        for scope in removed(&b.scopes, &a.scopes) {
            self.add(Code::ScopeWidened, grant, None, Some(scope.as_str()));
        }
        for scope in removed(&a.scopes, &b.scopes) {
            self.add(Code::ScopeNarrowed, grant, Some(scope.as_str()), None);
        }
        if let (
            Grant::Category {
                only: a_only,
                serve: a_serve,
                ..
            },
            Grant::Category { only, serve, .. },
        ) = (&a.grant, &b.grant)
        {
            self.compare_only(grant, a_only, only);
            for kind in serve.iter().filter(|it| !a_serve.contains(it)) {
                self.add(Code::ServeWidened, grant, None, Some(kind.as_str()));
            }
            for kind in a_serve.iter().filter(|it| !serve.contains(it)) {
                self.add(Code::ServeNarrowed, grant, Some(kind.as_str()), None);
            }
        }
        let mut compare = |code, before: &str, after: &str| {
            self.compare_value(code, grant, before, after);
        };
        if a.id != b.id {
            compare(Code::SelectionChanged, &named(a), &named(b));
            return;
        }
        if let (
            Grant::Capability {
                definition: a_definition,
                tool: a_tool,
                ..
            },
            Grant::Capability {
                definition, tool, ..
            },
        ) = (&a.grant, &b.grant)
        {
            compare(Code::ToolChanged, a_tool.as_str(), tool.as_str());
            if a_tool == tool {
                compare(Code::DefinitionChanged, a_definition, definition);
            }
        }
        let (a_load, load) = (rest(a).0, rest(b).0);
        compare(Code::LoadChanged, a_load.as_str(), load.as_str());
        compare(Code::VersionChanged, a.version.as_str(), b.version.as_str());
        let (before, after) = (a.endpoint.as_str(), b.endpoint.as_str());
        compare(Code::EndpointChanged, before, after);
        // Another version or endpoint implies another entry.
        if a.version == b.version && before == after {
            compare(Code::IntegrityChanged, &a.integrity, &b.integrity);
            if a.scopes == b.scopes {
                compare(Code::HashChanged, &a.hash, &b.hash);
            }
        }
    }
}
