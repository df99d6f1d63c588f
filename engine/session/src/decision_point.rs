//! The decision on one call without a session: by documents alone.
//!
//! A gateway decides the same if its servers are healthy and list what is locked. What depends on earlier calls, on a
//! human or on the health of servers is refused with `STATE_REQUIRED`, never assumed.

use super::basis::{Digests, Server};
use super::calling::{invalid_operation, unknown_tool};
use super::client::{Caller, Client, Generation};
use super::decision::{Decision, Target, Via};
use super::documents::Documents;
use super::options::Options;
use super::request::{Arguments, Operation, read_object};
use super::session::{Session, State};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::explain::CallReason;
use agent_api::model::HistoryRuleTerms;
use agent_api::text::sort::sort_by;
use agent_api::text::visible;
use agent_record::Clock;

/// What decides on calls by documents alone.
#[derive(Debug)]
pub struct DecisionPoint {
    /// A session that nothing happens in: every server is healthy, and lists what is locked.
    pub(super) session: Session,
}

/// A call to decide on.
#[derive(Debug, Clone, Default)]
pub struct AskedCall {
    /// The tool: `SERVER/TOOL` with the name that the server has for it, or the name that clients of a gateway call.
    pub tool: String,
    /// The arguments: a JSON object.
    pub arguments: Option<Vec<u8>>,
    /// Who calls.
    pub subject: CallSubject,
    /// The agent that calls, if the caller names it. The lock must be that of the agent.
    pub agent: Option<String>,
}

/// Who calls, as policies see it in `input.subject`. The host vouches for every member.
#[derive(Debug, Clone, Default)]
pub struct CallSubject {
    /// Its id.
    pub id: String,
    /// Its kind: `type` in a policy's `input.subject`.
    pub kind: String,
    /// Its properties: a JSON object.
    pub properties: Option<Vec<u8>>,
}

/// A decision on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallDecision {
    /// Every reason against the call. Without one it is allowed.
    pub reasons: Vec<CallReason>,
    /// The documents that decided.
    pub documents: Digests,
}

/// What is found against a call.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Every reason. Without one the call is allowed.
    pub(super) reasons: Vec<CallReason>,
    /// The id of the approval that it needs, or that a human denied.
    pub(super) approval: Option<String>,
}

impl From<Vec<CallReason>> for Found {
    fn from(reasons: Vec<CallReason>) -> Self {
        Self {
            reasons,
            approval: None,
        }
    }
}

impl CallSubject {
    /// Returns the client that it is, without a session.
    pub(super) fn client(&self, generation: Generation) -> Client {
        let Self {
            id,
            kind,
            properties,
        } = self.clone();
        Client {
            id,
            kind,
            properties,
            generation,
            session: None,
            capabilities: None,
        }
    }
}

