//! Which tools an agent sees, and which it gets to see when it asks for more \[4, 6\].
//!
//! Of what a lock holds only the selections for capabilities are exposed: one for a category
//! grants a server as a whole, whose tools the index need not even list. A tool that is selected
//! both as `essential` and as `on_demand` is `essential`.
//!
//! Nothing is exposed of a lock that does not hold against the index, so that nobody sees another
//! definition than the one that was locked.

use super::assess::Rejection;
use super::drift::{Drift, LockState, verify};
use super::matching::EvaluationContext;
use super::policy_decision::{PolicyDecision, PolicyErrorKind};
use agent_lower::{Candidate, definition, stub_definition, stub_name};
use agent_model::{
    Grant, Index, Load, Lock, Name, NonEmpty, ServerId, ServerVersion, ServerView, ToolName,
    ToolView,
};
use agent_text::sort::sort_by;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many tokens a definition is taken to have, which is an estimate: a quarter of the UTF-8
/// bytes of its RFC 8785 form, rounded up.
pub fn token_estimate(definition: &str) -> u64 {
    (definition.len() as u64).div_ceil(4)
}

/// The definition of a tool, as it stands in the index.
#[derive(Debug, Clone)]
pub struct Definition<'i> {
    /// The tool.
    pub tool: ToolView<'i>,
    /// Its RFC 8785 form.
    pub json: String,
    /// The [`token_estimate`] of that.
    pub tokens: u64,
}

impl<'i> Definition<'i> {
    fn of(tool: ToolView<'i>) -> Self {
        let json = definition(tool);
        Self {
            tool,
            tokens: token_estimate(&json),
            json,
        }
    }
}

/// What stands in place of the tools of a server that are loaded on demand.
#[derive(Debug, Clone)]
pub struct Stub<'i> {
    /// The server.
    pub server: ServerView<'i>,
    /// The name, which is made of the server's id.
    pub name: String,
    /// The tools it stands for, ordered by name; not empty.
    pub tools: Vec<ToolView<'i>>,
    /// The RFC 8785 form of its own definition.
    pub json: String,
    /// The [`token_estimate`] of that.
    pub tokens: u64,
}

/// What an agent sees as one tool.
#[derive(Debug, Clone)]
pub enum Entry<'i> {
    /// A tool with its definition.
    Tool(Definition<'i>),
    /// A stub.
    Stub(Stub<'i>),
}

impl<'i> Entry<'i> {
    /// The name that the agent calls.
    pub fn name(&self) -> &str {
        match self {
            Self::Tool(definition) => definition.tool.name(),
            Self::Stub(stub) => &stub.name,
        }
    }

    /// The server that it belongs to.
    pub fn server(&self) -> ServerView<'i> {
        match self {
            Self::Tool(definition) => definition.tool.server(),
            Self::Stub(stub) => stub.server,
        }
    }

    /// The RFC 8785 form of the definition.
    pub fn json(&self) -> &str {
        match self {
            Self::Tool(definition) => &definition.json,
            Self::Stub(stub) => &stub.json,
        }
    }

    /// The [`token_estimate`] of the definition.
    pub fn tokens(&self) -> u64 {
        match self {
            Self::Tool(definition) => definition.tokens,
            Self::Stub(stub) => stub.tokens,
        }
    }
}

/// The tools that an agent sees from the start.
#[derive(Debug, Clone)]
pub struct Exposed<'i> {
    /// Ordered by name, each of another name.
    pub entries: Vec<Entry<'i>>,
}

impl Exposed<'_> {
    /// The [`token_estimate`] of all tools that are no stubs.
    pub fn tool_tokens(&self) -> u64 {
        let tools = self.entries.iter();
        tools
            .filter(|entry| matches!(entry, Entry::Tool(_)))
            .map(Entry::tokens)
            .sum()
    }

    /// The [`token_estimate`] of all stubs.
    pub fn stub_tokens(&self) -> u64 {
        self.tokens() - self.tool_tokens()
    }

    /// The [`token_estimate`] of everything, which is what the first expansion finds used.
    pub fn tokens(&self) -> u64 {
        self.entries.iter().map(Entry::tokens).sum()
    }
}

/// What has a name among the tools that an agent sees or may come to see.
#[derive(Debug, Clone, Copy)]
pub enum Holder<'i> {
    /// The stub of a server.
    Stub(ServerView<'i>),
    /// A tool, and when it is exposed.
    Tool(ToolView<'i>, Load),
}

/// A name that several would have.
#[derive(Debug, Clone)]
pub struct Collision<'i> {
    /// The name.
    pub name: String,
    /// At least two, the stubs first, then ordered by server and version.
    pub holders: Vec<Holder<'i>>,
}

