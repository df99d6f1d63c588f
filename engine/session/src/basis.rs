//! What is derived from the documents once: the lock's servers and tools, ready for decisions.

use super::client::{Generation, Key};
use super::documents::Documents;
use super::json::{member, number, string};
use super::limits::SERVERS_MAX;
use agent_api::LockText;
use agent_api::decide::{CallContext, EvaluationContext, Exposed, PolicyEngine};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::explain::{CallReason, drift_diagnostic, invisible};
use agent_api::lower::{
    self, Lowered, Notation, StoredDefinition, bytes_digest, definition_digest, stored_definitions,
};
use agent_api::model::{Grant, Health, Index, Load, Lock, Name, Serve, ServerView, ToolView};
use agent_api::policy;
use agent_api::served::{Integrities, ServedTool, stub_name};
use agent_api::text::visible;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::{Value, canonical};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The documents of a session, as they were read, and the tools of the lock.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) lock: Lock,
    pub(crate) index: Index,
    pub(crate) evaluation_context: EvaluationContext,
    /// The snapshot of health in place of the observed one.
    pub(crate) health: Option<Health>,
    pub(crate) digests: Digests,
    /// The locked servers, ordered by name.
    pub(crate) servers: Vec<Server>,
    /// The locked tools, ordered by name, which no two share.
    pub(crate) tools: Vec<Tool>,
}

/// The digests of the documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digests {
    pub(crate) lock: String,
    pub(crate) index: String,
    pub(crate) definitions: Option<String>,
    pub(crate) policy: Option<String>,
    pub(crate) policy_context: Option<String>,
    pub(crate) tenant: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) health: Option<String>,
}

/// A locked server.
#[derive(Debug)]
pub(crate) struct Server {
    /// Its name within the session: its id, or `id@version` if the lock has several of its versions.
    pub(crate) name: String,
    /// Names it in the state.
    pub(crate) key: Key,
    pub(crate) id: String,
    pub(crate) version: String,
    pub(crate) endpoint: String,
    /// `policy.rateLimitPerMin` of its entry, if it is a whole number.
    pub(crate) rate_limit: Option<u32>,
    /// The name of its stub.
    pub(crate) stub: String,
    /// The numbers of its locked tools, in the order of their names.
    pub(crate) tools: Vec<usize>,
    /// The names of tools in its entry that the lock does not have: sorted.
    pub(crate) unlocked: Vec<String>,
}

/// A locked tool.
#[derive(Debug)]
pub(crate) struct Tool {
    /// The number of its server.
    pub(crate) server: usize,
    pub(crate) served: ServedTool,
    pub(crate) load: Load,
    /// The definition in `agents.definitions.json`, in its RFC 8785 form.
    pub(crate) definition: String,
    /// The digest of the definition.
    pub(crate) digest: String,
    /// The entry of a list for the generation of sessions, if it is another one than `definition`.
    of_sessions: Option<String>,
    /// The same for the stateless generation.
    of_stateless: Option<String>,
}

impl Tool {
    pub(crate) fn name(&self) -> &str {
        &self.served.name
    }

    /// Returns the tool as a list has it: the locked definition.
    pub(crate) fn entry(&self, generation: Generation) -> &str {
        let other = match generation {
            Generation::Sessions => &self.of_sessions,
            Generation::Stateless => &self.of_stateless,
        };
        other.as_deref().unwrap_or(&self.definition)
    }
}

