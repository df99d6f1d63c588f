//! The decision on every requirement of a capability \[4, 5\].
//!
//! In the order of the specification: filter by verb and resource, prune by constraints, check data
//! and trust, consult the policy, rank, consult health, select. Checks that need neither policy nor
//! health compare numbers, which is fast on a large index. The compared values are collected only
//! for the tools that a view shows.

use super::capability::capability_failure;
use super::context::{EvaluationContext, question};
use super::policy_answers::PolicyAnswers;
use crate::assess::constraint_failures;
use crate::constraint_failures::ConstraintFailures;
use crate::failures::Failures;
use crate::policy_decision::{PolicyDecision, PolicyEngine, PolicyFact};
use crate::rejection::Rejection;
use crate::selection;
use agent_diagnostic::Code;
use agent_lower::{Candidate, Concealed, PolicyOccasion, concealed, definition_digest, tool_id};
use agent_model::{
    CapabilityRequirement, Constraints, ForbidLabel, Grant, HUMAN_IN_THE_LOOP, Index, Manifest,
    Name, Selection, ServerView, ToolName, ToolNumber, ToolView, Tools,
};
use agent_text::sort::sort_by_key;
use agent_text::{Place, Span, Spanned, Text};
use std::cmp::Reverse;
use std::sync::Arc;

/// The rule on which an eligible tool lost to the selected one \[4, 5\].
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
    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Id => "id",
            Self::Version => "version",
            Self::Tool => "tool",
        }
    }
}

/// Numbers of tools that pass each check and all checks before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CapabilityFunnel {
    /// All servers of the index.
    pub servers: u32,
    /// All their tools.
    pub tools: u32,
    /// Tools that advertise the verb and the resource.
    pub capability: u32,
    /// Tools with every required constraint.
    pub constraints: u32,
    /// Tools of a matching residency.
    pub residency: u32,
    /// Tools that may hold data this sensitive.
    pub sensitivity: u32,
    /// Tools with a signature, if signatures are required.
    pub signature: u32,
    /// Tools that are not forbidden.
    pub action: u32,
    /// Tools whose definitions hide no text.
    pub text: u32,
    /// Tools that the policy allows.
    pub policy: u32,
    /// Tools of healthy servers: the eligible ones.
    pub health: u32,
}

/// The answer to every requirement of a capability. An unsatisfied requirement has an answer too.
#[derive(Debug, Clone)]
pub struct Matching {
    manifest: Option<Arc<Manifest>>,
    index: Arc<Index>,
    evaluation_context: EvaluationContext,
    /// The manifest's; empty without one.
    constraints: Constraints,
    constraint_failures: ConstraintFailures,
    /// The tools with forbidden names: sorted.
    forbidden: Vec<ToolNumber>,
    matches: Vec<Match>,
}

/// One requirement in the numbers of an index, and its eligible tools.
#[derive(Debug, Clone)]
struct Match {
    /// `verb:resource`
    name: String,
    /// The number of the pair; `None` if no tool advertises it.
    pair: Option<u32>,
    /// The required tags; `None` if no tool has one of them.
    tags: Option<Vec<u32>>,
    /// The tools that pass every check before policy and health: sorted.
    candidates: Vec<ToolNumber>,
    /// The tools that would be candidates if their definitions hid no text: sorted.
    concealing: Vec<ToolNumber>,
    /// The answers of the policy about the candidates, if it was consulted.
    policy_answers: Option<Arc<PolicyAnswers>>,
    /// The eligible tools, in the order of preference: the first is selected.
    ranked: Vec<ToolNumber>,
}

impl Matching {
    /// Decides \[4, 5\]: for the requirements of the manifest, if any, and then those of the task.
    /// Without a manifest there are no constraints.
    pub fn new(
        manifest: Option<Arc<Manifest>>,
        index: Arc<Index>,
        evaluation_context: EvaluationContext,
    ) -> Self {
        let constraints = manifest.as_ref().map(|it| it.constraints.clone());
        let constraints = constraints.unwrap_or_default();
        let mut matching = Self {
            constraint_failures: ConstraintFailures::new(&constraints),
            forbidden: forbidden_tools(&index, &constraints),
            constraints,
            matches: Vec::new(),
            manifest,
            index,
            evaluation_context,
        };
        // Equal requirements get the same answer, and the policy is consulted once for them.
        let requirements: Vec<_> = matching.requirements().collect();
        let key = |number: usize| (&requirements[number].capability, requirements[number].load);
        let mut order: Vec<usize> = (0..requirements.len()).collect();
        sort_by_key(&mut order, |number| key(*number));
        let mut first = order.clone();
        for same in order.chunk_by(|a, b| key(*a) == key(*b)) {
            same.iter().for_each(|number| first[*number] = same[0]);
        }
        let mut matches: Vec<Match> = Vec::with_capacity(requirements.len());
        for (requirement, first) in requirements.iter().zip(first) {
            matches.push(match matches.get(first) {
                Some(found) => found.clone(),
                None => matching.find(requirement),
            });
        }
        matching.matches = matches;
        matching
    }

