//! One form of the decision on a requirement, whether its candidates are servers or tools.

use super::meant::{Meant, meant};
use agent_decide::{
    Counterfactual, Matching, NearMiss, NearTool, PolicyError, PolicyFact, Preference, Rejection,
    Resolution, TieBreak, hash,
};
use agent_diagnostic::{Code, Label};
use agent_model::{Constraints, Load, Name, NonEmpty, Serve, ServerView, ToolView, Tools};
use agent_text::{Likeness, Place, Span};

/// Budget of the search for slips in one requirement, in pairs of bytes: views ask for each requirement.
const SEARCHED: u64 = 200_000;

/// Number of requirements for which the policy is read again to explain a denial.
const READ_AGAIN: usize = 64;

/// A requirement by its number, with the answer that decides on it.
#[derive(Debug, Clone, Copy)]
pub enum Decision<'r> {
    /// A required category. Its candidates are servers.
    Category(&'r Resolution, usize),
    /// A required capability. Its candidates are tools.
    Capability(&'r Matching, usize),
}

/// A requirement in the words of its author.
#[derive(Debug, Clone)]
pub struct Required<'r> {
    /// The category, or the pair of verb and resource.
    pub name: String,
    /// The permissions or constraints.
    pub details: Vec<&'r str>,
    /// The place of the category or of the verb.
    pub place: Place,
    /// The place of the whole requirement.
    pub whole: Place,
}

/// A candidate for a requirement.
#[derive(Debug, Clone, Copy)]
pub enum Candidate<'r> {
    /// A server, for a category.
    Server(ServerView<'r>),
    /// A tool, for a capability.
    Tool(ToolView<'r>),
}

/// A rejected candidate.
#[derive(Debug, Clone)]
pub struct RejectedCandidate<'r> {
    /// The candidate.
    pub candidate: Candidate<'r>,
    /// The checks that it fails.
    pub reasons: NonEmpty<Rejection<'r>>,
    /// Verified changes of the manifest or the task, each of which makes it eligible.
    pub fixes: Vec<Counterfactual<'r>>,
    /// What would have to be true of the server for it to be eligible. Its index entry and its health
    /// state facts, so this is no fix.
    pub suppositions: Vec<Counterfactual<'r>>,
}

/// The rule that ranked an eligible candidate below the selected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostOn {
    /// A rule about servers.
    Server(TieBreak),
    /// A rule about tools.
    Tool(Preference),
}

impl<'r> Decision<'r> {
    /// Returns the decisions on all requirements: categories in file order, then capabilities.
    pub fn all(resolution: &'r Resolution) -> impl Iterator<Item = Self> {
        let categories = 0..resolution.outcomes().len();
        categories
            .map(|number| Self::Category(resolution, number))
            .chain(Self::of_capabilities(resolution.matching()))
    }

    /// Returns the decisions on the required capabilities: of the manifest, then of the task.
    pub fn of_capabilities(matching: &'r Matching) -> impl Iterator<Item = Self> {
        (0..matching.len()).map(|number| Self::Capability(matching, number))
    }

    /// Returns the number of the requirement among those of its kind.
    pub fn number(self) -> usize {
        match self {
            Self::Category(_, number) | Self::Capability(_, number) => number,
        }
    }

