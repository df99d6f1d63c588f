//! The tools that an agent sees, and those that it may expand \[4, 6\].
//!
//! A selection for a category exposes every tool of its server that no label forbids, or with `only`
//! those that it names. A selection for a capability decides the `load` of its tool. A tool that is
//! selected both as `essential` and as `on_demand` is `essential`.
//!
//! A fallback is locked, and not exposed: it takes the place of its first while health vetoes the server
//! of that one. Callers that know the health of servers tell which are vetoed; by default none is.
//!
//! A lock that differs from the index exposes nothing, so no agent sees another definition than the
//! locked one.

use super::drift::{Drift, verify};
use super::locked_policy::{LockedQuestions, PolicyMismatch};
use super::locked_tool::forbidding;
use super::matching::EvaluationContext;
use super::policy_decision::{PolicyDecision, PolicyErrorKind};
use super::rejection::Rejection;
use agent_lower::{
    Concealed, PolicyOccasion, PolicyPhase, concealed, definition, stub_definition, stub_name,
    without_icons,
};
use agent_model::{
    ForbidLabel, Grant, Index, Load, Lock, Name, NonEmpty, Selection, ServerView, ToolView,
    with_fallbacks,
};
use agent_text::sort::{set_of, sort_by, sort_by_key};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Estimates the tokens of a definition: a quarter of the UTF-8 bytes of its RFC 8785 form without icons,
/// rounded up.
pub fn token_estimate(definition: &str) -> u64 {
    (without_icons(definition).len() as u64).div_ceil(4)
}

/// The definition of a tool, as in the index.
#[derive(Debug, Clone)]
pub struct Definition<'i> {
    /// The tool.
    pub tool: ToolView<'i>,
    /// The name that an agent calls.
    pub name: String,
    /// The RFC 8785 form.
    pub json: String,
    /// The [`token_estimate`] of that form.
    pub tokens: u64,
}

impl<'i> Definition<'i> {
    fn of(tool: ToolView<'i>) -> Self {
        let json = definition(tool);
        Self {
            tool,
            name: tool.name().to_owned(),
            tokens: token_estimate(&json),
            json,
        }
    }
}

/// A tool, or a stub for tools that are loaded on demand.
#[derive(Debug, Clone)]
pub struct Entry<'i> {
    /// The server.
    pub server: ServerView<'i>,
    /// The name that the agent calls; of a stub it is derived from the server's id.
    pub name: String,
    /// The tools behind a stub, ordered by name and not empty; `None` for a tool.
    pub stub_of: Option<Vec<ToolView<'i>>>,
    /// The RFC 8785 form of the definition.
    pub json: String,
    /// The [`token_estimate`] of that form.
    pub tokens: u64,
}

impl<'i> Entry<'i> {
    fn new(server: ServerView<'i>, name: &str, json: String) -> Self {
        Self {
            server,
            name: name.to_owned(),
            stub_of: None,
            tokens: token_estimate(&json),
            json,
        }
    }
}

/// The tools that an agent sees from the start.
#[derive(Debug, Clone)]
pub struct Exposed<'i> {
    /// Ordered by name, without duplicates.
    pub entries: Vec<Entry<'i>>,
}

impl Exposed<'_> {
    /// Returns the [`token_estimate`] of all tools without the stubs.
    pub fn tool_tokens(&self) -> u64 {
        let tools = self.entries.iter().filter(|entry| entry.stub_of.is_none());
        tools.map(|entry| entry.tokens).sum()
    }

    /// Returns the [`token_estimate`] of all stubs.
    pub fn stub_tokens(&self) -> u64 {
        self.tokens() - self.tool_tokens()
    }

    /// Returns the [`token_estimate`] of all entries, which the first expansion counts as used.
    pub fn tokens(&self) -> u64 {
        self.entries.iter().map(|entry| entry.tokens).sum()
    }
}

