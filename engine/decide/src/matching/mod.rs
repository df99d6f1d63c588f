//! Which tool each requirement of a capability gets \[4, 5\].
//!
//! In the order of the specification: filter by verb and resource, prune by constraints, check
//! data and trust, ask the policy, rank, ask for health, select. What doesn't depend on a policy
//! or on health is decided by numbers, so that a large index is gone through quickly; the values
//! that were compared are put together for the tools that are looked at.

mod near;
mod offer;

pub use near::NearTool;
pub(super) use offer::capability_failure;

use super::assess::{Rejection, constraint_failures};
use super::constraint_failures::ConstraintFailures;
use super::failures::Failures;
use super::policy_decision::{
    PolicyDecision, PolicyDecisions, PolicyEngine, PolicyError, PolicyErrorKind,
};
use super::resolve::checked;
use agent_diagnostic::Code;
use agent_lower::{Candidate, candidates, definition_digest, input, integrity, tool_id};
use agent_model::{
    CapabilityRequirement, Constraints, Context, Endpoint, ForbidLabel, Grant, HUMAN_IN_THE_LOOP,
    Health, Index, Manifest, Name, Selection, ServerId, ServerVersion, ServerView, Task, Tenant,
    ToolName, ToolNumber, ToolView, selection_hash,
};
use agent_text::sort::sort_by_key;
use agent_text::{Place, Span, Spanned, Text};
use std::cmp::Reverse;
use std::sync::Arc;

/// What the requirements of capabilities are decided under, besides manifest and index.
#[derive(Debug, Clone, Default)]
pub struct EvaluationContext {
    /// The task, whose requirements come behind those of the manifest.
    pub task: Option<Arc<Task>>,
    /// The tenant, whose priorities rank the tools. A tenant that names a policy needs one.
    pub tenant: Option<Arc<Tenant>>,
    /// How the servers do. None: health is not considered.
    pub health: Option<Arc<Health>>,
    /// The policy. None: everything is allowed.
    pub policy: Option<Arc<dyn PolicyEngine>>,
    /// What the policy is told besides.
    pub context: Option<Arc<Context>>,
}

impl EvaluationContext {
    /// Whether a policy has a say: one that is there, or one that is named and not given.
    pub fn is_governed(&self) -> bool {
        let named = self.tenant.as_ref().and_then(|it| it.policy.as_ref());
        self.policy.is_some() || named.is_some()
    }

    /// Ask the policy about tools, which are ordered by server, version, tool: for a requirement,
    /// or without one about an expansion.
    pub(crate) fn ask(
        &self,
        requirement: Option<&CapabilityRequirement>,
        tools: &[Candidate<'_>],
    ) -> PolicyDecisions {
        let Self {
            task,
            tenant,
            policy,
            context,
            ..
        } = self;
        let policy_decision = match policy {
            Some(policy) => policy.ask(&input(
                requirement,
                task.as_deref(),
                tenant.as_deref(),
                context.as_deref(),
                &candidates(tools),
            )),
            // What is named and not given allows nothing.
            None => match tenant.as_ref().and_then(|tenant| tenant.policy.as_ref()) {
                None => return PolicyDecisions::None,
                Some(named) => PolicyDecision {
                    answer: Err(PolicyError {
                        kind: PolicyErrorKind::Undefined,
                        detail: format!("the policy `{}` was not given", named.value),
                        place: None,
                    }),
                    lines: Vec::new(),
                },
            },
        };
        PolicyDecisions::Given(Arc::new(policy_decision))
    }
}

/// The rule on which an eligible tool lost against the selected one \[4, 5\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    /// The selected one has the higher priority.
    Priority,
    /// The server of the selected one has the smaller id.
    Id,
    /// The server of the selected one has the smaller version.
    Version,
    /// The selected one has the smaller name.
    Tool,
}

impl Preference {
    /// Every rule, in their order.
    pub const ALL: [Self; 4] = [Self::Priority, Self::Id, Self::Version, Self::Tool];

    /// The word for it in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Id => "id",
            Self::Version => "version",
            Self::Tool => "tool",
        }
    }
}

