//! How a lock differs from another, or from an index.

use super::assess::Rejection;
use super::matching::capability_failure;
use agent_diagnostic::Code;
use agent_lower::{Candidate, definition_digest, integrity};
use agent_model::{
    Capability, Grant, Index, Load, Lock, Name, NonEmpty, Scope, Selection, ServerId, ToolName,
    ToolView, selection_hash,
};
use agent_text::sort::{sort_by, sort_by_key};

/// One named difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// [`Code::LockMissing`], one of the codes of drift, or the code of a reason for which the
    /// locked server would now be rejected.
    pub code: Code,
    /// The category it is about, where it is about one.
    pub category: Option<String>,
    /// The capability it is about, where it is about one: `verb:resource`, and the constraints.
    pub capability: Option<String>,
    /// What was; none where it was not there.
    pub before: Option<String>,
    /// What is; none where it is no longer there.
    pub after: Option<String>,
    /// What changed in detail, where that can be told.
    pub details: Vec<String>,
}

impl Drift {
    /// Whether the agent may use or do more than before.
    pub fn widening(&self) -> bool {
        matches!(
            self.code,
            Code::ScopeWidened | Code::RequirementAdded | Code::ForbidRemoved
        )
    }
}

/// Whether a lock still holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockState {
    /// It does.
    Fresh,
    /// It does not.
    Drifted(NonEmpty<Drift>),
}

impl LockState {
    /// The differences; empty if it holds.
    pub fn drifts(&self) -> &[Drift] {
        match self {
            Self::Fresh => &[],
            Self::Drifted(drifts) => drifts.as_slice(),
        }
    }
}

impl From<Vec<Drift>> for LockState {
    fn from(drifts: Vec<Drift>) -> Self {
        NonEmpty::new(drifts).map_or(Self::Fresh, Self::Drifted)
    }
}

/// What differs from the older lock, if there is one, to the newer: the agent, what is
/// forbidden, then the selections by category and by capability.
pub fn compare(older: Option<&Lock>, newer: &Lock) -> LockState {
    let mut drifts = Drifts::default();
    let Some(older) = older else {
        drifts.add(Code::LockMissing, None, None, None);
        return drifts.0.into();
    };
    if older.agent != newer.agent {
        let name = |lock: &Lock| format!("{} {}", lock.agent.name, lock.agent.version);
        drifts.add(
            Code::AgentChanged,
            None,
            Some(name(older)),
            Some(name(newer)),
        );
    }
    for label in removed(&older.forbid, &newer.forbid) {
        drifts.add(Code::ForbidRemoved, None, Some(label.to_string()), None);
    }
    for label in removed(&newer.forbid, &older.forbid) {
        drifts.add(Code::ForbidAdded, None, None, Some(label.to_string()));
    }
    let mut granted = Vec::new();
    for (side, lock) in [older, newer].into_iter().enumerate() {
        for selection in &lock.selections {
            let required = match &selection.grant {
                Grant::Category(category) => (None, Some(category)),
                Grant::Capability { capability, .. } => (Some(capability), None),
            };
            granted.push((required, side, selection));
        }
    }
    sort_by_key(&mut granted, |(required, side, _)| (*required, *side));
    for same in granted.chunk_by(|a, b| a.0 == b.0) {
        let sides = same.partition_point(|(_, side, _)| *side == 0);
        let [older, newer] = [&same[..sides], &same[sides..]]
            .map(|own| own.iter().map(|(_, _, selection)| *selection).collect());
        drifts.compare_grant(older, newer);
    }
    drifts.0.into()
}