/// A holder of a name among the tools that an agent sees or may expand.
#[derive(Debug, Clone, Copy)]
pub enum Holder<'i> {
    /// The stub of a server.
    Stub(ServerView<'i>),
    /// A tool and its `load`.
    Tool(ToolView<'i>, Load),
}

/// A name with several holders.
#[derive(Debug, Clone)]
pub struct Collision<'i> {
    /// The name.
    pub name: String,
    /// At least two, the stubs first, then ordered by server and version.
    pub holders: Vec<Holder<'i>>,
}

/// A reason to expose nothing.
#[derive(Debug, Clone)]
pub enum NotExposed<'i> {
    /// The lock differs from the index.
    Drifted(NonEmpty<Drift>),
    /// Names are not unique: `STUB_COLLISION`, ordered by name.
    Collisions(NonEmpty<Collision<'i>>),
}

/// A request to a stub with the operation `expand`.
#[derive(Debug, Clone, Copy)]
pub struct Expand<'a> {
    /// The server: its id, or `id@version`.
    pub server: &'a str,
    /// The names of the tools, in any order.
    pub tools: &'a [String],
    /// The [`token_estimate`] of everything exposed so far, stubs included.
    pub used: u64,
    /// Maximum tokens; `None` for the tenant's `token_budget`.
    pub budget: Option<u64>,
}

/// Definitions that an agent receives.
#[derive(Debug, Clone)]
pub struct Expanded<'i> {
    /// The server.
    pub server: ServerView<'i>,
    /// Ordered by name, without duplicates.
    pub tools: Vec<Definition<'i>>,
    /// Their [`token_estimate`].
    pub needed: u64,
    /// The tokens used before.
    pub used: u64,
    /// Maximum tokens; at least the sum of both.
    pub budget: u64,
}

/// The tools behind a stub.
#[derive(Debug, Clone)]
pub struct Services<'i> {
    /// The server.
    pub server: ServerView<'i>,
    /// Ordered by name; not empty.
    pub tools: Vec<Definition<'i>>,
}

/// A reason to deny the expansion of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DenialReason {
    /// The lock has no such tool of the server.
    NotLocked,
    /// The tool is locked as `essential`, so it is exposed already.
    Essential,
    /// The request names only an id, and the lock has several versions of the server.
    Ambiguous {
        /// The versions: sorted.
        versions: Vec<String>,
    },
    /// The request names no tool.
    Nothing,
    /// The policy does not allow the tool.
    Policy {
        /// The policy's own reason, if any.
        reason: Option<String>,
    },
    /// The policy gave no answer.
    PolicyError {
        /// The kind of failure.
        kind: PolicyErrorKind,
    },
}

impl DenialReason {
    /// Returns the name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotLocked => "not_locked",
            Self::Essential => "essential",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Nothing => "nothing",
            Self::Policy { .. } => "policy",
            Self::PolicyError { .. } => "policy_error",
        }
    }
}

/// The denial of an expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// `server@version/tool`; without the version if neither the request nor the lock determines it,
    /// and without the tool if the denial is about the whole server.
    pub id: String,
    /// The reason.
    pub reason: DenialReason,
}

/// A reason to expand nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotExpanded {
    /// `EXPANSION_DENIED`: some tools are denied, so no tool is expanded.
    Denied {
        /// The denials, ordered by name.
        denials: NonEmpty<Denial>,
        /// The decision of the policy, if it was consulted.
        policy_decision: Option<Arc<PolicyDecision>>,
    },
    /// The lock differs from the index.
    Drifted(NonEmpty<Drift>),
    /// `POLICY_MISSING` or `POLICY_CHANGED`
    OtherPolicy(PolicyMismatch),
    /// `TOKEN_BUDGET_EXCEEDED`
    OverBudget {
        /// The [`token_estimate`] of the requested tools.
        needed: u64,
        /// The tokens used before.
        used: u64,
        /// Maximum tokens, if a budget is given.
        budget: Option<u64>,
    },
}

