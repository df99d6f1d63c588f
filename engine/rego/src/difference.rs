//! What one policy decides otherwise than another, over every tool of an index \[4\].
//!
//! Both are asked what a resolution, an expansion and a call of a gateway would ask: at resolution about all tools that
//! meet a requirement, and later about each alone.

use super::policy::Policy;
use super::samples::Named;
use agent_decide::{Drift, PolicyDecision, PolicyEngine as _};
use agent_diagnostic::Code;
use agent_lower::{
    Candidate, PolicyOccasion, PolicyPhase, PolicyQuestion, PolicyRequirement, candidates, input,
};
use agent_model::{
    Capability, CapabilityVerb, Category, Context, Index, Keyword as _, Load, Name, Resource,
    Scope, Tag, Tenant, ToolView,
};
use std::collections::BTreeMap;

/// Maximum number of questions that both policies are asked.
pub const QUESTION_LIMIT: usize = 20_000;

/// A policy, and the tenant that it decides for.
#[derive(Debug, Clone, Copy)]
pub struct PolicySide<'p> {
    /// The policy.
    pub policy: &'p Policy,
    /// The tenant.
    pub tenant: Option<&'p Tenant>,
}

/// The differences of two policies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyDifference {
    /// One for each tool and code, with the first reasons found: newly allowed tools first, then newly denied ones, then those that are
    /// denied for another reason.
    pub drifts: Vec<Drift>,
    /// How many questions both were asked.
    pub asked: usize,
    /// How many were left out beyond [`QUESTION_LIMIT`].
    pub left_out: usize,
    /// The members of the input that a policy reads and that have more values than were asked about: sorted.
    pub sampled: Vec<&'static str>,
}

/// What a policy says of a tool.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Allowed,
    Denied(String),
}

/// A requirement that tools of an index can meet, without its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Required {
    Capability(Capability),
    Category(Category, Vec<Scope>),
}

/// A difference about a tool, and where it was found first.
#[derive(Debug)]
struct Found {
    code: Code,
    before: Verdict,
    after: Verdict,
    phases: Vec<PolicyPhase>,
    requirement: Required,
    arguments: Option<String>,
}

struct Comparison<'c> {
    sides: [PolicySide<'c>; 2],
    context: Option<&'c Context>,
    asked: usize,
    left_out: usize,
    /// By the rank of the code and the id of the tool.
    found: BTreeMap<(u8, String), Found>,
}

/// Compares two policies over an index. `context` is `input.context` of both.
pub fn policy_difference(
    before: PolicySide<'_>,
    after: PolicySide<'_>,
    index: &Index,
    context: Option<&Context>,
) -> PolicyDifference {
    let sides = [before, after];
    let reads = |member| sides.iter().any(|it| it.policy.may_read(member));
    let mut comparison = Comparison {
        sides,
        context,
        asked: 0,
        left_out: 0,
        found: BTreeMap::new(),
    };
    let named = reads("arguments").then(|| Named::of([before.policy, after.policy]));
    let loads = match reads("requirement") {
        true => &[Load::Essential, Load::OnDemand][..],
        false => &[Load::Essential],
    };
    let requirements = requirements(index, reads("requirement"));
    for phase in PolicyPhase::ALL {
        for (requirement, tools) in &requirements {
            let asked_together = match (phase, requirement) {
                // No policy is asked when a category is resolved.
                (PolicyPhase::Resolve, Required::Category(..)) => continue,
                (PolicyPhase::Resolve, Required::Capability(_)) => tools.len(),
                _ => 1,
            };
            for load in loads.iter().copied() {
                let question = PolicyQuestion {
                    phase,
                    requirement: requirement.asked(),
                    load,
                };
                for tools in tools.chunks(asked_together) {
                    let arguments = match (phase, &named) {
                        (PolicyPhase::Call, Some(named)) => named.arguments(tools[0]),
                        _ => vec!["{}".to_owned()],
                    };
                    for arguments in &arguments {
                        comparison.ask((requirement, question), tools, arguments);
                    }
                }
            }
        }
    }
    let sampled = ["arguments", "context", "subject", "task"].into_iter();
    PolicyDifference {
        asked: comparison.asked,
        left_out: comparison.left_out,
        sampled: sampled.filter(|member| reads(member)).collect(),
        drifts: comparison.drifts(),
    }
}

