//! Sessions of agents with their servers, a test for each rule.

mod approval;
mod attacks;
mod audit;
mod audit_log;
mod bundles;
mod call;
mod continuation;
mod decision_point;
mod elicitation;
mod enforcing;
mod fallback;
mod health;
mod history;
mod kept;
mod limits;
mod list;
mod live;
mod names;
mod observe;
mod open;
#[cfg(debug_assertions)]
mod passes;
mod properties;
mod quota;
mod results;
mod ruling;
mod served;
mod state;
mod stub;

use agent_decide::hash;
use agent_lower as lower;
use agent_lower::{definition_digest, integrity};
use agent_model::{
    Agent, AgentName, AgentVersion, Capability, CapabilityVerb, Category, Endpoint, ForbidLabel,
    Grant, Keyword, Load, Lock, Name, Resource, Selection, Serve, ServerId, ServerVersion,
    ServerView, Tag, ToolName, lock_order, selection_hash,
};
use agent_session::health::Observation;
use agent_session::{CallAction, Called, Client, Clock, Documents, Generation, Options, Session};
use serde_json::{Value, json};

/// An index, a lock of some of its tools, and the documents beside them.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) servers: Vec<Value>,
    /// Server or `id@version`, tool, when it is shown.
    pub(crate) locked: Vec<(String, String, Load)>,
    /// The server and the tool of a locked one, and those of its fallback.
    pub(crate) fallbacks: Vec<[(String, String); 2]>,
    /// Servers that are locked for a category, and when their tools are shown.
    pub(crate) categories: Vec<(String, Load)>,
    /// What is passed on from servers with a locked tool.
    pub(crate) serving: Vec<(String, Vec<Serve>)>,
    pub(crate) forbid: Vec<String>,
    pub(crate) policy: Option<String>,
    pub(crate) documents: Documents,
}

/// A server of an index with tools; each tool's own `x-summit-capabilities` stay, or it searches.
pub(crate) fn server(id: &str, tools: Value) -> Value {
    let mut tools = tools;
    for (_, tool) in tools.as_object_mut().expect("tools") {
        let tool = tool.as_object_mut().expect("a tool");
        tool.entry("x-summit-capabilities")
            .or_insert_with(|| capability(&[]));
        tool.entry("inputSchema")
            .or_insert_with(|| json!({ "type": "object" }));
    }
    json!({
        "id": id, "version": "1", "endpoint": format!("https://{id}.example/mcp"),
        "categories": ["all"], "scopes": [],
        "trust": { "signed": true, "publisher": "P" },
        "data": { "residency": "eu-only", "maxSensitivity": "internal" },
        "capabilities": { "tools": tools },
    })
}

/// The capabilities of a tool with constraints.
pub(crate) fn capability(constraints: &[&str]) -> Value {
    json!([{ "verb": "search", "resource": "internet", "constraints": constraints }])
}

/// The tools of a selection whose unusable patterns are ignored.
fn ignored(server: ServerView<'_>, covers: &dyn Fn(&str) -> bool) -> Vec<ToolName> {
    let names = lower::ignoring(server, covers);
    names.map(|it| ToolName::new(it).expect("a name")).collect()
}

impl World {
    pub(crate) fn new(servers: Vec<Value>, locked: &[(&str, &str, Load)]) -> Self {
        let locked = locked.iter();
        Self {
            servers,
            locked: locked
                .map(|(server, tool, load)| ((*server).to_owned(), (*tool).to_owned(), *load))
                .collect(),
            fallbacks: Vec::new(),
            categories: Vec::new(),
            serving: Vec::new(),
            forbid: Vec::new(),
            policy: None,
            documents: Documents::default(),
        }
    }