/// How many tools are left after each check, each counted among those that passed all checks
/// before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CapabilityFunnel {
    /// All servers of the index.
    pub servers: u32,
    /// All tools of theirs.
    pub tools: u32,
    /// Those that advertise the verb and the resource.
    pub capability: u32,
    /// Of these, those that promise every constraint.
    pub constraints: u32,
    /// Of these, those of a fitting residency.
    pub residency: u32,
    /// Of these, those that may hold data so sensitive.
    pub sensitivity: u32,
    /// Of these, those signed where signatures are required.
    pub signature: u32,
    /// Of these, those that are not forbidden.
    pub action: u32,
    /// Of these, those that the policy allows.
    pub policy: u32,
    /// Of these, those that are healthy: the eligible ones.
    pub health: u32,
}

/// The answer to every requirement of a capability. There is one on failure too.
#[derive(Debug, Clone)]
pub struct Matching {
    manifest: Option<Arc<Manifest>>,
    index: Arc<Index>,
    evaluation_context: EvaluationContext,
    /// Those of the manifest; without one there are none.
    constraints: Constraints,
    constraint_keys: ConstraintFailures,
    /// The tools of forbidden names: sorted.
    forbidden: Vec<ToolNumber>,
    answers: Vec<Answer>,
}

/// One requirement in the numbers of an index, and what became of it.
#[derive(Debug, Clone)]
struct Answer {
    /// `verb:resource`
    name: String,
    /// None: no tool advertises it.
    pair: Option<u32>,
    /// The tags that are required. None: no tool has one of them.
    tags: Option<Vec<u32>>,
    /// The tools without a reason against them before the policy is asked: sorted.
    candidates: Vec<ToolNumber>,
    /// What the policy says of them; one for all where there is none to say anything.
    policy_decisions: PolicyDecisions,
    /// The eligible ones, most preferred first: the first is the selected one.
    ranked: Vec<ToolNumber>,
}

impl Matching {
    /// Decide \[4, 5\]: for the requirements of the manifest, if there is one, and behind them
    /// those of the task. Without a manifest there are no constraints.
    pub fn new(
        manifest: Option<Arc<Manifest>>,
        index: Arc<Index>,
        evaluation_context: EvaluationContext,
    ) -> Self {
        let constraints = manifest
            .as_ref()
            .map(|manifest| manifest.constraints.clone())
            .unwrap_or_default();
        let mut matching = Self {
            constraint_keys: ConstraintFailures::new(&constraints),
            forbidden: forbidden_tools(&index, &constraints),
            constraints,
            answers: Vec::new(),
            manifest,
            index,
            evaluation_context,
        };
        // What is required in the same words gets the same answer, and a policy is not asked again
        // what it has answered.
        let requirements: Vec<_> = matching.requirements().collect();
        let words = |number: usize| (&requirements[number].capability, requirements[number].load);
        let mut order: Vec<usize> = (0..requirements.len()).collect();
        sort_by_key(&mut order, |number| words(*number));
        let mut first = order.clone();
        for same in order.chunk_by(|a, b| words(*a) == words(*b)) {
            same.iter().for_each(|number| first[*number] = same[0]);
        }
        let mut answers: Vec<Answer> = Vec::with_capacity(requirements.len());
        for (requirement, first) in requirements.iter().zip(first) {
            answers.push(match answers.get(first) {
                Some(answer) => answer.clone(),
                None => matching.answer(requirement),
            });
        }
        matching.answers = answers;
        matching
    }