impl DecisionPoint {
    /// Reads the documents.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn open(documents: Documents) -> Result<Self, Vec<Diagnostic>> {
        let now = Clock::default();
        let (mut session, _) = Session::open(documents, Options::default(), now)?;
        session.state = State::ready(&session.basis, now);
        Ok(Self { session })
    }

    /// Returns the digests of the documents.
    pub fn documents(&self) -> &Digests {
        &self.session.basis.digests
    }

    /// Returns the locked tools as [`AskedCall::tool`] names them, ordered.
    pub fn tools(&self) -> Vec<String> {
        let basis = &self.session.basis;
        let numbered = basis.servers.iter().enumerate();
        let tools = numbered.flat_map(|(number, server)| {
            let own = basis.tools_of(number);
            own.map(|tool| format!("{}/{}", server.name, basis.tools[tool].own_name()))
        });
        let mut tools: Vec<_> = tools.collect();
        sort_by(&mut tools, Ord::cmp);
        tools
    }

    /// Decides on a call.
    ///
    /// # Errors
    /// The subject or the arguments are too large, or are not those of a call.
    pub fn decide(&self, call: &AskedCall, now: Clock) -> Result<CallDecision, (Code, String)> {
        self.decided(call, now, |caller, named, arguments| {
            Ok(self.reasons_against(caller, named, arguments, now))
        })
    }

    /// Decides on a call by the reasons that a function finds against it.
    pub(super) fn decided(
        &self,
        call: &AskedCall,
        now: Clock,
        find: impl FnOnce(
            &Caller<'_>,
            (&str, Target),
            &Arguments<'_>,
        ) -> Result<Vec<CallReason>, (Code, String)>,
    ) -> Result<CallDecision, (Code, String)> {
        let client = call.subject.client(Generation::Stateless);
        let caller = Caller::read(&client)?;
        let given = call.arguments.as_deref();
        let given = given.map(|it| read_object("the arguments", it));
        let given = given.transpose()?;
        let arguments = match &given {
            Some((text, root)) => Arguments::new(text, Some(root)),
            None => Arguments::new("", None),
        };
        let target = self.target(&self.session.decision(now), &call.tool);
        let mut reasons: Vec<_> = self
            .other_agent(call.agent.as_deref())
            .into_iter()
            .collect();
        reasons.extend(find(&caller, (&*call.tool, target), &arguments)?);
        Ok(CallDecision {
            reasons,
            documents: self.documents().clone(),
        })
    }

    /// Returns every reason against a call of what a name means.
    pub(super) fn reasons_against(
        &self,
        caller: &Caller<'_>,
        (name, target): (&str, Target),
        arguments: &Arguments<'_>,
        now: Clock,
    ) -> Vec<CallReason> {
        let decision = self.session.decision(now);
        match self.called((name, target), arguments, now) {
            Ok((tool, via, arguments)) => {
                stateless_reasons(&decision, caller, (tool, via), &arguments)
            }
            Err(reasons) => reasons,
        }
    }

    /// Returns the locked tool that a call is about, by what its name means, and the arguments.
    ///
    /// # Errors
    /// The reasons against a call of anything else.
    pub(super) fn called<'r>(
        &self,
        (name, target): (&str, Target),
        arguments: &Arguments<'r>,
        now: Clock,
    ) -> Result<(usize, Via, Arguments<'r>), Vec<CallReason>> {
        let decision = self.session.decision(now);
        match target {
            Target::Tool(tool) => {
                let via = match decision.surface.is_behind_stub(tool) {
                    true => Via::Stub,
                    false => Via::Name,
                };
                Ok((tool, via, arguments.clone()))
            }
            Target::Stub(server) => {
                let called = behind_stub(&decision, server, arguments);
                let (tool, arguments) = called.map_err(|reason| vec![reason])?;
                Ok((tool, Via::Stub, arguments))
            }
            Target::Unlocked(server, own_name) => {
                Err(self.session.basis.unlocked_reasons(server, &own_name))
            }
            Target::Unknown => Err(vec![self.unknown(name)]),
        }
    }

    /// Returns what the name of a tool means. No name of a tool contains `/`, so a name with one has that of a server.
    pub(super) fn target(&self, decision: &Decision<'_>, name: &str) -> Target {
        let Some((server, tool)) = name.rsplit_once('/') else {
            return decision.target(name);
        };
        let Some(server) = self.server_named(server) else {
            return Target::Unknown;
        };
        self.own_tool(server, tool)
    }

    /// Returns what the name means that a server has for a tool.
    pub(super) fn own_tool(&self, server: usize, tool: &str) -> Target {
        let basis = &self.session.basis;
        let own = basis.tools_of(server);
        match own
            .into_iter()
            .find(|it| basis.tools[*it].own_name() == tool)
        {
            Some(tool) => Target::Tool(tool),
            None => Target::Unlocked(server, tool.to_owned()),
        }
    }

    /// Returns the number of the locked server of a name: its id, or `id@version`.
    pub(super) fn server_named(&self, name: &str) -> Option<usize> {
        let is_it = |it: &Server| it.name == name || format!("{}@{}", it.id, it.version) == name;
        self.session.basis.servers.iter().position(is_it)
    }

    /// Returns the reason against a name that means no tool.
    fn unknown(&self, name: &str) -> CallReason {
        let sharing = self.session.basis.tools_named(name);
        let sharing: Vec<_> = sharing.map(|it| format!("`{}`", it.name())).collect();
        let reason = CallReason::new(Code::ToolNotLocked, unknown_tool(name, !sharing.is_empty()));
        match sharing.is_empty() {
            true => reason,
            false => reason.help(format!("Call one of {}.", sharing.join(", "))),
        }
    }

    /// Returns the reason against a call of an agent whose lock this is not.
    pub(super) fn other_agent(&self, agent: Option<&str>) -> Option<CallReason> {
        let agent = agent?;
        let lock = self.session.basis.lock.as_ref()?;
        let own = lock.agent.name.to_string();
        (own != agent).then(|| {
            let agent = visible(agent);
            let text = format!("the agent `{agent}` calls, and the lock is that of `{own}`");
            let help = "Ask the decision point that has the lock of the agent.";
            CallReason::new(Code::AgentChanged, text).help(help)
        })
    }
}