    /// The world of most tests.
    pub(crate) fn usual() -> Self {
        let read = json!({
            "description": "Reads a file.",
            "annotations": { "readOnlyHint": true },
            "inputSchema": { "type": "object", "properties": { "path": { "type": "string" } },
                "required": ["path"], "additionalProperties": false },
            "outputSchema": { "type": "object", "properties": { "text": { "type": "string" } },
                "required": ["text"] },
        });
        let key = json!({ "type": "object", "properties": { "key": { "type": "string" } } });
        Self::new(
            vec![
                server(
                    "files",
                    json!({
                        "read": read,
                        "remove": { "x-summit-capabilities": capability(&["human_in_the_loop"]),
                            "inputSchema": { "type": "object", "properties": { "path": {} } } },
                        "wipe": {},
                    }),
                ),
                server(
                    "aws",
                    json!({
                        "s3_list": { "description": "Lists buckets.", "inputSchema": key },
                        "s3_put": { "inputSchema": key, "annotations": { "readOnlyHint": false } },
                        "ec2_run": {},
                    }),
                ),
                server(
                    "numbers",
                    json!({ "count": { "outputSchema": { "type": "number" } } }),
                ),
            ],
            &[
                ("files", "read", Load::Essential),
                ("files", "remove", Load::Essential),
                ("aws", "ec2_run", Load::Essential),
                ("aws", "s3_list", Load::OnDemand),
                ("aws", "s3_put", Load::OnDemand),
                ("numbers", "count", Load::Essential),
            ],
        )
    }

    pub(crate) fn index(&self) -> String {
        json!({ "servers": self.servers }).to_string()
    }

    /// Returns the documents, with a lock of the present index.
    pub(crate) fn documents(&self) -> Documents {
        let text = self.index();
        let index = lower::index(text.clone().into_bytes())
            .expect("an index")
            .value;
        let policy = self.policy.clone().map(String::into_bytes);
        let digest = policy.clone().map(|policy| {
            let policy = agent_rego::read(policy).expect("a policy").value;
            agent_decide::PolicyEngine::digest(&policy)
        });
        let select = |of: (&str, &str), first: (&str, &str), load: Load| {
            let tool = |(id, name): (&str, &str)| {
                let server = match id.split_once('@') {
                    Some((id, version)) => index.find(id, version),
                    None => index.versions(id).next(),
                };
                server.expect("a server").tool(name).expect("a tool")
            };
            let (tool, first) = (tool(of), tool(first));
            let server = tool.server();
            let block = first.advertised().next().expect("a capability");
            let (verb, resource) = block.verb_and_resource();
            Selection {
                grant: Grant::Capability {
                    capability: Capability {
                        verb: CapabilityVerb::parse(verb).expect("a verb"),
                        resource: Resource::new(resource).expect("a resource"),
                        constraints: block
                            .tags()
                            .map(|it| Tag::new(it).expect("a tag"))
                            .collect(),
                    },
                    definition: definition_digest(tool),
                    load,
                    tool: ToolName::new(tool.name()).expect("a name"),
                    fallback: tool.number() != first.number(),
                },
                scopes: Vec::new(),
                id: ServerId::new(server.id()).expect("an id"),
                version: ServerVersion::new(server.version()).expect("a version"),
                endpoint: Endpoint::new(server.endpoint()).expect("an endpoint"),
                hash: hash(tool),
                integrity: integrity(server).to_owned(),
                patterns: ignored(server, &|name| name == tool.name()),
            }
        };
        let groups = self.locked.iter().map(|(id, name, load)| {
            let first = (&**id, &**name);
            let fallback = self
                .fallbacks
                .iter()
                .find(|[it, _]| (&*it.0, &*it.1) == first);
            let fallback = fallback.map(|[_, it]| select((&it.0, &it.1), first, *load));
            let mut group = vec![select(first, first, *load)];
            group.extend(fallback);
            group
        });
        let categories = self.categories.iter();
        let categories = categories.map(|(id, load)| (id, *load, Vec::new(), Vec::new()));
        let serving = self.serving.iter().map(|(id, serve)| {
            let mut tools = self.locked.iter().filter(|(of, ..)| of == id);
            let (_, tool, load) = tools.next().expect("a locked tool");
            let only = vec![ToolName::new(tool.as_str()).expect("a name")];
            (id, *load, only, serve.clone())
        });
        let of_category = categories.chain(serving).map(|(id, load, only, serve)| {
            let server = index.versions(id).next().expect("a server");
            vec![Selection {
                grant: Grant::Category {
                    category: Category::new("all").expect("a category"),
                    load,
                    only,
                    serve,
                },
                scopes: Vec::new(),
                id: ServerId::new(id.as_str()).expect("an id"),
                version: ServerVersion::new(server.version()).expect("a version"),
                endpoint: Endpoint::new(server.endpoint()).expect("an endpoint"),
                hash: selection_hash(id, server.version(), server.endpoint(), []),
                integrity: integrity(server).to_owned(),
                patterns: ignored(server, &|_| true),
            }]
        });
        let mut groups: Vec<_> = groups.chain(of_category).collect();
        groups.sort_by(|a, b| lock_order(a, b));
        let mut forbid: Vec<_> = self.forbid.clone();
        forbid.sort();
        let forbid = forbid.iter();
        let lock = Lock {
            agent: Agent {
                name: AgentName::new("a").expect("a name"),
                version: AgentVersion::new("1").expect("a version"),
            },
            forbid: forbid
                .map(|label| ForbidLabel::new(label.as_str()).expect("a label"))
                .collect(),
            policy: digest,
            selections: groups.into_iter().flatten().collect(),
        };
        Documents {
            lock: Some(agent_render::lock(&lock).into_bytes()),
            index: Some(text.into_bytes()),
            definitions: agent_render::definitions(&lock, &index).map(String::into_bytes),
            policy,
            ..self.documents.clone()
        }
    }