/// The tools of one server that a lock has, each with its `load`.
struct Locked<'i> {
    server: ServerView<'i>,
    /// Ordered by name.
    tools: Vec<(ToolView<'i>, Load)>,
    /// The tools of categories that are left out, because people do not see all of their definitions.
    left_out: Vec<Concealed<'i>>,
}

/// Returns the selections of a lock that are in force while these servers are vetoed: the fallback of
/// a primary tool on one of them, and otherwise the primary tool.
fn in_force<'l>(lock: &'l Lock, vetoed: &BTreeSet<&str>) -> Vec<&'l Selection> {
    let groups = with_fallbacks(&lock.selections).filter_map(|group| match group {
        [first, fallback] if vetoed.contains(first.id.as_str()) => Some(fallback),
        group => group.first(),
    });
    groups.collect()
}

impl<'i> Locked<'i> {
    /// Returns the tools of all servers that some selections of a lock grant, ordered by id and version.
    /// A server that the index lacks has no tool.
    fn all(lock: &Lock, mut selections: Vec<&Selection>, index: &'i Index) -> Vec<Self> {
        sort_by_key(&mut selections, |it| (&it.id, &it.version));
        selections
            .chunk_by(|a, b| (&a.id, &a.version) == (&b.id, &b.version))
            .filter_map(|own| {
                let (id, version) = (own[0].id.as_str(), own[0].version.as_str());
                Some(Self::of(index.find(id, version)?, own, &lock.forbid))
            })
            .collect()
    }

    /// Returns the locked tools of a server by its selections. A capability decides the `load` of its
    /// tool; a category that of every other tool that it covers, that is not forbidden, and that hides no
    /// text. Of several the tool is `essential` if one is.
    fn of(server: ServerView<'i>, own: &[&Selection], forbid: &[ForbidLabel]) -> Self {
        let mut of_category: Option<Load> = None;
        let mut named: BTreeMap<&str, Load> = BTreeMap::new();
        let mut of_capability: BTreeMap<&str, Load> = BTreeMap::new();
        for selection in own {
            let (load, tools, loads) = match &selection.grant {
                Grant::Category { load, only, .. } if only.is_empty() => {
                    of_category = earlier(of_category, Some(*load));
                    continue;
                }
                Grant::Category { load, only, .. } => (*load, &**only, &mut named),
                Grant::Capability { load, tool, .. } => {
                    (*load, std::slice::from_ref(tool), &mut of_capability)
                }
            };
            for tool in tools {
                let known = loads.entry(tool.as_str()).or_insert(load);
                *known = (*known).min(load);
            }
        }
        let mut left_out = Vec::new();
        let tools = server.tools().filter_map(|tool| {
            let permitted = || forbidding(forbid, tool.name(), &[tool]).is_empty();
            let of_capability = of_capability.get(tool.name()).copied();
            let load = of_capability.or_else(|| {
                let named = named.get(tool.name()).copied();
                let load = earlier(of_category, named).filter(|_| permitted())?;
                let hidden = concealed(tool);
                let load = hidden.is_none().then_some(load);
                left_out.extend(hidden);
                load
            });
            Some((tool, load?))
        });
        let mut tools: Vec<_> = tools.collect();
        sort_by(&mut tools, |a, b| a.0.name().cmp(b.0.name()));
        sort_by(&mut left_out, |a, b| a.tool.name().cmp(b.tool.name()));
        Self {
            server,
            tools,
            left_out,
        }
    }

    /// Finds a server by id or by `id@version`. Of several versions it is the only one that has tools
    /// on demand.
    fn find(all: Vec<Self>, server: &str) -> Result<Self, DenialReason> {
        // An id contains no `@`, so the first one ends it.
        let (id, version) = match server.split_once('@') {
            Some((id, version)) => (id, Some(version)),
            None => (server, None),
        };
        let mut found = all;
        found.retain(|locked| {
            let right = version.is_none_or(|version| locked.server.version() == version);
            locked.server.id() == id && right
        });
        if found.iter().any(Self::has_on_demand) {
            found.retain(Self::has_on_demand);
        }
        if found.len() > 1 {
            let versions = found.iter().map(|it| it.server.version().to_owned());
            return Err(DenialReason::Ambiguous {
                versions: versions.collect(),
            });
        }
        found.pop().ok_or(DenialReason::NotLocked)
    }