impl Basis {
    /// Reads the documents, and refuses those that a session can't obey.
    ///
    /// # Errors
    /// Every problem of a document; else every drift of the lock, a policy that is not the locked one, and
    /// names that several tools share; else the characters of definitions that can't be seen.
    pub(crate) fn read(documents: Documents) -> Result<Self, Vec<Diagnostic>> {
        let digests = Digests::of(&documents);
        let mut problems = Vec::new();
        let content = Notation::ByContent;
        let lock = value(LockText::read(documents.lock), &mut problems);
        let index = value(lower::index(documents.index), &mut problems);
        let policy = documents.policy.map(policy::read);
        let policy = policy.and_then(|it| value(it, &mut problems));
        let context = documents.policy_context;
        let context = context.and_then(|it| value(lower::context(it, content), &mut problems));
        let tenant_id = documents.tenant_id.as_deref();
        let tenant = documents.tenant;
        let tenant =
            tenant.and_then(|it| value(lower::tenant(it, content, tenant_id), &mut problems));
        let task = documents.task;
        let task = task.and_then(|it| value(lower::task(it, content), &mut problems));
        let health = documents.health;
        let health = health.and_then(|it| value(lower::health(it, content), &mut problems));
        let (Some(lock), Some(index)) = (lock, index) else {
            return Err(problems);
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        let evaluation_context = EvaluationContext {
            task: task.map(Arc::new),
            tenant: tenant.map(Arc::new),
            policy: policy.map(|it| Arc::new(it) as Arc<dyn PolicyEngine>),
            context: context.map(Arc::new),
            ..EvaluationContext::default()
        };
        let definitions = documents.definitions.as_deref();
        let problems = drifts(&lock, &index, definitions, &evaluation_context);
        if !problems.is_empty() {
            return Err(problems);
        }
        let stored = definitions.and_then(stored_definitions);
        let (servers, tools) = {
            let exposed = agent_api::expose(&lock.lock, &index)?;
            let context = context_of(&index, &lock.lock, &evaluation_context);
            let stored = stored.unwrap_or_default();
            content_of(&exposed, &stored, &lock.lock, context)?
        };
        Ok(Self {
            lock: lock.lock,
            index,
            evaluation_context,
            health,
            digests,
            servers,
            tools,
        })
    }

    /// Returns the number of a tool by its name.
    pub(crate) fn tool_number(&self, name: &str) -> Option<usize> {
        let tools = &self.tools;
        tools.binary_search_by(|tool| tool.name().cmp(name)).ok()
    }

    /// Returns the number of a server by its name within the session.
    pub(crate) fn server_number(&self, name: &str) -> Option<usize> {
        let servers = &self.servers;
        servers
            .binary_search_by(|it| it.name.as_str().cmp(name))
            .ok()
    }

    /// Returns the server of a tool.
    pub(crate) fn server_of(&self, tool: usize) -> &Server {
        &self.servers[self.tools[tool].server]
    }

    /// Returns the numbers of the tools of a server, in the order of their names.
    pub(crate) fn tools_of(&self, server: usize) -> impl Iterator<Item = usize> {
        self.servers[server].tools.iter().copied()
    }

    /// Returns whether something beside tools is passed on from a server.
    pub(crate) fn serves(&self, server: &Server, what: Serve) -> bool {
        self.lock.selections.iter().any(|it| {
            let is_it = it.id.as_str() == server.id && it.version.as_str() == server.version;
            is_it && matches!(&it.grant, Grant::Category { serve, .. } if serve.contains(&what))
        })
    }

    /// Returns the entry of a server in the index.
    pub(crate) fn entry(&self, server: usize) -> Option<ServerView<'_>> {
        let Server { id, version, .. } = &self.servers[server];
        self.index.find(id, version)
    }

    /// Returns why nobody may call a tool of a server that the lock does not have, or that it forbids.
    pub(crate) fn unlocked_reasons(&self, server: usize, name: &str) -> Vec<CallReason> {
        let own = &self.servers[server];
        let tool = self.entry(server).and_then(|entry| entry.tool(name));
        let mut reasons = match tool {
            Some(tool) => {
                let context = context_of(&self.index, &self.lock, &self.evaluation_context);
                let integrities = &mut Integrities::default();
                ServedTool::prepare(tool, context, integrities).refusals
            }
            None => Vec::new(),
        };
        let of_lock =
            |it: &CallReason| matches!(it.code, Code::ToolNotLocked | Code::ForbiddenAction);
        reasons.retain(of_lock);
        if reasons.is_empty() {
            let name = visible(name);
            let text = format!("the lock does not have `{name}` of `{}`", own.name);
            reasons.push(CallReason::new(Code::ToolNotLocked, text));
        }
        let help = "Call a tool of the list; a human must change the lock for this one.";
        reasons.into_iter().map(|it| it.help(help)).collect()
    }

    /// Returns the tool that is called while another one is vetoed by health. Fallbacks of a lock are not served
    /// yet: this is where they come in.
    pub(crate) fn fallback(&self, _tool: usize) -> Option<usize> {
        None
    }
}

