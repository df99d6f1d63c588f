//! What is derived from the documents once: the lock's servers and tools, ready for decisions.

use super::client::{Generation, Key};
use super::documents::Documents;
use super::fallback::{Terms, terms};
use super::history::Remembered;
use super::limits::SERVERS_MAX;
use super::names::{Named, served_names};
use super::options::{Ignoring, ObservedServer};
use agent_api::LockText;
use agent_api::decide::{CallContext, EvaluationContext, PolicyEngine};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::explain::{CallReason, concealed_definition, drift_diagnostic};
use agent_api::lower::{
    self, Lowered, Notation, StoredDefinition, ToolEntry, bytes_digest, concealed, locked_digest,
    stored_definitions,
};
use agent_api::model::{Grant, Health, Index, Load, Lock, Name, Serve, ServerView, ToolView};
use agent_api::policy;
use agent_api::served::{
    Holder, Lookups, NameCollision, ServedTool, locked_loads, name_collisions, stub_name,
};
use agent_api::text::sort::{map_of, set_of, sort_by};
use agent_api::text::visible;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{member, number, string};
use agent_syntax::{Node, Value, canonical};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The documents of a session, as they were read, and the tools of the lock.
#[derive(Debug)]
pub(crate) struct Basis {
    /// Without one the session only observes.
    pub(crate) lock: Option<Lock>,
    pub(crate) index: Index,
    pub(crate) evaluation_context: EvaluationContext,
    /// What a history needs to know, if the tenant or the policy asks for one.
    pub(crate) remembered: Option<Remembered>,
    /// The snapshot of health instead of the observed one.
    pub(crate) health: Option<Health>,
    pub(crate) digests: Digests,
    /// The locked servers, ordered by name.
    pub(crate) servers: Vec<Server>,
    /// The locked tools, ordered by the names that clients call, which no two share.
    pub(crate) tools: Vec<Tool>,
}

/// The digests of the documents, of each that was given: `sha256-` and base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digests {
    /// That of `agents.lock`.
    pub lock: Option<String>,
    /// That of `mcp.index.json`.
    pub index: Option<String>,
    /// That of `agents.definitions.json`.
    pub definitions: Option<String>,
    /// That of the policy.
    pub policy: Option<String>,
    /// That of the policy's context.
    pub policy_context: Option<String>,
    /// That of the configuration of tenants.
    pub tenant: Option<String>,
    /// The id of the tenant, if one was named.
    pub tenant_id: Option<String>,
    /// That of the task.
    pub task: Option<String>,
    /// That of the snapshot of health.
    pub health: Option<String>,
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
    /// The name that clients call.
    pub(crate) name: String,
    pub(crate) served: ServedTool,
    pub(crate) load: Load,
    /// When it is served.
    pub(crate) terms: Terms,
    /// The definition in `agents.definitions.json`, in its RFC 8785 form.
    pub(crate) definition: String,
    /// The digest of the definition.
    pub(crate) digest: String,
    /// The definition with the name that clients call, if its server has another.
    renamed: Option<String>,
    /// The entry of a list for the generation of sessions, if it is another one than that.
    of_sessions: Option<String>,
    /// The same for the stateless generation.
    of_stateless: Option<String>,
}

impl Tool {
    /// Returns the name that clients call.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name that its server has.
    pub(crate) fn own_name(&self) -> &str {
        &self.served.name
    }

    /// Returns the definition with the name that clients call.
    pub(crate) fn shown(&self) -> &str {
        self.renamed.as_deref().unwrap_or(&self.definition)
    }

    /// Returns the tool as a list has it: the locked definition.
    pub(crate) fn entry(&self, generation: Generation) -> &str {
        let other = match generation {
            Generation::Sessions => &self.of_sessions,
            Generation::Stateless => &self.of_stateless,
        };
        other.as_deref().unwrap_or(self.shown())
    }

    /// Returns the same under the name that its server has for it.
    pub(crate) fn own_entry(&self, generation: Generation) -> Cow<'_, str> {
        match entry_of(&self.definition, generation) {
            Some(other) => Cow::Owned(other),
            None => Cow::Borrowed(&self.definition),
        }
    }
}