impl<'c> Comparison<'c> {
    /// Asks both about tools, which are ordered by server, version and name. Only a call has arguments.
    fn ask(
        &mut self,
        (requirement, question): (&Required, PolicyQuestion<'_>),
        tools: &[ToolView<'_>],
        arguments: &str,
    ) {
        if self.asked == QUESTION_LIMIT {
            self.left_out += 1;
            return;
        }
        self.asked += 1;
        let all: Vec<_> = tools.iter().copied().map(Candidate::of).collect();
        let listed = candidates(&all);
        let [before, after] = self.sides.map(|PolicySide { policy, tenant }| {
            let input = input(question, None, tenant, self.context, None, &listed);
            policy.ask(&input.text(match question.phase {
                PolicyPhase::Call => PolicyOccasion::of_call(arguments),
                PolicyPhase::Resolve | PolicyPhase::Expand | PolicyPhase::Result => {
                    PolicyOccasion::default()
                }
            }))
        });
        for id in all.iter().map(Candidate::id) {
            let (before, after) = (verdict(&before, &id), verdict(&after, &id));
            let (rank, code) = match (&before, &after) {
                _ if before == after => continue,
                (_, Verdict::Allowed) => (0, Code::PolicyWidened),
                (Verdict::Allowed, _) => (1, Code::PolicyNarrowed),
                _ => (2, Code::PolicyReasonChanged),
            };
            let found = self.found.entry((rank, id)).or_insert_with(|| Found {
                code,
                before,
                after,
                requirement: requirement.clone(),
                arguments: (arguments != "{}").then(|| arguments.to_owned()),
                phases: Vec::new(),
            });
            if !found.phases.contains(&question.phase) {
                found.phases.push(question.phase);
            }
        }
    }

    fn drifts(self) -> Vec<Drift> {
        let tenant = self.sides[1].tenant.map(|it| it.id.clone());
        let drifts = self.found.into_iter().map(|((_, id), found)| {
            let mut details = vec![format!("in {}", phases(&found.phases))];
            details.extend(tenant.as_ref().map(|it| format!("for the tenant `{it}`")));
            details.extend(
                found
                    .arguments
                    .map(|it| format!("with the arguments `{it}`")),
            );
            let (category, capability) = match found.requirement {
                Required::Category(category, _) => (Some(category.to_string()), None),
                Required::Capability(capability) => (None, Some(capability.to_string())),
            };
            Drift {
                code: found.code,
                category,
                capability,
                tool: Some(id),
                before: found.before.reason(),
                after: found.after.reason(),
                details,
                places: Vec::new(),
            }
        });
        drifts.collect()
    }
}

impl Required {
    fn asked(&self) -> PolicyRequirement<'_> {
        match self {
            Self::Capability(capability) => PolicyRequirement::Capability(capability),
            Self::Category(category, scopes) => PolicyRequirement::Category(category, scopes),
        }
    }
}

impl Verdict {
    /// Returns why a tool is denied.
    fn reason(self) -> Option<String> {
        match self {
            Self::Allowed => None,
            Self::Denied(reason) => Some(reason),
        }
    }
}

fn verdict(decision: &PolicyDecision, id: &str) -> Verdict {
    match &decision.answer {
        Ok(allowed) if allowed.tools.contains(id) => Verdict::Allowed,
        Ok(allowed) => {
            let reason = allowed.reasons.get(id).cloned();
            Verdict::Denied(reason.unwrap_or_else(|| "no rule allows it".to_owned()))
        }
        Err(error) => Verdict::Denied(format!("the policy fails: {}", error.detail)),
    }
}

/// Returns phases in words.
fn phases(phases: &[PolicyPhase]) -> String {
    if phases.len() == PolicyPhase::ALL.len() {
        return "every phase".to_owned();
    }
    let names: Vec<_> = phases
        .iter()
        .map(|it| format!("`{}`", it.as_str()))
        .collect();
    names.join(" and ")
}

/// Returns the requirements that tools of an index meet, each with these tools. If policies read requirements, these
/// are all sets of constraints that a tool promises, and categories; else one requirement is like another, and a category
/// stands for tools that advertise no capability.
fn requirements<'i>(index: &'i Index, is_read: bool) -> BTreeMap<Required, Vec<ToolView<'i>>> {
    let mut found: BTreeMap<Required, Vec<ToolView<'i>>> = BTreeMap::new();
    for tool in index.tools() {
        for block in tool.advertised() {
            let (verb, resource) = block.verb_and_resource();
            let (Some(verb), Ok(resource)) = (CapabilityVerb::parse(verb), Resource::new(resource))
            else {
                continue;
            };
            let tags: Vec<_> = block.tags().filter_map(|tag| Tag::new(tag).ok()).collect();
            let mut sets = vec![Vec::new()];
            if is_read && !tags.is_empty() {
                sets.push(tags);
            }
            for constraints in sets {
                let (verb, resource) = (verb, resource.clone());
                let capability = Capability {
                    verb,
                    resource,
                    constraints,
                };
                let tools = found.entry(Required::Capability(capability)).or_default();
                if tools.last().is_none_or(|it| it.number() != tool.number()) {
                    tools.push(tool);
                }
            }
        }
        let server = tool.server();
        let scopes: Vec<_> = server
            .scopes()
            .filter_map(|it| Scope::new(it).ok())
            .collect();
        let is_asked = is_read || tool.advertised().next().is_none();
        for category in server.categories().filter(|_| is_asked) {
            let Ok(category) = Category::new(category) else {
                continue;
            };
            let required = Required::Category(category, scopes.clone());
            found.entry(required).or_default().push(tool);
        }
    }
    found
}