    fn answer(&self, requirement: &CapabilityRequirement) -> Answer {
        let name = requirement.capability.pair();
        let tags: Option<Vec<_>> = requirement
            .capability
            .constraints
            .iter()
            .map(|tag| self.index.tag(tag.as_str()))
            .collect();
        let mut answer = Answer {
            pair: self.index.pair(&name),
            name,
            tags,
            candidates: Vec::new(),
            policy_decisions: PolicyDecisions::None,
            ranked: Vec::new(),
        };
        if label_against(requirement, &self.constraints).is_none() {
            answer.candidates = self
                .advertising(&answer)
                .filter(|tool| {
                    answer.constraints_met(*tool)
                        && self.constraint_keys.refusing(tool.server()).is_empty()
                        && !self.is_forbidden(*tool)
                })
                .map(ToolView::number)
                .collect();
        }
        if !answer.candidates.is_empty() && self.evaluation_context.is_governed() {
            let tools: Vec<_> = answer
                .candidates
                .iter()
                .map(|number| Candidate::of(self.index.tool(*number)))
                .collect();
            answer.policy_decisions = self.evaluation_context.ask(Some(requirement), &tools);
        }
        let mut ranked: Vec<_> = answer
            .candidates
            .iter()
            .map(|number| self.index.tool(*number))
            .filter(|tool| {
                let allowed = answer.policy_decisions.against(|| tool_id(*tool)).is_none();
                allowed && self.veto(tool.server()).is_none()
            })
            .map(|tool| (Reverse(self.priority(tool.server())), tool.number()))
            .collect();
        // The numbers of tools are in the order in which ties are broken.
        sort_by_key(&mut ranked, |key| *key);
        answer.ranked = ranked.into_iter().map(|(_, number)| number).collect();
        answer
    }