/// Returns the tool and the arguments of a call of a stub, whose operation `call` alone is one of a tool.
fn behind_stub<'r>(
    decision: &Decision<'_>,
    server: usize,
    arguments: &Arguments<'r>,
) -> Result<(usize, Arguments<'r>), CallReason> {
    match Operation::read(arguments) {
        Ok(Operation::Call { tool, arguments }) => {
            let tool = decision.behind_stub(server, &tool)?;
            Ok((tool, arguments))
        }
        Ok(Operation::ListServices | Operation::Expand(_)) => {
            let stub = &decision.surface.basis.servers[server].stub;
            let text = format!("the gateway itself answers `{stub}`, within a budget of tokens");
            Err(CallReason::new(Code::StateRequired, text))
        }
        Err(invalid) => Err(invalid_operation(invalid)),
    }
}

/// Returns every reason against a call of a locked tool: those of the documents, and what else decides on the call.
fn stateless_reasons(
    decision: &Decision<'_>,
    caller: &Caller<'_>,
    (tool, via): (usize, Via),
    arguments: &Arguments<'_>,
) -> Vec<CallReason> {
    if let Some(reason) = decision.misnamed(tool, via, None) {
        return vec![reason];
    }
    let surface = decision.surface;
    let basis = surface.basis;
    let found = decision.by_documents(caller, tool, arguments, None);
    let mut reasons = found.expansion.unwrap_or_default();
    reasons.extend(found.call);
    if basis.remembered.as_ref().is_some_and(|it| it.policy.reads) {
        // It was not evaluated: a reason below says why.
        reasons.retain(|it| it.code != Code::PolicyError);
    }
    if basis.health.is_some() {
        reasons.extend(surface.standing_by(tool));
    }
    let vetoed = surface.vetoed(basis.tools[tool].server);
    reasons.extend(vetoed.map(|(reason, _)| reason));
    let mut missing = Vec::new();
    match decision.call_limit(tool) {
        Ok(None) => {}
        Ok(Some(limit)) => {
            let server = &basis.server_of(tool).name;
            missing.push(format!(
                "`{server}` takes {limit} calls within a minute, and the number of calls"
            ));
        }
        Err(reason) => reasons.push(reason),
    }
    let own = &basis.tools[tool];
    let named = (&*basis.server_of(tool).id, own.own_name());
    if basis.remembered.as_ref().is_some_and(|it| it.policy.reads) {
        missing.push("the policy reads the history of calls, which".to_owned());
    }
    missing.extend(rules_about(decision, named));
    if own.served.needs_approval() {
        missing.push("a human must approve the call, and the answer".to_owned());
    }
    missing.extend(not_kept(decision, tool));
    reasons.extend(missing.into_iter().map(state_required));
    reasons
}

/// Returns what decides on a call of a tool and is known to a gateway alone.
pub(super) fn not_kept(decision: &Decision<'_>, tool: usize) -> Vec<String> {
    let basis = decision.surface.basis;
    let mut missing = Vec::new();
    if basis.health.is_none() && decision.surface.standing_by(tool).is_some() {
        let name = visible(basis.tools[tool].name());
        missing.push(format!("`{name}` is a fallback, and the health of servers"));
    }
    let policy = basis.evaluation_context.policy.as_ref();
    if policy.is_some_and(|it| it.rules_results()) {
        missing.push("the policy decides about results, and the result".to_owned());
    }
    missing
}

/// Returns the reason against what depends on more than documents.
pub(super) fn state_required(missing: String) -> CallReason {
    let text = format!("{missing} is not known to a decision without state");
    CallReason::new(Code::StateRequired, text)
}

/// Returns which rules about the history of calls decide on a tool, or on requests of a method: by the id of its server and
/// its name.
pub(super) fn rules_about(decision: &Decision<'_>, (server, name): (&str, &str)) -> Vec<String> {
    let Some(known) = &decision.surface.basis.remembered else {
        return Vec::new();
    };
    let decides = |it: &&HistoryRuleTerms| !it.is_log_only && it.decides_calls_of(server, name);
    let rules = known.terms.rules.iter().filter(decides);
    let rule = |it: &HistoryRuleTerms| {
        let rule = it.rule.as_str();
        format!("the tenant's rule `{rule}` reads the history of calls, which")
    };
    rules.map(rule).collect()
}