    fn has_on_demand(&self) -> bool {
        self.tools.iter().any(|(_, load)| *load == Load::OnDemand)
    }

    /// Returns the tools that are loaded on demand.
    fn on_demand(&self) -> impl Iterator<Item = ToolView<'i>> {
        let tools = self.tools.iter();
        tools
            .filter(|(_, load)| *load == Load::OnDemand)
            .map(|(tool, _)| *tool)
    }

    /// Returns the reason to deny the expansion of a tool, if any.
    fn denial(&self, tool: &str) -> Option<DenialReason> {
        let mut tools = self.tools.iter();
        match tools.find(|(it, _)| it.name() == tool) {
            None => Some(DenialReason::NotLocked),
            Some((_, Load::Essential)) => Some(DenialReason::Essential),
            Some((_, Load::OnDemand)) => None,
        }
    }

    /// `id@version`
    fn name(&self) -> String {
        format!("{}@{}", self.server.id(), self.server.version())
    }
}

/// Returns the earlier of two times at which a tool is shown, if there are any.
fn earlier(a: Option<Load>, b: Option<Load>) -> Option<Load> {
    a.into_iter().chain(b).min()
}

/// Returns the tools that a lock has in an index, ordered by server, version and name: those of
/// capabilities, fallbacks included, and those that its categories expose.
pub(super) fn locked_tools<'i>(lock: &Lock, index: &'i Index) -> Vec<ToolView<'i>> {
    let tools = locked_loads(lock, index).into_iter();
    tools.map(|(tool, _)| tool).collect()
}

/// Returns the tools that the categories of a lock leave out, because people do not see all characters of
/// their definitions; ordered by server, version and name.
pub(super) fn left_out_tools<'i>(lock: &Lock, index: &'i Index) -> Vec<Concealed<'i>> {
    let servers = Locked::all(lock, lock.selections.iter().collect(), index);
    servers.into_iter().flat_map(|it| it.left_out).collect()
}

/// Returns the tools that a lock has in an index, fallbacks included, each with its `load` by all of its
/// selections; ordered by server, version and name.
pub fn locked_loads<'i>(lock: &Lock, index: &'i Index) -> Vec<(ToolView<'i>, Load)> {
    let servers = Locked::all(lock, lock.selections.iter().collect(), index);
    servers.into_iter().flat_map(|it| it.tools).collect()
}

/// Returns the tools that an agent sees from the start \[4, 6.1\]: each `essential` one with its
/// definition, and a stub for each server with `on_demand` ones.
///
/// Names must be unique among these and all tools that may be expanded: a tool is called by its
/// name, and an expansion does not know the earlier ones.
///
/// # Errors
/// The lock differs from the index, or names are not unique.
pub fn exposed<'i>(lock: &Lock, index: &'i Index) -> Result<Exposed<'i>, NotExposed<'i>> {
    exposed_under(lock, index, &BTreeSet::new())
}

