//! The input of a policy \[4\].

use agent_model::{
    Advertised, Capability, Category, ConstraintKey, Context, Load, Name, Residency, Scope,
    Subject, Task, Tenant, ToolView,
};
use agent_syntax::Value;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{items, member, number};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A tool that a policy decides about, real or supposed.
#[derive(Debug)]
pub struct Candidate<'i> {
    /// The tool.
    pub tool: ToolView<'i>,
    /// The properties that constraints compare.
    pub constraint_key: ConstraintKey,
    /// The advertised capabilities, if they are not those of the tool.
    supposed: Option<Vec<AdvertisedPair<'i>>>,
}

/// An advertised `verb:resource` with its tags.
type AdvertisedPair<'i> = (&'i str, Vec<&'i str>);

impl<'i> Candidate<'i> {
    /// Returns a tool of the index as a candidate.
    pub fn of(tool: ToolView<'i>) -> Self {
        Self {
            tool,
            constraint_key: tool.server().constraint_key(),
            supposed: None,
        }
    }

    /// Returns the advertised capabilities: `verb:resource` with its tags, all sorted.
    pub fn advertised(&self) -> Cow<'_, [AdvertisedPair<'i>]> {
        match &self.supposed {
            Some(supposed) => Cow::Borrowed(supposed),
            None => Cow::Owned(advertised(self.tool)),
        }
    }

    /// Returns the advertised capabilities to suppose others. They must stay sorted.
    pub fn supposed(&mut self) -> &mut Vec<AdvertisedPair<'i>> {
        self.supposed.get_or_insert_with(|| advertised(self.tool))
    }

    /// Returns the [`tool_id`] of the tool.
    pub fn id(&self) -> String {
        tool_id(self.tool)
    }
}

fn advertised<'i>(tool: ToolView<'i>) -> Vec<AdvertisedPair<'i>> {
    let pair = |block: Advertised<'i>| (block.pair(), block.tags().collect());
    tool.advertised().map(pair).collect()
}

/// Returns `server@version/tool`, the name of a tool in policies.
pub fn tool_id(tool: ToolView<'_>) -> String {
    let server = tool.server();
    format!("{}@{}/{}", server.id(), server.version(), tool.name())
}

/// Returns `candidate_tools` as JSON. The candidates must be ordered by server, version and tool.
pub fn candidates(candidates: &[Candidate<'_>]) -> String {
    let mut w = Writer::dense();
    w.array(|w| {
        for candidate in candidates {
            w.object(|w| write_candidate(w, candidate));
        }
    });
    w.finish()
}

/// Returns the members of a candidate that have these names, as JSON.
pub fn candidate_class(candidate: &Candidate<'_>, members: &BTreeSet<String>) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        for (name, write) in MEMBERS.iter().filter(|(name, _)| members.contains(*name)) {
            write(w.key(name), candidate);
        }
    });
    w.finish()
}

fn write_candidate(w: &mut Writer, candidate: &Candidate<'_>) {
    for (name, write) in MEMBERS {
        write(w.key(name), candidate);
    }
}

/// Writes a member of a candidate.
type WriteMember = fn(&mut Writer, &Candidate<'_>);

/// The members of a candidate, sorted.
const MEMBERS: [(&str, WriteMember); 11] = [
    ("capabilities", write_capabilities),
    ("class", |w, it| w.optional(it.tool.server().class())),
    ("description", |w, it| w.optional(it.tool.description())),
    ("id", |w, it| w.string(&it.id())),
    ("maxSensitivity", |w, it| {
        w.string(it.constraint_key.max_sensitivity().as_str());
    }),
    ("publisher", |w, it| w.string(it.tool.server().publisher())),
    ("residency", |w, it| {
        let residency = it.constraint_key.residency().iter();
        w.strings(residency.map(Residency::as_str));
    }),
    ("server", |w, it| w.string(it.tool.server().id())),
    ("signed", |w, it| w.bool(it.constraint_key.signed())),
    ("tool", |w, it| w.string(it.tool.name())),
    ("version", |w, it| w.string(it.tool.server().version())),
];

fn write_capabilities(w: &mut Writer, candidate: &Candidate<'_>) {
    w.array(|w| {
        for (pair, tags) in &*candidate.advertised() {
            // A verb contains no colon, so the first one ends it.
            let (verb, resource) = pair.split_once(':').unwrap_or((pair, ""));
            w.object(|w| {
                w.key("constraints").strings(tags.iter().copied());
                w.key("resource").string(resource);
                w.key("verb").string(verb);
            });
        }
    });
}

/// The occasion on which a policy is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyPhase {
    /// Requirements are matched with tools.
    Resolve,
    /// An agent requests definitions.
    Expand,
    /// An agent calls a tool.
    Call,
    /// A tool answered, and the agent has not got the result yet.
    Result,
}

impl PolicyPhase {
    /// Every phase in which tools are allowed or denied.
    pub const ALL: [Self; 3] = [Self::Resolve, Self::Expand, Self::Call];

    /// Returns the name in the input.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Expand => "expand",
            Self::Call => "call",
            Self::Result => "result",
        }
    }
}