    /// Returns the word for its candidates.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Category(..) => "server",
            Self::Capability(..) => "tool",
        }
    }

    /// Returns the requirement.
    pub fn required(self) -> Required<'r> {
        match self {
            Self::Category(resolution, number) => {
                let manifest = resolution.manifest();
                let requirement = &manifest.requirements[number];
                let permissions = requirement.permissions.iter();
                Required {
                    name: requirement.category.value.as_str().to_owned(),
                    details: permissions.map(|it| it.value.as_str()).collect(),
                    place: manifest.text.place(requirement.category.span),
                    whole: manifest.text.place(requirement.span),
                }
            }
            Self::Capability(matching, number) => {
                let requirement = matching.requirement(number);
                let tags = requirement.capability.constraints.iter();
                Required {
                    name: requirement.capability.pair(),
                    details: tags.map(Name::as_str).collect(),
                    place: matching.place(number, requirement.verb_span),
                    whole: matching.place(number, requirement.span),
                }
            }
        }
    }

    /// Returns the place of a span of the manifest, if there is one.
    pub(super) fn in_manifest(self, span: Span) -> Option<Place> {
        let manifest = match self {
            Self::Category(resolution, _) => resolution.manifest(),
            Self::Capability(matching, _) => matching.manifest()?,
        };
        Some(manifest.text.place(span))
    }

    /// Returns the place of the required constraint that a code is about.
    pub(super) fn constraint_place(self, code: Code) -> Option<Place> {
        let constraints: &Constraints = match self {
            Self::Category(resolution, _) => resolution.constraints(),
            Self::Capability(matching, _) => matching.constraints(),
        };
        let span = match code {
            Code::ResidencyMismatch => constraints.residency.map(|it| it.span),
            Code::SensitivityExceeded => constraints.sensitivity.map(|it| it.span),
            Code::UnsignedNotAllowed => constraints.require_signed.map(|it| it.span),
            _ => None,
        };
        self.in_manifest(span?)
    }

    /// Returns the selected candidate.
    pub fn selected(self) -> Option<Candidate<'r>> {
        match self {
            Self::Category(resolution, number) => {
                resolution.selected(number).map(Candidate::Server)
            }
            Self::Capability(matching, number) => matching.selected(number).map(Candidate::Tool),
        }
    }

    /// Returns all selected candidates: one, or with `tools: all` several tools, ordered by name.
    pub fn chosen(self) -> Vec<Candidate<'r>> {
        match self {
            Self::Category(..) => Vec::from_iter(self.selected()),
            Self::Capability(matching, number) => {
                let tools = matching.selected_tools(number).into_iter();
                tools.map(Candidate::Tool).collect()
            }
        }
    }

    /// Returns how many tools the requirement selects.
    pub fn tools(self) -> Tools {
        match self {
            Self::Category(..) => Tools::One,
            Self::Capability(matching, number) => matching.requirement(number).tools,
        }
    }

    /// Returns the tools that the requirement of a category locks alone, sorted; empty if it locks every
    /// tool, and for a capability.
    pub fn only(self) -> Vec<&'r str> {
        match self {
            Self::Category(resolution, number) => {
                let only = resolution.manifest().requirements[number].only.iter();
                only.map(|it| it.value.as_str()).collect()
            }
            Self::Capability(..) => Vec::new(),
        }
    }

    /// Returns what a gateway passes on of the server in addition to its tools, sorted; empty for a
    /// capability.
    pub fn serve(self) -> &'r [Serve] {
        match self {
            Self::Category(resolution, number) => &resolution.manifest().requirements[number].serve,
            Self::Capability(..) => &[],
        }
    }

    /// Returns the tool that it locks as a fallback. It is among the eligible ones.
    pub fn fallback(self) -> Option<Candidate<'r>> {
        match self {
            Self::Category(..) => None,
            Self::Capability(matching, number) => matching.fallback(number).map(Candidate::Tool),
        }
    }

    /// Returns the time at which the definitions of what it selects are shown.
    pub fn load(self) -> Load {
        match self {
            Self::Category(resolution, number) => resolution.manifest().requirements[number].load,
            Self::Capability(matching, number) => matching.requirement(number).load,
        }
    }

    /// Returns the other eligible candidates, in the order of preference.
    pub fn eligible(self) -> Box<dyn Iterator<Item = Candidate<'r>> + 'r> {
        match self {
            Self::Category(resolution, number) => {
                Box::new(resolution.eligible(number).skip(1).map(Candidate::Server))
            }
            Self::Capability(matching, number) => {
                Box::new(matching.others(number).map(Candidate::Tool))
            }
        }
    }

    /// Returns the rule that ranked an eligible candidate lower, unless it is selected.
    pub fn lost_on(self, other: Candidate<'_>) -> Option<LostOn> {
        let is_chosen = |tool: ToolView<'_>| {
            let mut chosen = self.chosen().into_iter().filter_map(Candidate::tool);
            chosen.any(|it| it.number() == tool.number())
        };
        match (self, self.selected()?, other) {
            (_, Candidate::Server(selected), Candidate::Server(other))
                if selected.rank() != other.rank() =>
            {
                Some(LostOn::Server(TieBreak::between(selected, other)))
            }
            (Self::Capability(matching, _), Candidate::Tool(selected), Candidate::Tool(other))
                if !is_chosen(other) =>
            {
                Some(LostOn::Tool(matching.preference(selected, other)))
            }
            _ => None,
        }
    }

    /// Returns the hash of the selection.
    pub fn hash(self) -> Option<String> {
        match self {
            Self::Category(resolution, number) => resolution.hash(number),
            Self::Capability(matching, number) => matching.selected(number).map(hash),
        }
    }

    /// Returns the rejected candidates that need the fewest changes, nearest first.
    pub fn nearest(self, limit: usize) -> Vec<RejectedCandidate<'r>> {
        let mut nearest: Vec<RejectedCandidate<'r>> = match self {
            Self::Category(resolution, number) => {
                let near = resolution.nearest(number, limit).into_iter();
                near.map(Into::into).collect()
            }
            Self::Capability(matching, number) => {
                let near = matching.nearest(number, limit).into_iter();
                near.map(Into::into).collect()
            }
        };
        if self.selected().is_none() && !self.did_you_mean().is_empty() {
            // No server should offer a name that is a slip, and no constraint be relaxed for it.
            for near in &mut nearest {
                near.suppositions.clear();
                near.fixes.clear();
            }
        }
        nearest
    }

    /// Returns the parts of the policy that decided against a candidate, with the values that they found.
    /// Requirements behind the first 64 have no facts, because a policy is read again for each.
    pub fn policy_facts(self, near: &RejectedCandidate<'_>) -> Vec<PolicyFact> {
        let denied = |reason: &Rejection<'_>| matches!(reason, Rejection::PolicyDenied { .. });
        match (self, near.candidate) {
            (Self::Capability(matching, number), Candidate::Tool(tool))
                if number < READ_AGAIN && near.reasons.as_slice().iter().any(denied) =>
            {
                matching.policy_facts(number, tool)
            }
            _ => Vec::new(),
        }
    }

    /// Returns a question for each name of the requirement that is a slip of names in the index.
    pub fn did_you_mean(self) -> Vec<String> {
        let slips = meant(self, &mut Likeness::within(SEARCHED));
        slips.iter().map(Meant::question).collect()
    }

    /// Returns the number of all candidates, and of those that each stage of checks left. A category has the
    /// stage of tools only if it names some, and a capability that of hidden text only if a tool has some.
    pub fn funnel(self) -> (u32, Vec<(&'static str, u32)>) {
        match self {
            Self::Category(resolution, number) => {
                let funnel = resolution.funnel(number);
                let mut stages = vec![
                    ("category", funnel.category),
                    ("scopes", funnel.scopes),
                    ("residency", funnel.residency),
                    ("sensitivity", funnel.sensitivity),
                    ("signature", funnel.signature),
                ];
                if !self.only().is_empty() {
                    stages.insert(1, ("tools", funnel.tools));
                }
                (funnel.all, stages)
            }
            Self::Capability(matching, number) => {
                let funnel = matching.funnel(number);
                let mut stages = vec![
                    ("capability", funnel.capability),
                    ("constraints", funnel.constraints),
                    ("residency", funnel.residency),
                    ("sensitivity", funnel.sensitivity),
                    ("signature", funnel.signature),
                    ("action", funnel.action),
                    ("policy", funnel.policy),
                    ("health", funnel.health),
                ];
                if matching.hides_text(number) {
                    stages.insert(6, ("text", funnel.text));
                }
                (funnel.tools, stages)
            }
        }
    }

    /// Returns the reason why the policy gave no answer, if it was asked and gave none.
    pub fn policy_error(self) -> Option<&'r PolicyError> {
        match self {
            Self::Category(..) => None,
            Self::Capability(matching, number) => {
                matching.policy_decision(number)?.answer.as_ref().err()
            }
        }
    }
}