/// Returns the tools that an agent sees from the start while health vetoes the servers with these ids:
/// [`exposed`], with the fallback of each of their tools that has one in its place.
///
/// # Errors
/// As for [`exposed`].
pub fn exposed_under<'i>(
    lock: &Lock,
    index: &'i Index,
    vetoed: &BTreeSet<&str>,
) -> Result<Exposed<'i>, NotExposed<'i>> {
    let state = verify(lock, index);
    state.fresh().map_err(NotExposed::Drifted)?;
    // The holders of each name, and the entry exposed under it.
    let mut named: Vec<(String, Holder<'i>, Option<Entry<'i>>)> = Vec::new();
    for locked in Locked::all(lock, in_force(lock, vetoed), index) {
        let server = locked.server;
        for (tool, load) in &locked.tools {
            let is_essential = *load == Load::Essential;
            let entry = is_essential.then(|| Entry::new(server, tool.name(), definition(*tool)));
            named.push((tool.name().to_owned(), Holder::Tool(*tool, *load), entry));
        }
        let on_demand: Vec<_> = locked.on_demand().collect();
        if !on_demand.is_empty() {
            let name = stub_name(server.id());
            let tools: Vec<_> = on_demand.iter().map(|tool| (tool.name(), *tool)).collect();
            let definition = stub_definition(server, &tools);
            let stub = Entry {
                stub_of: Some(on_demand),
                ..Entry::new(server, &name, definition)
            };
            named.push((name, Holder::Stub(server), Some(stub)));
        }
    }
    // Stubs come first among the holders of a name.
    let is_tool = |holder: &Holder<'_>| matches!(holder, Holder::Tool(..));
    sort_by(&mut named, |a, b| {
        (&a.0, is_tool(&a.1)).cmp(&(&b.0, is_tool(&b.1)))
    });
    let collisions = named
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|same| same.len() > 1)
        .map(|same| Collision {
            name: same[0].0.clone(),
            holders: same.iter().map(|(_, holder, _)| *holder).collect(),
        })
        .collect();
    match NonEmpty::new(collisions) {
        Some(collisions) => Err(NotExposed::Collisions(collisions)),
        None => Ok(Exposed {
            entries: named.into_iter().filter_map(|it| it.2).collect(),
        }),
    }
}

/// Returns the answer of a stub to `list_services`: the tools of a server, given by its id or as
/// `id@version`, that are loaded on demand. The policy decides on expansions only.
///
/// # Errors
/// The lock has no such tools, or differs from the index.
pub fn services<'i>(
    lock: &Lock,
    index: &'i Index,
    server: &str,
) -> Result<Services<'i>, NotExpanded> {
    services_under(lock, index, server, &BTreeSet::new())
}

/// Returns the answer of a stub to `list_services` while health vetoes the servers with these ids. What
/// it lists is behind the stub of [`exposed_under`].
///
/// # Errors
/// As for [`services`].
pub fn services_under<'i>(
    lock: &Lock,
    index: &'i Index,
    server: &str,
    vetoed: &BTreeSet<&str>,
) -> Result<Services<'i>, NotExpanded> {
    let state = verify(lock, index);
    state.fresh().map_err(NotExpanded::Drifted)?;
    let locked = Locked::find(Locked::all(lock, in_force(lock, vetoed), index), server);
    let locked = locked.map_err(|reason| denied_as_a_whole(server, reason))?;
    if !locked.has_on_demand() {
        let reason = DenialReason::Essential;
        return Err(denied_as_a_whole(&locked.name(), reason));
    }
    Ok(Services {
        server: locked.server,
        tools: locked.on_demand().map(Definition::of).collect(),
    })
}

/// Decides whether an agent receives the definitions of tools that are loaded on demand \[4, 6.2\]:
/// all that it requests, or none.
///
/// The checks, in this order: the lock does not differ from the index; the given policy is the locked
/// one, if the lock has one; the lock has every tool as `on_demand` of the server; the policy allows
/// every tool, for each requirement that it was locked for; and `used + needed` is within the budget. A given budget replaces the tenant's; without either the
/// request is refused. Health counts when tools are selected and called, not here: a fallback is expanded
/// like any locked tool.
///
/// # Errors
/// The first check that fails, with every denial.
pub fn expand<'i>(
    lock: &Lock,
    index: &'i Index,
    evaluation_context: &EvaluationContext,
    request: Expand<'_>,
) -> Result<Expanded<'i>, NotExpanded> {
    if request.tools.is_empty() {
        return Err(denied_as_a_whole(request.server, DenialReason::Nothing));
    }
    let state = verify(lock, index);
    state.fresh().map_err(NotExpanded::Drifted)?;
    expand_verified(lock, index, evaluation_context, request)
}