/// The requirement that a policy is asked about; of a locked tool, the one that it was locked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyRequirement<'q> {
    /// A capability.
    Capability(&'q Capability),
    /// A category, with the permissions: sorted.
    Category(&'q Category, &'q [Scope]),
}

/// A question to a policy.
#[derive(Debug, Clone, Copy)]
pub struct PolicyQuestion<'q> {
    /// The occasion.
    pub phase: PolicyPhase,
    /// The requirement.
    pub requirement: PolicyRequirement<'q>,
    /// The time at which its definition is shown.
    pub load: Load,
}

/// What differs between two questions about the same tools.
#[derive(Debug, Clone, Copy, Default)]
pub struct PolicyOccasion<'o> {
    /// The arguments of a call, as JSON.
    pub arguments: Option<&'o str>,
    /// The context that replaces the one in the input.
    pub context: Option<&'o Context>,
    /// The subject that replaces the one in the input.
    pub subject: Option<&'o Subject>,
    /// The history that a call follows.
    pub history: Option<&'o PolicyHistory>,
    /// The result of a call, as JSON.
    pub result: Option<&'o str>,
}

/// The history of calls, as policies see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyHistory {
    /// `history`, as JSON.
    pub json: String,
    /// The number of calls of which only counts and times are left.
    pub folded: u64,
}

impl PolicyHistory {
    /// Returns a history that is given as JSON.
    pub fn of(json: String) -> Self {
        let root = parse_strict(&json);
        let groups = root.as_ref().and_then(|it| items(member(it, "folded")?));
        let groups = groups.unwrap_or_default().iter();
        let of_all =
            groups.filter(|it| member(it, "label").is_none_or(|it| it.value == Value::Null));
        let counts = of_all.filter_map(|it| member(it, "count").and_then(number));
        let folded = counts.fold(0, u64::saturating_add);
        Self { json, folded }
    }
}

impl<'o> PolicyOccasion<'o> {
    /// Returns the occasion of a call with these arguments.
    pub fn of_call(arguments: &'o str) -> Self {
        Self {
            arguments: Some(arguments),
            ..Self::default()
        }
    }
}

/// The input of a policy, but for the arguments of a call.
#[derive(Debug, Clone)]
pub struct PolicyInput {
    /// `candidate_tools`, as JSON.
    candidates: String,
    /// `context`, as JSON.
    context: String,
    /// `phase` and `requirement`, as members of an object.
    question: String,
    /// `subject`, as JSON.
    subject: String,
    /// The members behind those, with the end of the object.
    rest: String,
}

impl PolicyInput {
    /// Returns the input as JSON on an occasion. Only a call has arguments.
    pub fn text(&self, occasion: PolicyOccasion<'_>) -> String {
        let arguments = occasion.arguments.unwrap_or("null");
        let context = occasion.context.map_or(&self.context, |it| &it.json);
        let subject = occasion.subject.map_or(&self.subject, |it| &it.json);
        let history = match occasion.history {
            Some(history) => format!(",\"history\":{}", history.json),
            None => String::new(),
        };
        let result = match occasion.result {
            Some(result) => format!(",\"result\":{result}"),
            None => String::new(),
        };
        let Self {
            candidates,
            question,
            rest,
            ..
        } = self;
        format!(
            "{{\"arguments\":{arguments},\"candidate_tools\":{candidates},\"context\":{context}\
             {history},{question}{result},\"subject\":{subject},{rest}"
        )
    }
}

/// Returns the input of a policy. `candidates` is the result of [`candidates`].
pub fn input(
    question: PolicyQuestion<'_>,
    task: Option<&Task>,
    tenant: Option<&Tenant>,
    context: Option<&Context>,
    subject: Option<&Subject>,
    candidates: &str,
) -> PolicyInput {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("phase").string(question.phase.as_str());
        w.key("requirement").object(|w| {
            let load = question.load.as_str();
            match question.requirement {
                PolicyRequirement::Capability(capability) => {
                    w.key("constraints")
                        .strings(capability.constraints.iter().map(Name::as_str));
                    w.key("load").string(load);
                    w.key("resource").string(capability.resource.as_str());
                    w.key("verb").string(capability.verb.as_str());
                }
                PolicyRequirement::Category(category, permissions) => {
                    w.key("category").string(category.as_str());
                    w.key("load").string(load);
                    w.key("permissions")
                        .strings(permissions.iter().map(Name::as_str));
                }
            }
        });
    });
    let question = w.finish();
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("task");
        match task {
            None => w.null(),
            Some(task) => w.object(|w| w.key("id").string(task.id.as_str())),
        }
        w.key("tenant_policy")
            .json(tenant.map_or("null", |tenant| &tenant.json));
        w.key("user_tier")
            .optional(tenant.and_then(|tenant| tenant.tier.as_deref()));
    });
    PolicyInput {
        candidates: candidates.trim_end().to_owned(),
        context: context.map_or("null", |it| &it.json).to_owned(),
        question: members(&question).to_owned(),
        subject: subject.map_or("null", |it| &it.json).to_owned(),
        rest: w.finish().split_off(1),
    }
}

/// Returns the members of an object, without its brackets.
fn members(object: &str) -> &str {
    let object = object.trim_end();
    &object[1..object.len() - 1]
}