impl Basis {
    /// Reads the documents, and refuses those that a session can't obey.
    ///
    /// # Errors
    /// Every problem of a document; else every drift of the lock and a policy that is not the locked one;
    /// else every name that several tools or stubs would have; else the characters of definitions that
    /// can't be seen.
    pub(crate) fn read(
        documents: Documents,
        servers: &[ObservedServer],
        (observe, any_policy): (bool, bool),
        ignoring: &Ignoring,
    ) -> Result<Self, Vec<Diagnostic>> {
        let digests = Digests::of(&documents);
        let (lock, index) = match (documents.lock, documents.index) {
            (Some(lock), Some(index)) => (lock, index),
            (None, None) if observe => {
                return Self::without_lock(digests, documents.health, servers);
            }
            (lock, _) => {
                let text = match lock {
                    None => "a session that does not only observe needs a lock",
                    Some(_) => "a lock was given without the index that it belongs to",
                };
                let problem = Diagnostic::new(Code::LockMissing, text);
                return Err(vec![problem.help(Code::LockMissing.help())]);
            }
        };
        let mut problems = Vec::new();
        let content = Notation::ByContent;
        let lock = value(LockText::read(lock), &mut problems);
        let index = value(lower::index(index), &mut problems);
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
        let problems = drifts(
            &lock,
            &index,
            definitions,
            (&evaluation_context, any_policy),
        );
        if !problems.is_empty() {
            return Err(problems);
        }
        let stored = definitions.and_then(stored_definitions);
        let (servers, tools) = {
            let context = context_of(&index, Some(&lock.lock), &evaluation_context);
            let stored = stored.unwrap_or_default();
            content_of(&stored, &lock.lock, context, ignoring)?
        };
        let remembered = Remembered::of(&evaluation_context, &index, &servers, &tools)?;
        Ok(Self {
            lock: Some(lock.lock),
            index,
            remembered,
            evaluation_context,
            health,
            digests,
            servers,
            tools,
        })
    }

    /// Returns the basis of an observing session without a lock.
    fn without_lock(
        digests: Digests,
        health: Option<Vec<u8>>,
        servers: &[ObservedServer],
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let index = value(lower::index(b"[]".to_vec()), &mut problems);
        let health =
            health.and_then(|it| value(lower::health(it, Notation::ByContent), &mut problems));
        let mut names: Vec<_> = servers.iter().map(|it| &it.name).collect();
        sort_by(&mut names, Ord::cmp);
        if let Some(two) = names.windows(2).find(|two| two[0] == two[1]) {
            let text = format!("two servers have the name `{}`", visible(two[0]));
            problems.push(Diagnostic::new(Code::DuplicateServer, text));
        }
        if servers.len() > SERVERS_MAX {
            problems.push(too_many_servers(servers.len()));
        }
        let (Some(index), true) = (index, problems.is_empty()) else {
            return Err(problems);
        };
        let servers = servers.iter().map(|it| Server {
            key: Key::of(&["server", &it.name]),
            name: it.name.clone(),
            id: it.name.clone(),
            version: String::new(),
            endpoint: it.endpoint.clone(),
            rate_limit: None,
            stub: stub_name(&it.name),
            tools: Vec::new(),
            unlocked: Vec::new(),
        });
        let mut servers: Vec<_> = servers.collect();
        sort_by(&mut servers, |a, b| a.name.cmp(&b.name));
        Ok(Self {
            lock: None,
            index,
            evaluation_context: EvaluationContext::default(),
            remembered: None,
            health,
            digests,
            servers,
            tools: Vec::new(),
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
        let selections = self.lock.iter().flat_map(|lock| &lock.selections);
        selections.into_iter().any(|it| {
            let is_it = it.id.as_str() == server.id && it.version.as_str() == server.version;
            is_it && matches!(&it.grant, Grant::Category { serve, .. } if serve.contains(&what))
        })
    }

    /// Returns the entry of a server in the index.
    pub(crate) fn entry(&self, server: usize) -> Option<ServerView<'_>> {
        let Server { id, version, .. } = &self.servers[server];
        self.index.find(id, version)
    }

    /// Returns why no client may call a tool of a server that the lock lacks or forbids.
    pub(crate) fn unlocked_reasons(&self, server: usize, name: &str) -> Vec<CallReason> {
        let own = &self.servers[server];
        let tool = self.entry(server).and_then(|entry| entry.tool(name));
        let mut reasons = match tool {
            Some(tool) => {
                let lock = self.lock.as_ref();
                let context = context_of(&self.index, lock, &self.evaluation_context);
                let lookups = &mut Lookups::default();
                ServedTool::prepare(tool, context, lookups).refusals
            }
            None => Vec::new(),
        };
        let of_lock =
            |it: &CallReason| matches!(it.code, Code::ToolNotLocked | Code::ForbiddenAction);
        reasons.retain(of_lock);
        if reasons.is_empty() {
            let name = visible(name);
            let text = match &self.lock {
                Some(_) => format!("the lock does not have `{name}` of `{}`", own.name),
                None => format!("there is no lock that has `{name}` of `{}`", own.name),
            };
            reasons.push(CallReason::new(Code::ToolNotLocked, text));
        }
        let help = "Call a tool of the list; a human must change the lock for this one.";
        reasons.into_iter().map(|it| it.help(help)).collect()
    }

    /// Returns the tools that servers have under a name, in the order of the names that clients call.
    pub(crate) fn tools_named(&self, own: &str) -> impl Iterator<Item = &Tool> {
        self.tools.iter().filter(move |tool| tool.own_name() == own)
    }
}

impl Digests {
    fn of(documents: &Documents) -> Self {
        let given = |it: &Option<Vec<u8>>| it.as_deref().map(bytes_digest);
        Self {
            lock: given(&documents.lock),
            index: given(&documents.index),
            definitions: given(&documents.definitions),
            policy: given(&documents.policy),
            policy_context: given(&documents.policy_context),
            tenant: given(&documents.tenant),
            tenant_id: documents.tenant_id.clone(),
            task: given(&documents.task),
            health: given(&documents.health),
        }
    }
}

fn context_of<'a>(
    index: &'a Index,
    lock: Option<&'a Lock>,
    evaluation_context: &'a EvaluationContext,
) -> CallContext<'a> {
    CallContext {
        index,
        lock,
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
    (evaluation_context, any_policy): (&EvaluationContext, bool),
) -> Vec<Diagnostic> {
    let policy = evaluation_context.policy.as_ref();
    let policy = policy.map(|policy| policy.digest_for(lock.lock.policy.as_deref()));
    let held = policy.as_deref().filter(|_| !any_policy);
    let mut drifts = agent_api::verify(lock, index, held);
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
    stored: &[StoredDefinition],
    lock: &Lock,
    context: CallContext<'_>,
    ignoring: &Ignoring,
) -> Result<(Vec<Server>, Vec<Tool>), Vec<Diagnostic>> {
    let locked = locked_loads(lock, context.index);
    let mut servers = servers_of(lock, context.index, &locked);
    if servers.len() > SERVERS_MAX {
        return Err(vec![too_many_servers(servers.len())]);
    }
    let locked = named(locked, &servers, lock);
    let collisions = collisions(&locked, context.index, &servers);
    if !collisions.is_empty() {
        return Err(name_collisions(collisions));
    }
    let texts = map_of(stored.iter().map(|it| (&*it.digest, &*it.json)));
    let (mut tools, mut problems) = (Vec::new(), Vec::new());
    let mut lookups = Lookups::default();
    for NamedTool {
        name,
        server,
        tool,
        load,
        terms,
    } in locked
    {
        let digest = locked_digest(tool, |digest| texts.contains_key(digest));
        // The file was compared with the lock, so it has every definition.
        let definition = texts.get(&*digest).copied().unwrap_or_default();
        problems.extend(concealed(tool).as_ref().map(concealed_definition));
        servers[server].tools.push(tools.len());
        let mut served = ServedTool::prepare(tool, context, &mut lookups);
        served.refusals.extend(unlistable(tool, definition));
        served.refusals.extend(unagreed(tool, ignoring));
        let renamed = (name != tool.name()).then(|| renamed(definition, &name));
        let shown = renamed.as_deref().unwrap_or(definition);
        tools.push(Tool {
            server,
            served,
            load,
            terms,
            of_sessions: entry_of(shown, Generation::Sessions),
            of_stateless: entry_of(shown, Generation::Stateless),
            definition: definition.to_owned(),
            name,
            renamed,
            digest,
        });
    }
    match problems.is_empty() {
        true => Ok((servers, tools)),
        false => Err(problems),
    }
}