    /// Opens a session whose servers have not answered yet.
    pub(crate) fn opened(&self, options: Options) -> Session {
        let opened = Session::open(self.documents(), options, at(0));
        opened.unwrap_or_else(|found| panic!("{found:#?}")).0
    }

    /// Opens a session whose servers are healthy, and list what the index has.
    pub(crate) fn session(&self, options: Options) -> Session {
        let mut session = self.opened(options);
        self.start(&mut session);
        session
    }

    pub(crate) fn start(&self, session: &mut Session) {
        for server in session.servers() {
            session.observe(&server.name, Observation::Started, at(0));
            let found = session.tools(&server.name, self.live(&server.name).as_bytes(), at(0));
            assert_eq!(found.drifted, []);
            let answered = Observation::Answered { latency_ms: 1 };
            session.observe(&server.name, answered, at(0));
        }
    }

    /// Returns the live list of a server, given as an id or as `id@version`, as its entry in the index has
    /// it, with what only servers say.
    pub(crate) fn live(&self, id: &str) -> String {
        let (id, version) = id.split_once('@').unwrap_or((id, ""));
        let is_it =
            |it: &&Value| it["id"] == id && (version.is_empty() || it["version"] == version);
        let server = self.servers.iter().find(is_it);
        let tools = &server.expect("a server")["capabilities"]["tools"];
        let tools = tools.as_object().expect("tools").iter();
        let tools = tools.map(|(name, tool)| {
            let mut tool = tool.clone();
            tool["name"] = json!(name);
            let own = tool.as_object_mut().expect("a tool");
            own.entry("title").or_insert(json!("TITLE"));
            own.entry("icons")
                .or_insert(json!([{ "src": "https://icons.example/" }]));
            tool["_meta"] = json!({ "instructions": "INSTRUCTIONS" });
            tool
        });
        json!({ "tools": tools.collect::<Vec<_>>(), "instructions": "INSTRUCTIONS" }).to_string()
    }
}