    fn find(&self, requirement: &CapabilityRequirement) -> Match {
        let name = requirement.capability.pair();
        let tags = requirement.capability.constraints.iter();
        let mut found = Match {
            pair: self.index.pair(&name),
            name,
            tags: tags.map(|tag| self.index.tag(tag.as_str())).collect(),
            candidates: Vec::new(),
            concealing: Vec::new(),
            policy_answers: None,
            ranked: Vec::new(),
        };
        if let Some(pair) = found.pair
            && label_against(requirement, &self.constraints).is_none()
        {
            let candidates = self.with_pair(pair).filter(|tool| {
                found.constraints_met(*tool)
                    && self.constraint_failures.refusing(tool.server()).is_empty()
                    && !self.is_forbidden(*tool)
            });
            // Only these are searched for hidden text: an index has many others.
            let numbers: (Vec<_>, Vec<_>) = candidates
                .map(ToolView::number)
                .partition(|number| concealed(self.index.tool(*number)).is_some());
            (found.concealing, found.candidates) = numbers;
        }
        let tools = found.candidates.iter();
        let tools = tools.map(|number| self.index.tool(*number));
        if !found.candidates.is_empty() && self.evaluation_context.has_policy() {
            let mut candidates = tools.clone().map(Candidate::of);
            let context = &self.evaluation_context;
            let answers = context.policy_answers(question(requirement), &mut candidates);
            found.policy_answers = answers.map(Arc::new);
        }
        let eligible = tools
            .enumerate()
            .filter(|(place, tool)| found.is_allowed(*place) && self.veto(tool.server()).is_none());
        let ranked =
            eligible.map(|(_, tool)| (Reverse(self.priority(tool.server())), tool.number()));
        let mut ranked: Vec<_> = ranked.collect();
        // The numbers of tools are in the order in which ties are broken.
        sort_by_key(&mut ranked, |key| *key);
        found.ranked = ranked.into_iter().map(|(_, number)| number).collect();
        found
    }