/// Returns why no client gets a tool with ignored patterns to which the operator did not agree.
fn unagreed(tool: ToolView<'_>, ignoring: &Ignoring) -> Option<CallReason> {
    let (id, name) = (tool.server().id(), tool.name());
    let agreed = ignoring.as_ref()?;
    if agreed.contains(&(id.to_owned(), name.to_owned()))
        || !ToolEntry::read(tool.entry()).ignores_patterns()
    {
        return None;
    }
    let name = visible(name);
    let text = format!(
        "the index ignores patterns of `{name}` that can't be used, and the operator has not agreed"
    );
    let help = format!(
        "if its values need no check, write `tools: {{ {name}: {{ patterns: ignore }} }}` for `{id}` in \
         `servers.local.yaml`"
    );
    Some(CallReason::new(Code::SchemaInvalid, text).help(help))
}

fn too_many_servers(count: usize) -> Diagnostic {
    let text = format!("there are {count} servers; a session serves at most {SERVERS_MAX}");
    Diagnostic::new(Code::SessionLimit, text)
}

/// A locked tool with the name that clients call.
struct NamedTool<'i> {
    name: String,
    /// The number of its server.
    server: usize,
    tool: ToolView<'i>,
    load: Load,
    terms: Terms,
}

/// Returns the locked tools, ordered by the names that clients call.
fn named<'i>(
    locked: Vec<(ToolView<'i>, Load)>,
    servers: &[Server],
    lock: &Lock,
) -> Vec<NamedTool<'i>> {
    let servers_by_id = servers.iter().map(|it| (&*it.id, &*it.version));
    let numbers = map_of(servers_by_id.zip(0..));
    let server = |tool: &ToolView<'_>| {
        let view = tool.server();
        // Every locked tool is one of a selection's server.
        let number = numbers.get(&(view.id(), view.version()));
        number.copied().unwrap_or_default()
    };
    let bare: Vec<_> = locked
        .iter()
        .map(|(tool, _)| Named {
            server: &servers[server(tool)].name,
            tool: tool.name(),
        })
        .collect();
    let names = served_names(&bare).into_iter();
    let named = names.zip(locked).map(|(name, (tool, load))| NamedTool {
        name,
        server: server(&tool),
        tool,
        load,
        terms: Terms::default(),
    });
    let mut named: Vec<_> = named.collect();
    sort_by(&mut named, |a, b| a.name.cmp(&b.name));
    // Terms name tools by their numbers.
    let tools: Vec<_> = named
        .iter()
        .map(|it| {
            (
                it.tool.server().id(),
                it.tool.server().version(),
                it.tool.name(),
            )
        })
        .collect();
    let terms = terms(&lock.selections, &tools);
    for (tool, terms) in named.iter_mut().zip(terms) {
        tool.terms = terms;
    }
    named
}

