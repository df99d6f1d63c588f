//! What one policy decides otherwise than another, over every tool of an index \[4\].
//!
//! Both are asked what a resolution, an expansion and a call of a gateway would ask: at resolution about all tools that
//! meet a requirement, and later about each alone.

use super::policy::Policy;
use super::samples::Named;
use super::tenant_difference::history_differences;
use agent_decide::{Drift, PolicyDecision, PolicyEngine as _};
use agent_diagnostic::Code;
use agent_lower::{
    Candidate, PolicyHistory, PolicyOccasion, PolicyPhase, PolicyQuestion, PolicyRequirement,
    candidates, input,
};
use agent_model::{
    Capability, CapabilityVerb, Category, Context, Index, Keyword as _, Load, Name, Resource,
    Scope, Tag, Tenant, ToolView,
};
use agent_syntax::json::Writer;
use agent_text::sort::sort_by;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

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

/// Returns the place of a code among the differences.
fn rank(code: Code) -> u8 {
    match code {
        Code::PolicyWidened => 0,
        Code::PolicyNarrowed => 1,
        _ => 2,
    }
}

/// What a policy says of a tool.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Allowed,
    Denied(String),
}

/// A requirement that tools of an index can meet, without its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Required {
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
    history: Option<String>,
}

/// A history that a call follows.
struct History {
    of_policy: PolicyHistory,
    name: String,
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
    let reads_history = sides.iter().any(|it| it.policy.history_use().reads);
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
                    let histories = match phase {
                        PolicyPhase::Call if reads_history => histories(&sides, tools[0]),
                        _ => vec![None],
                    };
                    for history in &histories {
                        for arguments in &arguments {
                            let call = (&**arguments, history.as_ref());
                            comparison.ask((requirement, question), tools, call);
                        }
                    }
                }
            }
        }
    }
    let sampled = ["arguments", "context", "history", "subject", "task"].into_iter();
    let is_sampled = |member: &&'static str| match *member {
        "history" => reads_history,
        member => reads(member),
    };
    let (asked, left_out) = (comparison.asked, comparison.left_out);
    let mut drifts = history_differences(before.tenant, after.tenant, reads_history);
    drifts.extend(comparison.drifts());
    sort_by(&mut drifts, |a, b| rank(a.code).cmp(&rank(b.code)));
    PolicyDifference {
        asked,
        left_out,
        sampled: sampled.filter(is_sampled).collect(),
        drifts,
    }
}

impl<'c> Comparison<'c> {
    /// Asks both about tools, which are ordered by server, version and name. Only a call has arguments.
    fn ask(
        &mut self,
        (requirement, question): (&Required, PolicyQuestion<'_>),
        tools: &[ToolView<'_>],
        (arguments, history): (&str, Option<&History>),
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
                PolicyPhase::Call => PolicyOccasion {
                    history: history.map(|it| &it.of_policy),
                    ..PolicyOccasion::of_call(arguments)
                },
                PolicyPhase::Resolve | PolicyPhase::Expand | PolicyPhase::Result => {
                    PolicyOccasion::default()
                }
            }))
        });
        for id in all.iter().map(Candidate::id) {
            let (before, after) = (verdict(&before, &id), verdict(&after, &id));
            let code = match (&before, &after) {
                _ if before == after => continue,
                (_, Verdict::Allowed) => Code::PolicyWidened,
                (Verdict::Allowed, _) => Code::PolicyNarrowed,
                _ => Code::PolicyReasonChanged,
            };
            let found = self.found.entry((rank(code), id)).or_insert_with(|| Found {
                code,
                before,
                after,
                requirement: requirement.clone(),
                arguments: (arguments != "{}").then(|| arguments.to_owned()),
                history: history.map(|it| it.name.clone()),
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
                    .map(|it| format!("with these arguments of a sample: `{it}`")),
            );
            details.extend(found.history);
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

impl fmt::Display for Required {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Category(category, _) => write!(f, "{category}"),
            Self::Capability(capability) => write!(f, "{capability}"),
        }
    }
}