/// As [`expand`], under a lock that is known not to differ from the index.
///
/// # Errors
/// The first check that fails, with every denial.
pub fn expand_verified<'i>(
    lock: &Lock,
    index: &'i Index,
    evaluation_context: &EvaluationContext,
    request: Expand<'_>,
) -> Result<Expanded<'i>, NotExpanded> {
    let names = set_of(request.tools.iter().map(String::as_str));
    if names.is_empty() {
        return Err(denied_as_a_whole(request.server, DenialReason::Nothing));
    }
    if let Some(mismatch) = PolicyMismatch::find(lock, Some(evaluation_context)) {
        return Err(NotExpanded::OtherPolicy(mismatch));
    }
    let locked = Locked::all(lock, lock.selections.iter().collect(), index);
    let locked = Locked::find(locked, request.server);
    let named = match &locked {
        Ok(locked) => locked.name(),
        Err(_) => request.server.to_owned(),
    };
    let denials = names.iter().filter_map(|name| {
        let reason = match &locked {
            Ok(locked) => locked.denial(name)?,
            Err(reason) => reason.clone(),
        };
        let id = format!("{named}/{name}");
        Some(Denial { id, reason })
    });
    refuse(denials.collect(), None)?;
    let server = locked.map(|locked| locked.server);
    let server = server.map_err(|reason| denied_as_a_whole(&named, reason))?;
    let tools: Vec<_> = names.iter().filter_map(|name| server.tool(name)).collect();
    let (denials, decision) = denied_by_policy(lock, server, &tools, evaluation_context);
    refuse(denials, decision)?;
    let tools: Vec<_> = tools.into_iter().map(Definition::of).collect();
    let needed = tools.iter().map(|definition| definition.tokens).sum();
    let used = request.used;
    let tenant = evaluation_context.tenant.as_ref();
    let budget = tenant.and_then(|tenant| tenant.token_budget);
    let budget = request.budget.or(budget);
    match (budget, used.checked_add(needed)) {
        (Some(budget), Some(total)) if total <= budget => Ok(Expanded {
            server,
            tools,
            needed,
            used,
            budget,
        }),
        _ => Err(NotExpanded::OverBudget {
            needed,
            used,
            budget,
        }),
    }
}

/// The policy's denials of tools to expand, ordered by name, with the first decision that denies. All
/// its answers must allow.
fn denied_by_policy(
    lock: &Lock,
    server: ServerView<'_>,
    tools: &[ToolView<'_>],
    evaluation_context: &EvaluationContext,
) -> (Vec<Denial>, Option<Arc<PolicyDecision>>) {
    let phase = PolicyPhase::Expand;
    let selections = lock.selections.iter();
    let questions = LockedQuestions::new(phase, selections, server, tools, evaluation_context);
    let found = questions.denials(PolicyOccasion::default());
    let denying = found.first().map(|it| Arc::clone(&it.decision));
    let denials = found.iter().map(|it| Denial {
        id: it.id.clone(),
        reason: match it.rejection() {
            Some(Rejection::PolicyError { reason: kind }) => DenialReason::PolicyError { kind },
            Some(Rejection::PolicyDenied { reason }) => DenialReason::Policy {
                reason: reason.map(str::to_owned),
            },
            // A policy has no other reason.
            _ => DenialReason::Policy { reason: None },
        },
    });
    (denials.collect(), denying)
}

/// Fails if there is a denial.
fn refuse(
    denials: Vec<Denial>,
    policy_decision: Option<Arc<PolicyDecision>>,
) -> Result<(), NotExpanded> {
    match NonEmpty::new(denials) {
        None => Ok(()),
        Some(denials) => Err(NotExpanded::Denied {
            denials,
            policy_decision,
        }),
    }
}

/// Returns the denial of a whole request.
fn denied_as_a_whole(server: &str, reason: DenialReason) -> NotExpanded {
    let id = server.to_owned();
    NotExpanded::Denied {
        denials: NonEmpty::one(Denial { id, reason }),
        policy_decision: None,
    }
}