    /// The manifest, if there is one.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_deref()
    }

    /// The index that it was decided against.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// What it was decided under.
    pub fn evaluation_context(&self) -> &EvaluationContext {
        &self.evaluation_context
    }

    /// How many requirements there are.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// The requirements: those of the manifest, then those of the task, in file order.
    pub fn requirements(&self) -> impl Iterator<Item = &CapabilityRequirement> {
        let of_manifest = self.manifest.iter().flat_map(|it| &it.capabilities);
        let of_task = self
            .evaluation_context
            .task
            .iter()
            .flat_map(|it| &it.required);
        of_manifest.chain(of_task)
    }

    /// The requirement of a number below [`Matching::len`].
    pub fn requirement(&self, number: usize) -> &CapabilityRequirement {
        self.asked(number).1
    }

    /// The requirement of a number below [`Matching::len`], and the text it stands in.
    fn asked(&self, number: usize) -> (&Text, &CapabilityRequirement) {
        let manifest = self.manifest.as_ref();
        let task = self.evaluation_context.task.as_ref();
        let own = manifest.map_or(&[][..], |it| &it.capabilities);
        // There are as many answers as there are requirements, and those behind the manifest's
        // are of the task.
        match (manifest, task) {
            (Some(manifest), _) if number < own.len() => (&manifest.text, &own[number]),
            (_, Some(task)) => (&task.text, &task.required[number - own.len()]),
            _ => unreachable!("there is no requirement {number}"),
        }
    }

    /// Where a part of a requirement stands.
    pub fn place(&self, number: usize, span: Span) -> Place {
        self.asked(number).0.place(span)
    }

    /// Whether every requirement has a tool.
    pub fn satisfied(&self) -> bool {
        self.answers.iter().all(|answer| !answer.ranked.is_empty())
    }

    /// The tool selected for a requirement.
    pub fn selected(&self, requirement: usize) -> Option<ToolView<'_>> {
        self.eligible(requirement).next()
    }

    /// The eligible tools, in the order of preference: the first is the selected one.
    pub fn eligible(&self, requirement: usize) -> impl Iterator<Item = ToolView<'_>> {
        self.answers[requirement]
            .ranked
            .iter()
            .map(|number| self.index.tool(*number))
    }

    /// The rejected tools, ordered by server, version, name.
    pub fn rejected(&self, requirement: usize) -> impl Iterator<Item = ToolView<'_>> {
        let mut eligible = self.answers[requirement].ranked.clone();
        sort_by_key(&mut eligible, |number| *number);
        self.index
            .tools()
            .filter(move |tool| eligible.binary_search(&tool.number()).is_err())
    }

    /// The tools that advertise a pair.
    fn advertising<'r>(&'r self, answer: &Answer) -> impl Iterator<Item = ToolView<'r>> + use<'r> {
        answer
            .pair
            .map_or(&[][..], |pair| self.index.with_pair(pair).ranks)
            .iter()
            .map(|number| self.index.tool(*number))
    }

    /// Every reason against a tool, in the order of the checks. Empty if it is eligible.
    pub fn reasons<'r>(&'r self, requirement: usize, tool: ToolView<'r>) -> Vec<Rejection<'r>> {
        let answer = &self.answers[requirement];
        let asked = self.requirement(requirement);
        let mut reasons = fixed_reasons(asked, &self.constraints, &Candidate::of(tool));
        if reasons.is_empty() {
            reasons.extend(answer.policy_decisions.against(|| tool_id(tool)));
        }
        if reasons.is_empty() {
            reasons.extend(self.veto(tool.server()));
        }
        reasons
    }

    /// The constraints that it was decided under; without a manifest there are none.
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// The checks that a tool fails: the codes of [`Matching::reasons`], found by numbers alone.
    pub fn failures(&self, requirement: usize, tool: ToolView<'_>) -> Failures {
        let answer = &self.answers[requirement];
        let advertises = answer
            .pair
            .is_some_and(|pair| tool.advertised().any(|block| block.pair_number() == pair));
        let label = label_against(self.requirement(requirement), &self.constraints);
        let fixed = self
            .constraint_keys
            .refusing(tool.server())
            .with(Code::MissingCapability, !advertises)
            .with(
                Code::ConstraintUnmet,
                advertises && !answer.constraints_met(tool),
            )
            .with(
                Code::ForbiddenAction,
                label.is_some() || self.is_forbidden(tool),
            );
        if !fixed.is_empty() {
            return fixed;
        }
        let last = answer
            .policy_decisions
            .against(|| tool_id(tool))
            .or_else(|| self.veto(tool.server()));
        last.iter().map(Rejection::code).collect()
    }

    /// How many tools each check lets through.
    pub fn funnel(&self, requirement: usize) -> CapabilityFunnel {
        let answer = &self.answers[requirement];
        let mut funnel = CapabilityFunnel {
            servers: self.index.len() as u32,
            tools: self.index.tool_count() as u32,
            action: answer.candidates.len() as u32,
            health: answer.ranked.len() as u32,
            ..CapabilityFunnel::default()
        };
        for tool in self.advertising(answer) {
            funnel.capability += 1;
            if answer.constraints_met(tool) {
                let refused = self.constraint_keys.refusing(tool.server());
                let passes = |code| u32::from(refused.passes_up_to(code));
                funnel.constraints += 1;
                funnel.residency += passes(Code::ResidencyMismatch);
                funnel.sensitivity += passes(Code::SensitivityExceeded);
                funnel.signature += passes(Code::UnsignedNotAllowed);
            }
        }
        funnel.policy = answer
            .candidates
            .iter()
            .map(|number| self.index.tool(*number))
            .filter(|tool| answer.policy_decisions.against(|| tool_id(*tool)).is_none())
            .count() as u32;
        funnel
    }

    /// What the policy said of a requirement's candidates. None if it was not asked.
    pub fn policy_decision(&self, requirement: usize) -> Option<&PolicyDecision> {
        self.answers[requirement].policy_decisions.policy_decision()
    }

    /// How much a server is preferred.
    pub fn priority(&self, server: ServerView<'_>) -> i64 {
        self.evaluation_context
            .tenant
            .as_ref()
            .map_or(0, |tenant| tenant.priority(server.id(), server.class()))
    }

    /// The rule on which `other` lost against `selected`.
    pub fn preference(&self, selected: ToolView<'_>, other: ToolView<'_>) -> Preference {
        let (a, b) = (selected.server(), other.server());
        if self.priority(a) != self.priority(b) {
            Preference::Priority
        } else if a.id() != b.id() {
            Preference::Id
        } else if a.version() != b.version() {
            Preference::Version
        } else {
            Preference::Tool
        }
    }

    /// Why the health of a server doesn't let it through. None if it does, or nobody asks.
    fn veto(&self, server: ServerView<'_>) -> Option<Rejection<'static>> {
        let health = self.evaluation_context.health.as_ref()?;
        let status = health.status(server.id());
        (!status.is_some_and(|status| status.passes())).then_some(Rejection::HealthVeto { status })
    }

    /// Whether there is nothing against a tool before policy and health are asked.
    fn is_candidate(&self, requirement: usize, tool: ToolView<'_>) -> bool {
        let candidates = &self.answers[requirement].candidates;
        candidates.binary_search(&tool.number()).is_ok()
    }

    fn is_forbidden(&self, tool: ToolView<'_>) -> bool {
        self.forbidden.binary_search(&tool.number()).is_ok()
    }

    /// Whether calls of a tool need the approval of a human: where it advertises what is required,
    /// it says so itself.
    pub fn needs_approval(&self, requirement: usize, tool: ToolView<'_>) -> bool {
        let answer = &self.answers[requirement];
        tool.advertised().any(|block| {
            Some(block.pair_number()) == answer.pair
                && block.tags().any(|tag| tag == HUMAN_IN_THE_LOOP)
        })
    }

    /// What a lock holds of a requirement. None if no tool is eligible.
    pub fn selection(&self, requirement: usize) -> Option<Selection> {
        let tool = self.selected(requirement)?;
        let server = tool.server();
        let asked = self.requirement(requirement);
        Some(Selection {
            grant: Grant::Capability {
                capability: asked.capability.clone(),
                definition: definition_digest(tool),
                load: asked.load,
                tool: checked(ToolName::new(tool.name()))?,
            },
            scopes: Vec::new(),
            id: checked(ServerId::new(server.id()))?,
            version: checked(ServerVersion::new(server.version()))?,
            endpoint: checked(Endpoint::new(server.endpoint()))?,
            hash: hash(tool),
            integrity: integrity(server),
        })
    }

    /// What a lock holds of each requirement.
    pub(super) fn selections(&self) -> impl Iterator<Item = Option<Selection>> {
        (0..self.len()).map(|requirement| self.selection(requirement))
    }
}