impl Required {
    pub(super) fn asked(&self) -> PolicyRequirement<'_> {
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
    match decision.denial(id) {
        None => Verdict::Allowed,
        Some(reason) => Verdict::Denied(reason),
    }
}

/// The labels that a history has in questions, beside those of tenants.
const LABELS: [&str; 3] = ["private", "unknown", "untrusted"];

/// Returns a history without calls and one for each label, for a tool that sends and writes and one that does not. Single
/// calls are in none.
fn histories(sides: &[PolicySide<'_>; 2], tool: ToolView<'_>) -> Vec<Option<History>> {
    let of_tenants = sides.iter().filter_map(|it| it.tenant?.history.as_ref());
    let of_tenants = of_tenants.flat_map(|it| &it.labels);
    let own = of_tenants.flat_map(|it| it.add.iter().map(String::as_str));
    let labels: BTreeSet<_> = LABELS.into_iter().chain(own).collect();
    let labels = labels.into_iter().map(Some).chain([None]);
    let both = labels.flat_map(|label| [true, false].map(|acts| (label, acts)));
    both.map(|(label, acts)| Some(History::of(tool, label, acts)))
        .collect()
}

impl History {
    fn of(tool: ToolView<'_>, label: Option<&str>, acts: bool) -> Self {
        let moment = |w: &mut Writer| {
            w.object(|w| {
                w.key("at_ms").number(0);
                w.key("record").number(1);
                w.key("server").string("server");
                w.key("time").string("1970-01-01T00:00:00.000Z");
                w.key("tool").string("tool");
            });
        };
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("call").object(|w| {
                w.key("annotations").object(|_| {});
                w.key("capabilities").strings([]);
                w.key("fields").object(|_| {});
                w.key("labels").strings([]);
                w.key("numbers").object(|_| {});
                w.key("sends").bool(acts);
                w.key("server").string(tool.server().id());
                w.key("tool").string(tool.name());
                w.key("writes").bool(acts);
            });
            w.key("calls").strings([]);
            w.key("folded").strings([]);
            w.key("labels").object(|w| {
                if let Some(label) = label {
                    w.key(label).object(|w| {
                        w.key("count").number(1);
                        moment(w.key("first"));
                        moment(w.key("last"));
                    });
                }
            });
            w.key("now_ms").number(1);
            w.key("session").null();
            w.key("window_ms").number(86_400_000);
        });
        let of_call = match acts {
            true => "if it sends and writes",
            false => "if it neither sends nor writes",
        };
        Self {
            of_policy: PolicyHistory {
                json: w.finish(),
                folded: 0,
            },
            name: match label {
                Some(label) => format!("after data that is `{label}`, {of_call}"),
                None => format!("without a call before, {of_call}"),
            },
        }
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
        for required in requirements_of(tool, is_read) {
            let tools = found.entry(required).or_default();
            if tools.last().is_none_or(|it| it.number() != tool.number()) {
                tools.push(tool);
            }
        }
    }
    found
}

/// Returns the requirements that a tool meets.
pub(super) fn requirements_of(tool: ToolView<'_>, is_read: bool) -> Vec<Required> {
    let mut found = Vec::new();
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
        found.extend(sets.into_iter().map(|constraints| {
            Required::Capability(Capability {
                verb,
                resource: resource.clone(),
                constraints,
            })
        }));
    }
    let server = tool.server();
    let scopes: Vec<_> = server
        .scopes()
        .filter_map(|it| Scope::new(it).ok())
        .collect();
    let is_asked = is_read || tool.advertised().next().is_none();
    let categories = server.categories().filter(|_| is_asked);
    let categories = categories.filter_map(|it| Category::new(it).ok());
    found.extend(categories.map(|category| Required::Category(category, scopes.clone())));
    found
}