/// What differs from a lock to the entries of an index: every selection should be there, with
/// the hash and the integrity that were locked, and offer what it is locked for.
pub fn verify(lock: &Lock, index: &Index) -> LockState {
    let mut drifts = Drifts::default();
    for selection in &lock.selections {
        let grant = Some(&selection.grant);
        let expected = selection_hash(
            selection.id.as_str(),
            selection.version.as_str(),
            selection.endpoint.as_str(),
            selection.scopes.iter().map(Scope::as_str),
        );
        if expected != selection.hash {
            drifts.add(
                Code::HashChanged,
                grant,
                Some(selection.hash.clone()),
                Some(expected),
            );
        }
        let server = index
            .versions(selection.id.as_str())
            .find(|server| server.version() == selection.version.as_str());
        let Some(server) = server else {
            drifts.add(Code::ServerRemoved, grant, Some(named(selection)), None);
            continue;
        };
        if server.endpoint() != selection.endpoint.as_str() {
            drifts.add(
                Code::EndpointChanged,
                grant,
                Some(selection.endpoint.to_string()),
                Some(server.endpoint().to_owned()),
            );
        }
        // A lock that somebody edited may fit itself, and grant what the server never offered.
        match &selection.grant {
            Grant::Category(locked) => {
                let locked = locked.as_str();
                if !server.categories().any(|category| category == locked) {
                    let offered: Vec<_> = server.categories().collect();
                    drifts.add(
                        Code::MissingCategory,
                        grant,
                        Some(locked.to_owned()),
                        (!offered.is_empty()).then(|| offered.join(", ")),
                    );
                }
            }
            Grant::Capability {
                capability,
                definition,
                tool,
                ..
            } => drifts.verify_tool(
                selection,
                capability,
                definition,
                server.tool(tool.as_str()),
            ),
        }
        let offered: Vec<_> = server.scopes().collect();
        for scope in &selection.scopes {
            if offered.binary_search(&scope.as_str()).is_err() {
                drifts.add(Code::MissingScope, grant, Some(scope.to_string()), None);
            }
        }
        let integrity = integrity(server);
        if integrity != selection.integrity {
            drifts.add(
                Code::IntegrityChanged,
                grant,
                Some(selection.integrity.clone()),
                Some(integrity),
            );
        }
    }
    drifts.0.into()
}

/// What stands in `a` and not in `b`, both sorted.
fn removed<'l, N: Name>(a: &'l [N], b: &'l [N]) -> impl Iterator<Item = &'l N> {
    a.iter().filter(|name| b.binary_search(name).is_err())
}

fn named(selection: &Selection) -> String {
    format!("{} {}", selection.id, selection.version)
}

fn described(selection: &Selection) -> String {
    if let Grant::Capability { tool, load, .. } = &selection.grant {
        return format!("{} {tool} ({})", named(selection), load.as_str());
    }
    let scopes: Vec<_> = selection.scopes.iter().map(Scope::as_str).collect();
    format!("{} ({})", named(selection), scopes.join(", "))
}

/// What two selections have in common that are taken for one: scopes, server, tool.
type Same<'l> = (
    Option<&'l [Scope]>,
    Option<&'l ServerId>,
    Option<(&'l ToolName, Load)>,
);

/// The tool of a selection, where it is of one, and when it is shown.
fn tool(selection: &Selection) -> Option<(&ToolName, Load)> {
    match &selection.grant {
        Grant::Category(_) => None,
        Grant::Capability { tool, load, .. } => Some((tool, *load)),
    }
}

/// Take out of both lists what has the same key in both, in order.
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
    let mut pairs = Vec::new();
    for (wanted, place) in by_key(older) {
        while waiting.next_if(|(key, _)| *key < wanted).is_some() {}
        if let Some((_, other)) = waiting.next_if(|(key, _)| *key == wanted) {
            pairs.push((place, other));
        }
    }
    let paired = pairs.iter().map(|(a, b)| (older[*a], newer[*b])).collect();
    let (of_older, of_newer) = pairs.into_iter().unzip();
    take_out(older, of_older);
    take_out(newer, of_newer);
    paired
}