impl<'r> Candidate<'r> {
    /// Returns the server, or that of the tool.
    pub fn server(self) -> ServerView<'r> {
        match self {
            Self::Server(server) => server,
            Self::Tool(tool) => tool.server(),
        }
    }

    /// Returns the tool, if the candidate is one.
    pub fn tool(self) -> Option<ToolView<'r>> {
        match self {
            Self::Server(_) => None,
            Self::Tool(tool) => Some(tool),
        }
    }

    /// Returns the place of its entry in the index.
    pub fn place(self) -> Place {
        match self {
            Self::Server(server) => server.place(),
            Self::Tool(tool) => tool.place(),
        }
    }
}

impl<'r> RejectedCandidate<'r> {
    fn new(
        candidate: Candidate<'r>,
        reasons: NonEmpty<Rejection<'r>>,
        changes: Vec<Counterfactual<'r>>,
    ) -> Self {
        let (fixes, suppositions) = changes.into_iter().partition(|it| it.widening);
        Self {
            candidate,
            reasons,
            fixes,
            suppositions,
        }
    }

    /// Returns the place in the health snapshot that vetoes it: its status, or the end of a snapshot that
    /// does not list its server.
    pub(super) fn health_label(&self, matching: &Matching) -> Option<Label> {
        let mut reasons = self.reasons.as_slice().iter();
        let vetoed = reasons.any(|reason| matches!(reason, Rejection::HealthVeto { .. }));
        let health = matching.evaluation_context().health.as_ref()?;
        let id = self.candidate.server().id();
        let (span, label) = match health.servers.get(id) {
            Some((_, span)) => (*span, format!("`{id}` is not healthy")),
            None => {
                let end = health.text.as_str().trim_end().len();
                (Span::new(end, end), format!("`{id}` is not listed"))
            }
        };
        vetoed.then(|| Label::new(health.text.place(span), label))
    }

    /// Returns the id and version of the server, and the tool.
    pub(super) fn name(&self) -> String {
        let server = self.candidate.server();
        let mut name = format!("`{} {}`", server.id(), server.version());
        if let Some(tool) = self.candidate.tool() {
            name.push_str(&format!(" `{}`", tool.name()));
        }
        name
    }
}

impl<'r> From<NearMiss<'r>> for RejectedCandidate<'r> {
    fn from(near: NearMiss<'r>) -> Self {
        Self::new(Candidate::Server(near.server), near.reasons, near.fixes)
    }
}

impl<'r> From<NearTool<'r>> for RejectedCandidate<'r> {
    fn from(near: NearTool<'r>) -> Self {
        Self::new(Candidate::Tool(near.tool), near.reasons, near.fixes)
    }
}

impl LostOn {
    /// Returns the word for it in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Server(rule) => rule.name(),
            Self::Tool(rule) => rule.name(),
        }
    }
}