impl Digests {
    fn of(documents: &Documents) -> Self {
        let given = |it: &Option<Vec<u8>>| it.as_deref().map(bytes_digest);
        Self {
            lock: bytes_digest(&documents.lock),
            index: bytes_digest(&documents.index),
            definitions: given(&documents.definitions),
            policy: given(&documents.policy),
            policy_context: given(&documents.policy_context),
            tenant: given(&documents.tenant),
            task: given(&documents.task),
            health: given(&documents.health),
        }
    }
}

fn context_of<'a>(
    index: &'a Index,
    lock: &'a Lock,
    evaluation_context: &'a EvaluationContext,
) -> CallContext<'a> {
    CallContext {
        index,
        lock: Some(lock),
        catalogue: None,
        evaluation_context: Some(evaluation_context),
    }
}

fn value<T>(read: Lowered<T>, problems: &mut Vec<Diagnostic>) -> Option<T> {
    match read {
        Ok(checked) => Some(checked.value),
        Err(found) => {
            problems.extend(found);
            None
        }
    }
}

/// Returns the differences between the lock and the documents beside it.
fn drifts(
    lock: &LockText,
    index: &Index,
    definitions: Option<&[u8]>,
    evaluation_context: &EvaluationContext,
) -> Vec<Diagnostic> {
    let policy = evaluation_context.policy.as_ref();
    let policy = policy.map(|policy| policy.digest());
    let mut drifts = agent_api::verify(lock, index, policy.as_deref());
    drifts.extend(agent_api::verify_definitions(
        &lock.lock,
        index,
        definitions,
    ));
    let mut problems: Vec<_> = drifts.iter().map(drift_diagnostic).collect();
    if lock.lock.policy.is_some() && policy.is_none() {
        let text = Code::PolicyMissing.title();
        let problem = Diagnostic::new(Code::PolicyMissing, text);
        problems.push(problem.help(Code::PolicyMissing.help()));
    }
    problems
}