/// Remove what stands at these places.
fn take_out(list: &mut Vec<&Selection>, places: Vec<usize>) {
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
        before: Option<String>,
        after: Option<String>,
    ) {
        let (category, capability) = match grant {
            None => (None, None),
            Some(Grant::Category(category)) => (Some(category.to_string()), None),
            Some(Grant::Capability { capability, .. }) => (None, Some(capability.to_string())),
        };
        self.0.push(Drift {
            code,
            category,
            capability,
            before,
            after,
            details: Vec::new(),
        });
    }

    /// Check that the index has a locked tool as it was locked.
    fn verify_tool(
        &mut self,
        selection: &Selection,
        capability: &Capability,
        definition: &str,
        tool: Option<ToolView<'_>>,
    ) {
        let grant = Some(&selection.grant);
        let Some(tool) = tool else {
            self.add(Code::ToolChanged, grant, Some(described(selection)), None);
            return;
        };
        match capability_failure(capability, &Candidate::of(tool)) {
            Some(Rejection::MissingCapability { offered }) => {
                let after = (!offered.is_empty()).then(|| offered.join(", "));
                self.add(
                    Code::MissingCapability,
                    grant,
                    Some(capability.pair()),
                    after,
                );
            }
            Some(Rejection::ConstraintUnmet { missing }) => {
                self.add(Code::ConstraintUnmet, grant, Some(missing.join(", ")), None);
            }
            _ => {}
        }
        let now = definition_digest(tool);
        if now != definition {
            let before = Some(definition.to_owned());
            self.add(Code::DefinitionChanged, grant, before, Some(now));
        }
    }

    /// Compare the selections for one category or capability. Several requirements may name it,
    /// so that it has to be said which selection became which: the same scopes, server and tool
    /// first, then the same scopes and server, then the same scopes, then the same server, then
    /// in order.
    fn compare_grant<'l>(&mut self, mut older: Vec<&'l Selection>, mut newer: Vec<&'l Selection>) {
        let keys: [fn(&Selection) -> Same<'_>; 5] = [
            |one| (Some(&one.scopes), Some(&one.id), tool(one)),
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
            let before = Some(described(gone));
            self.add(Code::RequirementRemoved, Some(&gone.grant), before, None);
        }
        for new in newer {
            let after = Some(described(new));
            self.add(Code::RequirementAdded, Some(&new.grant), None, after);
        }
    }

    fn compare_selection(&mut self, a: &Selection, b: &Selection) {
        let grant = Some(&b.grant);
        for scope in removed(&b.scopes, &a.scopes) {
            self.add(Code::ScopeWidened, grant, None, Some(scope.to_string()));
        }
        for scope in removed(&a.scopes, &b.scopes) {
            self.add(Code::ScopeNarrowed, grant, Some(scope.to_string()), None);
        }
        let mut changed = |code, before: &str, after: &str| {
            self.add(code, grant, Some(before.to_owned()), Some(after.to_owned()));
        };
        if a.id != b.id {
            changed(Code::SelectionChanged, &named(a), &named(b));
            return;
        }
        if let (
            Grant::Capability {
                definition: a_definition,
                load: a_load,
                tool: a_tool,
                ..
            },
            Grant::Capability {
                definition,
                load,
                tool,
                ..
            },
        ) = (&a.grant, &b.grant)
        {
            if a_tool != tool {
                changed(Code::ToolChanged, a_tool.as_str(), tool.as_str());
            } else if a_definition != definition {
                changed(Code::DefinitionChanged, a_definition, definition);
            }
            if a_load != load {
                changed(Code::LoadChanged, a_load.as_str(), load.as_str());
            }
        }
        if a.version != b.version {
            changed(Code::VersionChanged, a.version.as_str(), b.version.as_str());
        }
        if a.endpoint != b.endpoint {
            changed(
                Code::EndpointChanged,
                a.endpoint.as_str(),
                b.endpoint.as_str(),
            );
        }
        // Another version or endpoint has another entry, which is said already.
        if a.version == b.version && a.endpoint == b.endpoint {
            if a.integrity != b.integrity {
                changed(Code::IntegrityChanged, &a.integrity, &b.integrity);
            }
            if a.scopes == b.scopes && a.hash != b.hash {
                changed(Code::HashChanged, &a.hash, &b.hash);
            }
        }
    }
}