/// A reading of the clock, in milliseconds after the morning of a Tuesday.
pub(crate) fn at(ms: u64) -> Clock {
    Clock {
        unix_ms: 1_795_510_800_000 + ms,
        monotonic_ms: ms,
        utc_offset_minutes: 0,
    }
}

pub(crate) fn client(id: &str, generation: Generation) -> Client {
    Client {
        id: id.to_owned(),
        kind: "local".to_owned(),
        properties: None,
        generation,
        session: Some("s".to_owned()),
        capabilities: None,
    }
}

pub(crate) fn new_client() -> Client {
    client("c", Generation::Stateless)
}

pub(crate) fn old_client() -> Client {
    client("c", Generation::Sessions)
}

/// Calls a tool with arguments.
pub(crate) fn call(session: &mut Session, client: &Client, name: &str, arguments: Value) -> Called {
    call_at(session, client, name, arguments, 0)
}

pub(crate) fn call_at(
    session: &mut Session,
    client: &Client,
    name: &str,
    arguments: Value,
    ms: u64,
) -> Called {
    let params = json!({ "name": name, "arguments": arguments }).to_string();
    session.call(client, params.as_bytes(), at(ms))
}

/// Calls a tool through the stub of a server.
pub(crate) fn through(
    session: &mut Session,
    client: &Client,
    stub: &str,
    tool: &str,
    arguments: Value,
) -> Called {
    let arguments = json!({ "operation": "call", "tool": tool, "arguments": arguments });
    call(session, client, stub, arguments)
}

/// Returns the parameters that a call is passed on with.
#[track_caller]
pub(crate) fn forwarded(called: &Called) -> (String, Value) {
    match &called.action {
        CallAction::Forward(to) => (
            to.server.clone(),
            serde_json::from_str(&to.params()).expect("JSON"),
        ),
        CallAction::ForwardRequest(to) => (
            to.server.clone(),
            serde_json::from_slice(&to.params).expect("JSON"),
        ),
        other => panic!("not passed on: {}", shown(other)),
    }
}

/// Returns the result that a call is answered with.
#[track_caller]
pub(crate) fn answered(called: &Called) -> Value {
    match &called.action {
        CallAction::Answer(result) => serde_json::from_slice(result).expect("JSON"),
        other => panic!("not answered: {}", shown(other)),
    }
}

/// Returns the codes of a refusal.
#[track_caller]
pub(crate) fn refused(called: &Called) -> Vec<String> {
    codes(&answered(called))
}

/// Returns the codes in the `_meta` of a refusal, which its text has too.
#[track_caller]
pub(crate) fn codes(result: &Value) -> Vec<String> {
    assert_eq!(result["isError"], true, "{result}");
    let refusal = &result["_meta"][agent_session::REFUSAL_KEY];
    let reasons = refusal["reasons"].as_array().expect("reasons");
    let text = result["content"][0]["text"].as_str().expect("a text");
    let codes: Vec<_> = reasons
        .iter()
        .map(|it| it["code"].as_str().expect("a code").to_owned())
        .collect();
    assert_eq!(refusal["code"], codes[0]);
    for (code, reason) in codes.iter().zip(reasons) {
        assert!(text.contains(code), "{text}");
        assert!(
            text.contains(reason["text"].as_str().expect("a text")),
            "{text}"
        );
    }
    codes
}

pub(crate) fn is_passed_on(called: &Called) -> bool {
    matches!(
        called.action,
        CallAction::Forward(_) | CallAction::ForwardRequest(_)
    )
}

pub(crate) fn shown(action: &CallAction) -> String {
    match action {
        CallAction::Answer(result) => String::from_utf8_lossy(result).into_owned(),
        other => format!("{other:?}"),
    }
}

/// Returns the names of a client's list.
pub(crate) fn listed(session: &mut Session, client: &Client) -> Vec<String> {
    let list = session.list(client, at(0)).result;
    let list: Value = serde_json::from_slice(&list).expect("JSON");
    let tools = list["tools"].as_array().expect("tools").iter();
    tools
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}