/// Why nothing is exposed.
#[derive(Debug, Clone)]
pub enum NotExposed<'i> {
    /// The lock does not hold against the index.
    Drifted(NonEmpty<Drift>),
    /// Names would not be unique: `STUB_COLLISION`, ordered by name.
    Collisions(NonEmpty<Collision<'i>>),
}

/// What is asked for when a stub is called with the operation `expand`.
#[derive(Debug, Clone, Copy)]
pub struct Expand<'a> {
    /// The server: its id, or `id@version`.
    pub server: &'a str,
    /// The names of the tools, in any order.
    pub tools: &'a [String],
    /// The [`token_estimate`] of all that is exposed already, stubs included.
    pub used: u64,
    /// How much may be used. None: what the tenant's `token_budget` says.
    pub budget: Option<u64>,
}

/// Definitions that an agent gets to see.
#[derive(Debug, Clone)]
pub struct Expanded<'i> {
    /// The server.
    pub server: ServerView<'i>,
    /// Ordered by name, without duplicates.
    pub tools: Vec<Definition<'i>>,
    /// The [`token_estimate`] of these.
    pub needed: u64,
    /// What was used before.
    pub used: u64,
    /// How much may be used; not less than both together.
    pub budget: u64,
}

/// The tools that a stub stands for.
#[derive(Debug, Clone)]
pub struct Services<'i> {
    /// The server.
    pub server: ServerView<'i>,
    /// Ordered by name; not empty.
    pub tools: Vec<Definition<'i>>,
}

/// Why a tool may not be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DenialReason {
    /// The lock has no such tool of that server for any capability.
    NotLocked,
    /// The lock has it as `essential`: it is exposed already.
    Essential,
    /// Only an id was given, and the lock has several versions of the server.
    Ambiguous {
        /// The versions: sorted.
        versions: Vec<String>,
    },
    /// No tool was named.
    Nothing,
    /// The policy does not allow it.
    Policy {
        /// What the policy says about it, where it says something.
        reason: Option<String>,
    },
    /// The policy gave no answer.
    PolicyError {
        /// Why.
        kind: PolicyErrorKind,
    },
}

impl DenialReason {
    /// The word for it in files.
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

/// A tool that may not be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// `server@version/tool`; without the version where only the id was given and the lock does
    /// not tell it, and only the server where no tool is meant.
    pub id: String,
    /// Why not.
    pub reason: DenialReason,
}

/// Why nothing is expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotExpanded {
    /// `EXPANSION_DENIED`: some of the tools are denied, and with them all.
    Denied {
        /// Those that are, ordered by name.
        denials: NonEmpty<Denial>,
        /// What the policy said. None if it was not asked.
        policy_decision: Option<Arc<PolicyDecision>>,
    },
    /// The lock does not hold against the index.
    Drifted(NonEmpty<Drift>),
    /// `TOKEN_BUDGET_EXCEEDED`
    OverBudget {
        /// The [`token_estimate`] of what was asked for.
        needed: u64,
        /// What was used before.
        used: u64,
        /// How much may be used. None: nobody has said.
        budget: Option<u64>,
    },
}

/// The tools of one server that a lock has for capabilities, and when each is exposed.
struct Locked<'l> {
    id: &'l ServerId,
    version: &'l ServerVersion,
    /// Ordered by name.
    tools: Vec<(&'l ToolName, Load)>,
}

impl<'l> Locked<'l> {
    /// Those of all servers, ordered by id and version.
    fn all(lock: &'l Lock) -> Vec<Self> {
        let mut tools: Vec<_> = lock
            .selections
            .iter()
            .filter_map(|selection| match &selection.grant {
                Grant::Capability { load, tool, .. } => {
                    Some(((&selection.id, &selection.version), (tool, *load)))
                }
                Grant::Category(_) => None,
            })
            .collect();
        // Of the same tool `essential` comes first.
        sort_by(&mut tools, Ord::cmp);
        tools.dedup_by_key(|(server, (tool, _))| (*server, *tool));
        tools
            .chunk_by(|a, b| a.0 == b.0)
            .map(|own| Self {
                id: own[0].0.0,
                version: own[0].0.1,
                tools: own.iter().map(|(_, tool)| *tool).collect(),
            })
            .collect()
    }