    /// Returns the manifest, if any.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_deref()
    }

    /// Returns the index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the inputs besides manifest and index.
    pub fn evaluation_context(&self) -> &EvaluationContext {
        &self.evaluation_context
    }

    /// Returns the number of requirements.
    pub fn len(&self) -> usize {
        self.matches.len()
    }

    /// Returns whether there is no requirement.
    pub fn is_empty(&self) -> bool {
        self.matches.is_empty()
    }

    /// Returns the requirements: those of the manifest, then those of the task, in file order.
    pub fn requirements(&self) -> impl Iterator<Item = &CapabilityRequirement> {
        let of_manifest = self.manifest.iter().flat_map(|it| &it.capabilities);
        let task = self.evaluation_context.task.iter();
        of_manifest.chain(task.flat_map(|it| &it.required))
    }

    /// Returns the requirement of a number below [`Matching::len`].
    pub fn requirement(&self, number: usize) -> &CapabilityRequirement {
        self.located(number).1
    }

    /// Returns the place of a part of a requirement.
    pub fn place(&self, number: usize, span: Span) -> Place {
        self.located(number).0.place(span)
    }

    /// Returns the text with the requirement of a number.
    pub fn text(&self, number: usize) -> &Text {
        self.located(number).0
    }

    /// Returns the requirement of a number below [`Matching::len`], and the text that contains it.
    fn located(&self, number: usize) -> (&Text, &CapabilityRequirement) {
        let manifest = self.manifest.as_ref();
        let task = self.evaluation_context.task.as_ref();
        let own = manifest.map_or(&[][..], |it| &it.capabilities);
        match (manifest, task) {
            (Some(manifest), _) if number < own.len() => (&manifest.text, &own[number]),
            (_, Some(task)) => (&task.text, &task.required[number - own.len()]),
            _ => unreachable!("there is no requirement {number}"),
        }
    }

    /// Returns whether every requirement has a tool.
    pub fn satisfied(&self) -> bool {
        self.matches.iter().all(|found| !found.ranked.is_empty())
    }

    /// Returns the tool selected for a requirement.
    pub fn selected(&self, requirement: usize) -> Option<ToolView<'_>> {
        self.eligible(requirement).next()
    }

    /// Returns the tools selected for a requirement, ordered by name: one, or with `tools: all` every
    /// eligible one of its server.
    pub fn selected_tools(&self, requirement: usize) -> Vec<ToolView<'_>> {
        let first = self.selected(requirement);
        if self.requirement(requirement).tools == Tools::One {
            return Vec::from_iter(first);
        }
        let server = first.map(|tool| tool.server().rank());
        let mut tools: Vec<_> = self
            .eligible(requirement)
            .filter(|tool| Some(tool.server().rank()) == server)
            .collect();
        sort_by_key(&mut tools, |tool| tool.name());
        tools
    }

    /// Returns the tool that a requirement with `fallback` locks besides: the next in rank of another
    /// server. `None` also if no other server has an eligible tool.
    pub fn fallback(&self, requirement: usize) -> Option<ToolView<'_>> {
        self.requirement(requirement).fallback?;
        let mut eligible = self.eligible(requirement);
        let first = eligible.next()?;
        eligible.find(|tool| tool.server().id() != first.server().id())
    }

    /// Returns the eligible tools that are not selected, in the order of preference.
    pub fn others(&self, requirement: usize) -> impl Iterator<Item = ToolView<'_>> {
        let selected = self.selected_tools(requirement);
        self.eligible(requirement)
            .filter(move |tool| selected.iter().all(|it| it.number() != tool.number()))
    }

    /// Returns the policy, if one decides and a capability is required.
    pub fn policy(&self) -> Option<&Arc<dyn PolicyEngine>> {
        let policy = self.evaluation_context.policy.as_ref();
        policy.filter(|_| !self.is_empty())
    }

    /// Returns the eligible tools in the order of preference: the first is selected.
    pub fn eligible(&self, requirement: usize) -> impl Iterator<Item = ToolView<'_>> {
        let ranked = self.matches[requirement].ranked.iter();
        ranked.map(|number| self.index.tool(*number))
    }

    /// Returns the rejected tools, ordered by server, version and name.
    pub fn rejected(&self, requirement: usize) -> impl Iterator<Item = ToolView<'_>> {
        let mut eligible = self.matches[requirement].ranked.clone();
        sort_by_key(&mut eligible, |number| *number);
        self.index
            .tools()
            .filter(move |tool| eligible.binary_search(&tool.number()).is_err())
    }

    /// Returns the tools that advertise the required pair, or `None` if no tool does.
    pub(super) fn advertising(
        &self,
        requirement: usize,
    ) -> Option<impl Iterator<Item = ToolView<'_>>> {
        let pair = self.matches[requirement].pair?;
        Some(self.with_pair(pair))
    }

    fn with_pair(&self, pair: u32) -> impl Iterator<Item = ToolView<'_>> {
        let tools = self.index.with_pair(pair).ranks.iter();
        tools.map(|number| self.index.tool(*number))
    }

    /// Returns every reason against a tool, in the order of the checks; none if it is eligible.
    pub fn reasons<'r>(&'r self, requirement: usize, tool: ToolView<'r>) -> Vec<Rejection<'r>> {
        let required = self.requirement(requirement);
        let mut reasons = fixed_reasons(required, &self.constraints, &Candidate::of(tool));
        if reasons.is_empty() {
            reasons.extend(self.late_reason(requirement, tool));
        }
        reasons
    }

    /// Returns the reason of hidden text, the policy or health against a tool that passes every other check.
    fn late_reason<'r>(&'r self, requirement: usize, tool: ToolView<'r>) -> Option<Rejection<'r>> {
        let found = &self.matches[requirement];
        if found.concealing.binary_search(&tool.number()).is_ok() {
            let found = concealed(tool)?;
            return Some(Rejection::HiddenText {
                pointer: found.pointer,
                character: found.character,
            });
        }
        found.denial(tool).or_else(|| self.veto(tool.server()))
    }

    /// Returns whether hidden text is the only reason against a tool of a requirement.
    pub fn hides_text(&self, requirement: usize) -> bool {
        !self.matches[requirement].concealing.is_empty()
    }

    /// Returns the tools that are rejected for hidden text alone, ordered by server, version and name.
    pub fn concealed(&self) -> impl Iterator<Item = Concealed<'_>> {
        let numbers = self.matches.iter().flat_map(|it| &it.concealing);
        let mut numbers: Vec<_> = numbers.copied().collect();
        sort_by_key(&mut numbers, |number| *number);
        numbers.dedup();
        let tools = numbers.into_iter().map(|it| self.index.tool(it));
        tools.filter_map(concealed)
    }

    /// Returns the constraints of the manifest; without a manifest the list is empty.
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// Returns the checks that a tool fails: the codes of [`Matching::reasons`], by numbers alone.
    pub fn failures(&self, requirement: usize, tool: ToolView<'_>) -> Failures {
        let found = &self.matches[requirement];
        let mut blocks = tool.advertised();
        let advertises = blocks.any(|block| Some(block.pair_number()) == found.pair);
        let unmet = advertises && !found.constraints_met(tool);
        let label = label_against(self.requirement(requirement), &self.constraints);
        let forbidden = label.is_some() || self.is_forbidden(tool);
        let refused = self.constraint_failures.refusing(tool.server());
        let fixed = refused
            .with(Code::MissingCapability, !advertises)
            .with(Code::ConstraintUnmet, unmet)
            .with(Code::ForbiddenAction, forbidden);
        if !fixed.is_empty() {
            return fixed;
        }
        let late = self.late_reason(requirement, tool);
        late.iter().map(Rejection::code).collect()
    }

    /// Returns the number of tools that pass each check.
    pub fn funnel(&self, requirement: usize) -> CapabilityFunnel {
        let found = &self.matches[requirement];
        let allowed = (0..found.candidates.len()).filter(|place| found.is_allowed(*place));
        let mut funnel = CapabilityFunnel {
            servers: self.index.len() as u32,
            tools: self.index.tool_count() as u32,
            action: (found.candidates.len() + found.concealing.len()) as u32,
            text: found.candidates.len() as u32,
            policy: allowed.count() as u32,
            health: found.ranked.len() as u32,
            ..CapabilityFunnel::default()
        };
        for tool in self.advertising(requirement).into_iter().flatten() {
            funnel.capability += 1;
            if found.constraints_met(tool) {
                let [residency, sensitivity, signature] =
                    self.constraint_failures.passed(tool.server());
                funnel.constraints += 1;
                funnel.residency += residency;
                funnel.sensitivity += sensitivity;
                funnel.signature += signature;
            }
        }
        funnel
    }

    /// Returns the decision of the policy on a requirement's candidates, if it was consulted. Of candidates that the policy can't
    /// tell apart, it is about the first.
    pub fn policy_decision(&self, requirement: usize) -> Option<&PolicyDecision> {
        let answers = self.matches[requirement].policy_answers.as_ref();
        answers.map(|it| it.decision())
    }

    /// Returns the decision of the policy on all of a requirement's candidates, if it was consulted.
    pub fn whole_policy_decision(&self, requirement: usize) -> Option<PolicyDecision> {
        let found = &self.matches[requirement];
        let candidates = found.candidates.iter();
        let ids = candidates.map(|number| tool_id(self.index.tool(*number)));
        Some(found.policy_answers.as_ref()?.on_all(ids))
    }

    /// Returns the input of the policy for a requirement, as JSON, if it was consulted.
    pub fn policy_input(&self, requirement: usize) -> Option<String> {
        self.policy_decision(requirement)?;
        let candidates = self.matches[requirement].candidates.iter();
        let candidates: Vec<_> = candidates
            .map(|number| Candidate::of(self.index.tool(*number)))
            .collect();
        let question = question(self.requirement(requirement));
        let input = self.evaluation_context.input(question, &candidates);
        Some(input.text(PolicyOccasion::default()))
    }

    /// Returns the parts of the policy that decided against a tool, with the values that they found. Empty
    /// if the policy allows the tool or gave no answer.
    pub fn policy_facts(&self, requirement: usize, tool: ToolView<'_>) -> Vec<PolicyFact> {
        let denial = self.matches[requirement].denial(tool);
        match (self.policy_decision(requirement), denial) {
            (Some(decision), Some(Rejection::PolicyDenied { .. })) => {
                let question = question(self.requirement(requirement));
                let context = &self.evaluation_context;
                context.policy_facts(question, Candidate::of(tool), &decision.lines)
            }
            _ => Vec::new(),
        }
    }

    /// Returns the tenant's priority of a server.
    pub fn priority(&self, server: ServerView<'_>) -> i64 {
        let tenant = self.evaluation_context.tenant.as_ref();
        tenant.map_or(0, |tenant| tenant.priority(server.id(), server.class()))
    }

    /// Returns the rule on which `other` lost to `selected`.
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

    /// Returns the reason of health against a server, or `None` if it passes or health is ignored.
    pub(super) fn veto(&self, server: ServerView<'_>) -> Option<Rejection<'static>> {
        let health = self.evaluation_context.health.as_ref()?;
        let status = health.status(server.id());
        (!status.is_some_and(|status| status.passes())).then_some(Rejection::HealthVeto { status })
    }

    /// Returns the tools that pass every check before policy and health: sorted.
    pub(super) fn candidates(&self, requirement: usize) -> &[ToolNumber] {
        &self.matches[requirement].candidates
    }

    /// Returns the required `verb:resource`.
    pub(super) fn pair(&self, requirement: usize) -> &str {
        &self.matches[requirement].name
    }

    fn is_forbidden(&self, tool: ToolView<'_>) -> bool {
        self.forbidden.binary_search(&tool.number()).is_ok()
    }

    /// Returns whether a human must approve calls of a tool: the required pair is tagged so.
    pub fn needs_approval(&self, requirement: usize, tool: ToolView<'_>) -> bool {
        let pair = self.matches[requirement].pair;
        tool.advertised().any(|block| {
            Some(block.pair_number()) == pair && block.tags().any(|tag| tag == HUMAN_IN_THE_LOOP)
        })
    }

    /// Returns the selections of a requirement, ordered by tool and followed by its fallback, or `None`
    /// if no tool is eligible.
    pub fn selections(&self, requirement: usize) -> Option<Vec<Selection>> {
        let tools = self.selected_tools(requirement).into_iter();
        let tools = tools.map(|tool| (tool, false));
        let fallback = self.fallback(requirement).map(|tool| (tool, true));
        let selections: Option<Vec<_>> = tools
            .chain(fallback)
            .map(|(tool, fallback)| self.selection(requirement, tool, fallback))
            .collect();
        selections.filter(|it| !it.is_empty())
    }

    fn selection(
        &self,
        requirement: usize,
        tool: ToolView<'_>,
        fallback: bool,
    ) -> Option<Selection> {
        let required = self.requirement(requirement);
        let grant = Grant::Capability {
            capability: required.capability.clone(),
            definition: definition_digest(tool),
            load: required.load,
            tool: selection::checked(ToolName::new(tool.name()))?,
            fallback,
        };
        selection::selection(grant, Vec::new(), tool.server())
    }
}

