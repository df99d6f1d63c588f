//! What a policy is asked \[4\].

use agent_model::{
    Advertised, CapabilityRequirement, Context, Gate, Name, Residency, Task, Tenant, ToolView,
};
use agent_syntax::json::Writer;

/// A tool that a policy is asked about, real or supposed.
#[derive(Debug, Clone)]
pub struct Candidate<'i> {
    /// The tool.
    pub tool: ToolView<'i>,
    /// What the constraints look at.
    pub gate: Gate,
    /// What it advertises: `verb:resource` and the tags, all sorted.
    pub advertised: Vec<(&'i str, Vec<&'i str>)>,
}

impl<'i> Candidate<'i> {
    /// A tool as it is.
    pub fn of(tool: ToolView<'i>) -> Self {
        Self {
            tool,
            gate: tool.server().gate(),
            advertised: tool
                .advertised()
                .map(|block: Advertised<'i>| (block.pair(), block.tags().collect()))
                .collect(),
        }
    }

    /// [`tool_id`] of the tool.
    pub fn id(&self) -> String {
        tool_id(self.tool)
    }
}

/// `server@version/tool`, by which a policy names a tool.
pub fn tool_id(tool: ToolView<'_>) -> String {
    let server = tool.server();
    format!("{}@{}/{}", server.id(), server.version(), tool.name())
}

/// `candidate_tools` as JSON; the candidates are ordered by server, version, tool.
pub fn candidates<'c, 'i: 'c>(candidates: impl IntoIterator<Item = &'c Candidate<'i>>) -> String {
    let mut w = Writer::dense();
    w.array(|w| {
        for candidate in candidates {
            w.object(|w| write_candidate(w, candidate));
        }
    });
    w.finish()
}

fn write_candidate(w: &mut Writer, candidate: &Candidate<'_>) {
    let tool = candidate.tool;
    let server = tool.server();
    w.key("capabilities").array(|w| {
        for (pair, tags) in &candidate.advertised {
            // A verb holds no colon, so that the first one ends it.
            let (verb, resource) = pair.split_once(':').unwrap_or((pair, ""));
            w.object(|w| {
                w.key("constraints").strings(tags.iter().copied());
                w.key("resource").string(resource);
                w.key("verb").string(verb);
            });
        }
    });
    w.key("class").optional(server.class());
    w.key("description").optional(tool.description());
    w.key("id").string(&candidate.id());
    w.key("maxSensitivity")
        .string(candidate.gate.max_sensitivity().as_str());
    w.key("publisher").string(server.publisher());
    w.key("residency")
        .strings(candidate.gate.residency().iter().map(Residency::as_str));
    w.key("server").string(server.id());
    w.key("signed").bool(candidate.gate.signed());
    w.key("tool").string(tool.name());
    w.key("version").string(server.version());
}

/// The input of a policy as JSON. `candidates` is what the function of that name has made.
pub fn input(
    requirement: Option<&CapabilityRequirement>,
    task: Option<&Task>,
    tenant: Option<&Tenant>,
    context: Option<&Context>,
    candidates: &str,
) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("candidate_tools").json(candidates.trim_end());
        w.key("context")
            .json(context.map_or("null", |context| &context.json));
        w.key("requirement");
        match requirement {
            None => w.null(),
            Some(requirement) => w.object(|w| {
                let capability = &requirement.capability;
                w.key("constraints")
                    .strings(capability.constraints.iter().map(Name::as_str));
                w.key("load").string(requirement.load.as_str());
                w.key("resource").string(capability.resource.as_str());
                w.key("verb").string(capability.verb.as_str());
            }),
        }
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
    w.finish()
}