    /// The one that is meant by an id or by `id@version`: of several versions the one that has
    /// tools on demand, if only one has.
    fn find(lock: &'l Lock, server: &str) -> Result<Self, DenialReason> {
        // An id holds no `@`, so that the first one ends it.
        let (id, version) = match server.split_once('@') {
            Some((id, version)) => (id, Some(version)),
            None => (server, None),
        };
        let mut found = Self::all(lock);
        found.retain(|locked| {
            let right = version.is_none_or(|version| locked.version.as_str() == version);
            locked.id.as_str() == id && right
        });
        if found.iter().any(Self::has_on_demand) {
            found.retain(Self::has_on_demand);
        }
        if found.len() > 1 {
            let versions = found.iter().map(|locked| locked.version.to_string());
            return Err(DenialReason::Ambiguous {
                versions: versions.collect(),
            });
        }
        found.pop().ok_or(DenialReason::NotLocked)
    }

    fn has_on_demand(&self) -> bool {
        self.tools.iter().any(|(_, load)| *load == Load::OnDemand)
    }

    /// Why a tool is none that may be expanded. None if it is.
    fn against(&self, tool: &str) -> Option<DenialReason> {
        let mut tools = self.tools.iter();
        match tools.find(|(name, _)| name.as_str() == tool) {
            None => Some(DenialReason::NotLocked),
            Some((_, Load::Essential)) => Some(DenialReason::Essential),
            Some((_, Load::OnDemand)) => None,
        }
    }

    /// `id@version`
    fn name(&self) -> String {
        format!("{}@{}", self.id, self.version)
    }

    /// The server. A lock that holds against the index has only such that are there.
    fn server<'i>(&self, index: &'i Index) -> Option<ServerView<'i>> {
        index
            .versions(self.id.as_str())
            .find(|server| server.version() == self.version.as_str())
    }
}

/// The differences between a lock and an index. None if it holds.
fn drifts(lock: &Lock, index: &Index) -> Option<NonEmpty<Drift>> {
    match verify(lock, index) {
        LockState::Fresh => None,
        LockState::Drifted(drifts) => Some(drifts),
    }
}

/// The tools that an agent sees from the start \[4, 6.1\]: each `essential` one with its
/// definition, and for each server with `on_demand` ones a stub.
///
/// Names are unique among these and all that may be expanded: a tool is called by its name, and
/// an expansion, which is not told what was expanded before, could not see to that.
///
/// # Errors
/// That the lock does not hold against the index, or that names would not be unique.
pub fn exposed<'i>(lock: &Lock, index: &'i Index) -> Result<Exposed<'i>, NotExposed<'i>> {
    if let Some(drifts) = drifts(lock, index) {
        return Err(NotExposed::Drifted(drifts));
    }
    // What has each name, and what is exposed under it.
    let mut named: Vec<(String, Holder<'i>, Option<Entry<'i>>)> = Vec::new();
    for locked in Locked::all(lock) {
        let Some(server) = locked.server(index) else {
            continue;
        };
        let mut on_demand = Vec::new();
        for (name, load) in &locked.tools {
            let Some(tool) = server.tool(name.as_str()) else {
                continue;
            };
            let entry = match load {
                Load::Essential => Some(Entry::Tool(Definition::of(tool))),
                Load::OnDemand => {
                    on_demand.push(tool);
                    None
                }
            };
            named.push((name.to_string(), Holder::Tool(tool, *load), entry));
        }
        if !on_demand.is_empty() {
            let name = stub_name(server.id());
            let json = stub_definition(server);
            let stub = Stub {
                server,
                name: name.clone(),
                tools: on_demand,
                tokens: token_estimate(&json),
                json,
            };
            named.push((name, Holder::Stub(server), Some(Entry::Stub(stub))));
        }
    }
    // Of one name the stubs come first.
    sort_by(&mut named, |a, b| {
        (&a.0, !a.1.is_stub()).cmp(&(&b.0, !b.1.is_stub()))
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

impl Holder<'_> {
    fn is_stub(&self) -> bool {
        matches!(self, Self::Stub(_))
    }
}

/// What a stub answers to `list_services`: the tools of a server, given by its id or as
/// `id@version`, that are loaded on demand. The policy is asked about expansions only.
///
/// # Errors
/// That the lock has no such tools, or does not hold against the index.
pub fn services<'i>(
    lock: &Lock,
    index: &'i Index,
    server: &str,
) -> Result<Services<'i>, NotExpanded> {
    let locked = Locked::find(lock, server).map_err(|reason| denied_as_a_whole(server, reason))?;
    if !locked.has_on_demand() {
        let reason = DenialReason::Essential;
        return Err(denied_as_a_whole(&locked.name(), reason));
    }
    if let Some(drifts) = drifts(lock, index) {
        return Err(NotExpanded::Drifted(drifts));
    }
    let Some(view) = locked.server(index) else {
        return Err(denied_as_a_whole(server, DenialReason::NotLocked));
    };
    let on_demand = locked
        .tools
        .iter()
        .filter(|(_, load)| *load == Load::OnDemand);
    Ok(Services {
        server: view,
        tools: on_demand
            .filter_map(|(name, _)| view.tool(name.as_str()))
            .map(Definition::of)
            .collect(),
    })
}