/// Returns the specification's hash of a selection without scopes.
pub fn hash(tool: ToolView<'_>) -> String {
    selection::hash(tool.server(), std::iter::empty())
}

impl Match {
    /// Returns whether one advertised block of the pair has every tag.
    fn constraints_met(&self, tool: ToolView<'_>) -> bool {
        self.tags.as_ref().is_some_and(|tags| {
            tool.advertised().any(|block| {
                let own = block.tag_numbers();
                Some(block.pair_number()) == self.pair
                    && tags.iter().all(|tag| own.binary_search(tag).is_ok())
            })
        })
    }

    /// Returns whether the policy allows a candidate, by its place.
    fn is_allowed(&self, place: usize) -> bool {
        let answers = self.policy_answers.as_ref();
        answers.is_none_or(|answers| answers.allows(place))
    }

    /// Returns the reason of the policy against a candidate.
    fn denial(&self, tool: ToolView<'_>) -> Option<Rejection<'_>> {
        let place = self.candidates.binary_search(&tool.number()).ok()?;
        self.policy_answers.as_ref()?.denial(place)
    }
}

/// Returns the reasons against a tool that depend on neither policy nor health.
pub(super) fn fixed_reasons<'r>(
    requirement: &'r CapabilityRequirement,
    constraints: &'r Constraints,
    candidate: &Candidate<'r>,
) -> Vec<Rejection<'r>> {
    let (key, tool) = (candidate.constraint_key, candidate.tool);
    let forbidden = label(&constraints.forbid, tool.name())
        .or_else(|| label_against(requirement, constraints))
        .map(|label| Rejection::ForbiddenAction { label });
    capability_failure(&requirement.capability, candidate)
        .into_iter()
        .chain(constraint_failures(
            constraints,
            key,
            tool.server().publisher(),
        ))
        .chain(forbidden)
        .collect()
}

/// Returns the label that forbids a requirement. Lowering refuses such inputs; a caller that
/// ignores the refusal gets no tool all the same.
fn label_against<'f>(
    requirement: &CapabilityRequirement,
    constraints: &'f Constraints,
) -> Option<&'f str> {
    let capability = &requirement.capability;
    label(&constraints.forbid, capability.verb.as_str())
        .or_else(|| label(&constraints.forbid, &capability.pair()))
}

/// Returns the forbidden label of this name.
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