/// Returns the names that would still have several holders: stubs first, then tools.
fn collisions<'i>(
    named: &[NamedTool<'i>],
    index: &'i Index,
    servers: &[Server],
) -> Vec<NameCollision<'i>> {
    let mut holders: BTreeMap<&str, Vec<Holder<'i>>> = BTreeMap::new();
    for (number, server) in servers.iter().enumerate() {
        let mut own = named.iter().filter(|it| it.server == number);
        let view = index.find(&server.id, &server.version);
        if let (true, Some(view)) = (own.any(|it| it.load == Load::OnDemand), view) {
            let own = holders.entry(&server.stub).or_default();
            own.push(Holder::Stub(view));
        }
    }
    for it in named {
        let own = holders.entry(&it.name).or_default();
        own.push(Holder::Tool(it.tool, it.load));
    }
    let shared = holders.into_iter().filter(|(_, it)| it.len() > 1);
    shared
        .map(|(name, holders)| NameCollision {
            name: name.to_owned(),
            holders,
        })
        .collect()
}

/// Returns a definition with another name, in its RFC 8785 form as before.
pub(crate) fn renamed(definition: &str, name: &str) -> String {
    let Some(Node {
        value: Value::Mapping(members),
        ..
    }) = parse_strict(definition)
    else {
        return definition.to_owned();
    };
    let mut w = Writer::dense();
    w.object(|w| {
        for entry in &members {
            match &*entry.key {
                "name" => w.key("name").string(name),
                key => w.key(key).json(entry.value.span.of(definition)),
            }
        }
    });
    let mut text = w.finish();
    text.pop();
    text
}

/// Returns the locked servers, ordered by name. A server whose tools are all forbidden is one too: its
/// tools are not locked.
fn servers_of(lock: &Lock, index: &Index, locked: &[(ToolView<'_>, Load)]) -> Vec<Server> {
    let mut views: BTreeMap<(&str, &str), ServerView<'_>> = BTreeMap::new();
    for selection in &lock.selections {
        let view = index.find(selection.id.as_str(), selection.version.as_str());
        views.extend(view.map(|view| ((view.id(), view.version()), view)));
    }
    let numbers = set_of(locked.iter().map(|(tool, _)| tool.number()));
    let servers = views.values().map(|view| {
        let versions = views.keys().filter(|(id, _)| *id == view.id());
        let name = match versions.count() {
            1 => view.id().to_owned(),
            _ => format!("{}@{}", view.id(), view.version()),
        };
        let unlocked = view
            .tools()
            .filter(|tool| !numbers.contains(&tool.number()));
        let mut unlocked: Vec<_> = unlocked.map(|tool| tool.name().to_owned()).collect();
        sort_by(&mut unlocked, Ord::cmp);
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
    sort_by(&mut servers, |a, b| a.name.cmp(&b.name));
    servers
}

fn rate_limit(server: ServerView<'_>) -> Option<u32> {
    let entry = parse_strict(server.entry())?;
    let limit = number(member(member(&entry, "policy")?, "rateLimitPerMin")?)?;
    u32::try_from(limit).ok()
}

/// Returns the entry of a list for a definition, if it is not the definition itself. MCP requires a `type`
/// of an input schema, and up to 2025-11-25 one of objects of an output schema.
pub(crate) fn entry_of(definition: &str, generation: Generation) -> Option<String> {
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