/// Decide whether an agent gets to see the definitions of tools that are loaded on demand
/// \[4, 6.2\]: all that it asks for, or none.
///
/// Checked is, in this order: that the lock has every tool as `on_demand` of that server, that it
/// holds against the index, that the policy allows every tool, being asked once about all of them
/// without a requirement, and that `used + needed` does not pass the budget. A budget that is
/// given takes the place of the tenant's, as a policy does; without either it is refused. Health
/// is not asked: it is asked where tools are selected and where they are called.
///
/// # Errors
/// The first check that fails, with all that fails it.
pub fn expand<'i>(
    lock: &Lock,
    index: &'i Index,
    evaluation_context: &EvaluationContext,
    asked: Expand<'_>,
) -> Result<Expanded<'i>, NotExpanded> {
    let names: BTreeSet<&str> = asked.tools.iter().map(String::as_str).collect();
    if names.is_empty() {
        return Err(denied_as_a_whole(asked.server, DenialReason::Nothing));
    }
    let locked = Locked::find(lock, asked.server);
    let named = match &locked {
        Ok(locked) => locked.name(),
        Err(_) => asked.server.to_owned(),
    };
    let denials = names.iter().filter_map(|name| {
        let reason = match &locked {
            Ok(locked) => locked.against(name)?,
            Err(reason) => reason.clone(),
        };
        let id = format!("{named}/{name}");
        Some(Denial { id, reason })
    });
    refuse(denials.collect(), None)?;
    if let Some(drifts) = drifts(lock, index) {
        return Err(NotExpanded::Drifted(drifts));
    }
    let server = locked
        .ok()
        .and_then(|locked| locked.server(index))
        .ok_or_else(|| denied_as_a_whole(&named, DenialReason::NotLocked))?;
    let tools: Vec<_> = names.iter().filter_map(|name| server.tool(name)).collect();
    let candidates: Vec<_> = tools.iter().map(|tool| Candidate::of(*tool)).collect();
    let policy_decisions = evaluation_context.ask(None, &candidates);
    let denials = candidates.iter().filter_map(|candidate| {
        let reason = match policy_decisions.against(|| candidate.id())? {
            Rejection::PolicyError { reason: kind } => DenialReason::PolicyError { kind },
            Rejection::PolicyDenied { reason } => DenialReason::Policy {
                reason: reason.map(str::to_owned),
            },
            // A policy has no other answer.
            _ => DenialReason::Policy { reason: None },
        };
        let id = candidate.id();
        Some(Denial { id, reason })
    });
    refuse(denials.collect(), policy_decisions.policy_decision())?;
    let tools: Vec<_> = tools.into_iter().map(Definition::of).collect();
    let needed = tools.iter().map(|definition| definition.tokens).sum();
    let used = asked.used;
    let tenant = evaluation_context.tenant.as_ref();
    let budget = asked
        .budget
        .or_else(|| tenant.and_then(|tenant| tenant.token_budget));
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

/// Refuse if anything is denied.
fn refuse(
    denials: Vec<Denial>,
    policy_decision: Option<&PolicyDecision>,
) -> Result<(), NotExpanded> {
    match NonEmpty::new(denials) {
        None => Ok(()),
        Some(denials) => Err(NotExpanded::Denied {
            denials,
            policy_decision: policy_decision.cloned().map(Arc::new),
        }),
    }
}

/// A denial of all that was asked of a server.
fn denied_as_a_whole(server: &str, reason: DenialReason) -> NotExpanded {
    let id = server.to_owned();
    NotExpanded::Denied {
        denials: NonEmpty::one(Denial { id, reason }),
        policy_decision: None,
    }
}