/// The specification's hash of a selection without scopes.
pub fn hash(tool: ToolView<'_>) -> String {
    let server = tool.server();
    selection_hash(server.id(), server.version(), server.endpoint(), [])
}

impl Answer {
    /// Whether one of the blocks that advertise the pair has every tag.
    fn constraints_met(&self, tool: ToolView<'_>) -> bool {
        self.tags.as_ref().is_some_and(|tags| {
            tool.advertised().any(|block| {
                Some(block.pair_number()) == self.pair
                    && tags
                        .iter()
                        .all(|tag| block.tag_numbers().binary_search(tag).is_ok())
            })
        })
    }
}

/// The reasons against a tool that neither policy nor health has a part in.
fn fixed_reasons<'r>(
    requirement: &'r CapabilityRequirement,
    constraints: &'r Constraints,
    candidate: &Candidate<'r>,
) -> Vec<Rejection<'r>> {
    let publisher = candidate.tool.server().publisher();
    let forbidden = label(&constraints.forbid, candidate.tool.name())
        .or_else(|| label_against(requirement, constraints));
    capability_failure(&requirement.capability, candidate)
        .into_iter()
        .chain(constraint_failures(
            constraints,
            candidate.constraint_key,
            publisher,
        ))
        .chain(forbidden.map(|label| Rejection::ForbiddenAction { label }))
        .collect()
}

/// The label that forbids a requirement. What reads the inputs refuses that; if somebody has not
/// asked it, nothing is granted all the same.
fn label_against<'f>(
    requirement: &CapabilityRequirement,
    constraints: &'f Constraints,
) -> Option<&'f str> {
    let capability = &requirement.capability;
    label(&constraints.forbid, capability.verb.as_str())
        .or_else(|| label(&constraints.forbid, &capability.pair()))
}

/// The label of this name, if it is forbidden.
fn label<'f>(forbid: &'f [Spanned<ForbidLabel>], name: &str) -> Option<&'f str> {
    forbid
        .binary_search_by(|label| label.value.as_str().cmp(name))
        .ok()
        .map(|found| forbid[found].value.as_str())
}

fn forbidden_tools(index: &Index, constraints: &Constraints) -> Vec<ToolNumber> {
    if constraints.forbid.is_empty() {
        return Vec::new();
    }
    index
        .tools()
        .filter(|tool| label(&constraints.forbid, tool.name()).is_some())
        .map(ToolView::number)
        .collect()
}