/// Returns the servers and the tools of a lock.
fn content_of(
    exposed: &Exposed<'_>,
    stored: &[StoredDefinition],
    lock: &Lock,
    context: CallContext<'_>,
) -> Result<(Vec<Server>, Vec<Tool>), Vec<Diagnostic>> {
    let mut locked: Vec<(ToolView<'_>, Load)> = Vec::new();
    for entry in &exposed.entries {
        match &entry.stub_of {
            Some(tools) => locked.extend(tools.iter().map(|tool| (*tool, Load::OnDemand))),
            None => {
                let tool = entry.server.tool(&entry.name);
                locked.extend(tool.map(|tool| (tool, Load::Essential)));
            }
        }
    }
    locked.sort_by(|a, b| a.0.name().cmp(b.0.name()));
    let mut servers = servers_of(lock, context.index, &locked);
    if servers.len() > SERVERS_MAX {
        let text = format!(
            "the lock has {} servers; a session serves at most {SERVERS_MAX}",
            servers.len()
        );
        return Err(vec![Diagnostic::new(Code::SessionLimit, text)]);
    }
    let texts: BTreeMap<&str, &str> = stored.iter().map(|it| (&*it.digest, &*it.json)).collect();
    let (mut tools, mut problems) = (Vec::new(), Vec::new());
    let mut integrities = Integrities::default();
    for (tool, load) in locked {
        let digest = definition_digest(tool);
        // The file was compared with the lock, so it has every definition.
        let definition = texts.get(&*digest).copied().unwrap_or_default();
        problems.extend(invisible(tool, definition));
        let view = tool.server();
        let mut known = servers.iter();
        let server = known.position(|it| it.id == view.id() && it.version == view.version());
        // Every locked tool is one of a selection's server.
        let server = server.unwrap_or_default();
        servers[server].tools.push(tools.len());
        let mut served = ServedTool::prepare(tool, context, &mut integrities);
        served.refusals.extend(unlistable(tool, definition));
        tools.push(Tool {
            server,
            served,
            load,
            of_sessions: entry_of(definition, Generation::Sessions),
            of_stateless: entry_of(definition, Generation::Stateless),
            definition: definition.to_owned(),
            digest,
        });
    }
    match problems.is_empty() {
        true => Ok((servers, tools)),
        false => Err(problems),
    }
}

/// Returns the locked servers, ordered by name. A server whose tools are all forbidden is one too: its
/// tools are not locked.
fn servers_of(lock: &Lock, index: &Index, locked: &[(ToolView<'_>, Load)]) -> Vec<Server> {
    let mut views: BTreeMap<(&str, &str), ServerView<'_>> = BTreeMap::new();
    for selection in &lock.selections {
        let view = index.find(selection.id.as_str(), selection.version.as_str());
        views.extend(view.map(|view| ((view.id(), view.version()), view)));
    }
    let is_locked = |tool: &ToolView<'_>| {
        let known = locked.binary_search_by(|(it, _)| it.name().cmp(tool.name()));
        known.is_ok_and(|number| locked[number].0.number() == tool.number())
    };
    let servers = views.values().map(|view| {
        let versions = views.keys().filter(|(id, _)| *id == view.id());
        let name = match versions.count() {
            1 => view.id().to_owned(),
            _ => format!("{}@{}", view.id(), view.version()),
        };
        let unlocked = view.tools().filter(|tool| !is_locked(tool));
        let mut unlocked: Vec<_> = unlocked.map(|tool| tool.name().to_owned()).collect();
        unlocked.sort();
        Server {
            key: Key::of(&["server", &name]),
            name,
            id: view.id().to_owned(),
            version: view.version().to_owned(),
            endpoint: view.endpoint().to_owned(),
            rate_limit: rate_limit(*view),
            stub: stub_name(view.id()),
            tools: Vec::new(),
            unlocked,
        }
    });
    let mut servers: Vec<_> = servers.collect();
    servers.sort_by(|a, b| a.name.cmp(&b.name));
    servers
}

fn rate_limit(server: ServerView<'_>) -> Option<u32> {
    let entry = parse_strict(server.entry())?;
    let limit = number(member(member(&entry, "policy")?, "rateLimitPerMin")?)?;
    u32::try_from(limit).ok()
}

/// Returns the entry of a list for a definition, if it is not the definition itself. MCP requires a `type`
/// of an input schema, and up to 2025-11-25 one of objects of an output schema.
fn entry_of(definition: &str, generation: Generation) -> Option<String> {
    let root = parse_strict(definition)?;
    let Value::Mapping(members) = &root.value else {
        return None;
    };
    let kind = |schema| member(schema, "type").and_then(string);
    let is_untyped = member(&root, "inputSchema").is_some_and(|it| member(it, "type").is_none());
    let has_other = generation == Generation::Sessions
        && member(&root, "outputSchema").is_some_and(|it| kind(it) != Some("object"));
    if !is_untyped && !has_other {
        return None;
    }
    let mut w = Writer::dense();
    w.object(|w| {
        for entry in members {
            let text = entry.value.span.of(definition);
            match &*entry.key {
                "inputSchema" if is_untyped => w.key("inputSchema").json(&typed(text)),
                "outputSchema" if has_other => {}
                key => w.key(key).json(text),
            }
        }
    });
    let mut text = w.finish();
    text.pop();
    Some(text)
}

/// Returns a schema of objects with its type, in its RFC 8785 form.
fn typed(schema: &str) -> String {
    let rest = schema.trim_start_matches('{');
    let comma = if rest.starts_with('}') { "" } else { "," };
    canonical(&format!("{{\"type\":\"object\"{comma}{rest}")).unwrap_or_default()
}

/// Returns why a tool can't be listed: MCP requires an input schema of objects.
fn unlistable(tool: ToolView<'_>, definition: &str) -> Option<CallReason> {
    let root = parse_strict(definition);
    let schema = root.as_ref().and_then(|root| member(root, "inputSchema"));
    let is_listable = match schema.map(|schema| (&schema.value, member(schema, "type"))) {
        Some((Value::Mapping(_), None)) => true,
        Some((Value::Mapping(_), Some(kind))) => string(kind) == Some("object"),
        // A missing schema is refused as one that can't be used.
        None => true,
        _ => false,
    };
    (!is_listable).then(|| {
        let text = format!(
            "the input schema of `{}` of `{}` is not one of objects",
            tool.name(),
            tool.server().id()
        );
        CallReason::new(Code::SchemaInvalid, text)
    })
}
