//! The JSON Schemas of the documents that people write.
//!
//! Fields, closed values and the rules of names are those of the readers. The types of values are
//! stated here; `tests/engine/formats.rs` holds them against the readers.

use agent_import::overlay_fields;
use agent_lower::format::{self, Fields};
use agent_model::{
    AgentName, AgentVersion, CapabilityVerb, Category, Class, Endpoint, ForbidLabel, HealthStatus,
    HistoryRule, Keyword, Load, Name, NameRule, Patterns, Publisher, Residency, Resource, RuleMode,
    Scope, Sensitivity, Serve, ServerId, ServerVersion, Tag, TaskId, TenantId, ToolName, Tools,
};
use serde_json::{Map, Value, json};

/// A document that people write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The frontmatter of `agents.md`.
    Manifest,
    /// `mcp.index.json`
    Index,
    /// A task.
    Task,
    /// A configuration of tenants.
    Tenant,
    /// A snapshot of the health of servers.
    Health,
    /// An overlay of an import.
    Overlay,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 6] = [
        Self::Manifest,
        Self::Index,
        Self::Task,
        Self::Tenant,
        Self::Health,
        Self::Overlay,
    ];

    /// Returns the name of the schema's file.
    #[must_use]
    pub fn schema_name(self) -> &'static str {
        match self {
            Self::Manifest => "agents.md.schema.json",
            Self::Index => "mcp.index.schema.json",
            Self::Task => "task.schema.json",
            Self::Tenant => "tenant.schema.json",
            Self::Health => "health.schema.json",
            Self::Overlay => "overlay.schema.json",
        }
    }

    /// Returns the schema.
    #[must_use]
    pub fn schema(self) -> Value {
        let (title, schema) = match self {
            Self::Manifest => ("The frontmatter of agents.md", manifest()),
            Self::Index => ("An index of MCP servers", index()),
            Self::Task => ("A task and the capabilities that it requires", task()),
            Self::Tenant => ("The configuration of tenants", tenants()),
            Self::Health => ("The health of servers, by id", health()),
            Self::Overlay => ("What an import adds to servers", overlay()),
        };
        let mut schema = schema;
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["$id"] = json!(format!(
            "https://agent-engine.github.io/agent/schemas/{}",
            self.schema_name()
        ));
        schema["title"] = json!(title);
        schema
    }
}

/// The notation of a document. A plain scalar of YAML is taken as a string by its text, whatever type an
/// editor gives it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    Yaml,
    Json,
}
use Notation::{Json, Yaml};

fn string(notation: Notation) -> Value {
    match notation {
        Yaml => json!({ "type": ["string", "number", "boolean"] }),
        Json => json!({ "type": "string" }),
    }
}

fn keyword<K: Keyword>(notation: Notation) -> Value {
    let names: Vec<_> = K::names().collect();
    let mut schema = string(notation);
    schema["enum"] = json!(names);
    schema
}

fn name<N: Name>(notation: Notation) -> Value {
    named(N::RULE, notation)
}

/// Returns the schema of a name. Of the custom words that are too near to a known one, it refuses those
/// with other separators or capitals.
fn named(rule: NameRule, notation: Notation) -> Value {
    let reserved: String = rule.reserved.iter().collect();
    let mut schema = string(notation);
    schema["pattern"] = json!(format!("^[^{reserved}\\u0000-\\u001f\\u007f-\\u009f]+$"));
    // The placeholders of `model`; a tool may be called `TODO`.
    let words = match rule == ToolName::RULE {
        true => "",
        false => "|YOUR_.*|CHANGEME|CHANGE_ME|FIXME|TBD|TODO",
    };
    let pattern = format!(r"^(<[a-z _-]{{2,}}>|\$\{{.*\}}|\{{\{{.*\}}\}}{words})$");
    schema["not"] = json!({ "type": "string", "pattern": pattern });
    if !rule.known.is_empty() {
        let known: Vec<_> = rule.known.iter().map(|word| spelled(word)).collect();
        let near = json!({ "type": "string", "pattern": format!("^({})$", known.join("|")) });
        let custom = json!({ "type": "string", "pattern": "[-.:]", "not": near });
        schema["anyOf"] = json!([{ "enum": rule.known }, custom]);
    }
    schema["description"] = json!(format!("The {}", rule.noun));
    schema
}

/// Returns a pattern for a word in any capitals and with any separators.
fn spelled(word: &str) -> String {
    let letters = word.chars().filter(|c| *c != '_');
    letters
        .map(|c| format!("[{c}{}][-_ ]*", c.to_ascii_uppercase()))
        .collect()
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn some(items: Value) -> Value {
    let mut schema = list(items);
    schema["minItems"] = json!(1);
    schema
}

fn map(values: Value) -> Value {
    json!({ "type": "object", "additionalProperties": values })
}

/// Returns the schema of a mapping, with a description and a schema for each of its fields.
fn object<const N: usize>(fields: &Fields<N>, values: [(&str, Value); N]) -> Value {
    let values = values.map(|(description, mut schema)| {
        schema["description"] = json!(description);
        schema
    });
    let properties: Map<_, _> = fields
        .names
        .map(str::to_owned)
        .into_iter()
        .zip(values)
        .collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if fields.required > 0 {
        schema["required"] = json!(fields.names[..fields.required]);
    }
    schema
}

/// Returns the schema of a mapping that has no other fields, but those of other tools that begin with `x-`.
fn closed<const N: usize>(fields: &Fields<N>, values: [(&str, Value); N]) -> Value {
    let mut schema = object(fields, values);
    schema["additionalProperties"] = json!(false);
    schema["patternProperties"] = json!({ "^x-": true });
    schema
}

fn manifest() -> Value {
    let requirement = closed(
        &format::REQUIREMENT,
        [
            (
                "The category that a server must offer",
                name::<Category>(Yaml),
            ),
            (
                "The scopes that it must support; may be empty",
                list(name::<Scope>(Yaml)),
            ),
            (
                "Whether tools are loaded at the start; `essential` without it",
                keyword::<Load>(Yaml),
            ),
            (
                "The tools that are locked; every tool of the server without it",
                some(name::<ToolName>(Yaml)),
            ),
            (
                "What a gateway passes on of the server in addition to its tools; nothing without it",
                some(keyword::<Serve>(Yaml)),
            ),
        ],
    );
    let mut requires = closed(
        &format::REQUIRES,
        [
            ("The required servers, by category", some(requirement)),
            ("The required tools, by capability", some(capability())),
        ],
    );
    requires["anyOf"] = json!(
        format::REQUIRES
            .names
            .map(|name| json!({ "required": [name] }))
    );
    let constraints = closed(
        &format::CONSTRAINTS,
        [
            (
                "Where and how servers keep data",
                closed(
                    &format::CONSTRAINTS_DATA,
                    [
                        ("Where servers must keep data", keyword::<Residency>(Yaml)),
                        (
                            "The highest sensitivity of the agent's data",
                            keyword::<Sensitivity>(Yaml),
                        ),
                    ],
                ),
            ),
            (
                "What the agent must not do",
                closed(
                    &format::CONSTRAINTS_ACTIONS,
                    [(
                        "Forbidden scopes, verbs, capabilities and tools",
                        list(name::<ForbidLabel>(Yaml)),
                    )],
                ),
            ),
            (
                "Which servers are trusted",
                closed(
                    &format::CONSTRAINTS_TRUST,
                    [(
                        "Whether servers must be signed",
                        json!({ "type": "boolean" }),
                    )],
                ),
            ),
        ],
    );
    object(
        &format::MANIFEST,
        [
            ("The name of the agent", name::<AgentName>(Yaml)),
            ("The version of the agent", name::<AgentVersion>(Yaml)),
            ("What the agent requires", requires),
            ("What limits every server and tool", constraints),
        ],
    )
}

fn capability() -> Value {
    let mut capability = closed(
        &format::CAPABILITY,
        [
            ("What the tool does", keyword::<CapabilityVerb>(Yaml)),
            ("What it does that to", name::<Resource>(Yaml)),
            ("What the tool must promise", list(name::<Tag>(Yaml))),
            (
                "Whether the tool is loaded at the start; `essential` without it",
                keyword::<Load>(Yaml),
            ),
            (
                "Whether one tool of the server is selected, or all; `one` without it",
                keyword::<Tools>(Yaml),
            ),
            (
                "Whether the next tool of another server is locked too; not with `tools: all`",
                json!({ "type": "boolean" }),
            ),
        ],
    );
    capability["not"] = json!({
        "properties": { "fallback": { "const": true }, "tools": { "const": "all" } },
        "required": ["fallback", "tools"],
    });
    capability
}

fn task() -> Value {
    closed(
        &format::TASK,
        [
            ("The name of the task", name::<TaskId>(Yaml)),
            ("The required tools, by capability", some(capability())),
        ],
    )
}

fn tenants() -> Value {
    let whole = json!({ "type": "integer" });
    let priorities = closed(
        &format::PRIORITIES,
        [
            (
                "Priorities of classes of servers: higher ones win",
                map(whole.clone()),
            ),
            ("Priorities of servers, by id: higher ones win", map(whole)),
        ],
    );
    let tenant = object(
        &format::TENANT,
        [
            ("The name of the tenant", name::<TenantId>(Yaml)),
            ("The tier, for the policy", string(Yaml)),
            ("The file of the policy", string(Yaml)),
            (
                "The most tokens of tool definitions",
                json!({ "type": "integer", "minimum": 0 }),
            ),
            ("Which servers are preferred", priorities),
            ("What is decided by the calls before", history()),
        ],
    );
    closed(
        &format::TENANTS,
        [
            ("The tenants", list(tenant)),
            ("The version of the format", version()),
        ],
    )
}

fn history() -> Value {
    let matching = |pattern: &str| {
        let mut schema = string(Yaml);
        schema["pattern"] = json!(pattern);
        schema
    };
    let time = || matching("^[0-9]+[smhd]$");
    let label = || matching("^[a-z0-9-]{1,64}$");
    let pointer = || matching("^/");
    let tools = || list(matching("^[^/]+/."));
    let count = || json!({ "type": "integer", "minimum": 0 });
    let traits = closed(
        &format::TOOL_TRAITS,
        [
            ("The tools: SERVER/TOOL, with * for every one", tools()),
            ("Labels that their data has", list(label())),
            ("Labels that their data does not have", list(label())),
            (
                "Whether they send data to others",
                json!({ "type": "boolean" }),
            ),
            (
                "Whether they change something",
                json!({ "type": "boolean" }),
            ),
        ],
    );
    let mut rule = closed(
        &format::HISTORY_RULE,
        [
            ("The rule", keyword::<HistoryRule>(Yaml)),
            ("Whether it decides", keyword::<RuleMode>(Yaml)),
            ("The tools that it is about", tools()),
            ("The label of the data read before", label()),
            ("The most calls", count()),
            ("How far it looks back", time()),
            ("The tools of which one is called before", tools()),
            ("The argument, as a JSON pointer", pointer()),
            ("The tools of the earlier call", tools()),
            ("The argument of the earlier call", pointer()),
            ("The largest sum", count()),
        ],
    );
    let of_rules = HistoryRule::ALL.iter().map(|name| {
        let (required, optional) = format::fields_of_rule(*name);
        let known = required.iter().chain(optional).copied();
        let known: Vec<_> = known.chain(["rule", "mode", "x-.*"]).collect();
        let names = format!("^({})$", known.join("|"));
        json!({
            "if": { "properties": { "rule": { "const": name.as_str() } }, "required": ["rule"] },
            "then": { "required": required, "propertyNames": { "pattern": names } },
        })
    });
    rule["allOf"] = of_rules.collect();
    closed(
        &format::HISTORY,
        [
            ("For how long a call counts, such as 24h", time()),
            ("What tools are taken for", list(traits)),
            (
                "Arguments whose digests are kept, as JSON pointers",
                list(pointer()),
            ),
            ("The rules in force", list(rule)),
        ],
    )
}

/// The optional version of a format.
fn version() -> Value {
    json!({ "const": "v0.1" })
}

fn residencies(notation: Notation) -> Value {
    let one = keyword::<Residency>(notation);
    json!({ "anyOf": [one, list(one.clone())] })
}

/// Returns the schema of a value of a server's entry.
fn server_value(parent: Option<&str>, key: &str, notation: Notation) -> (&'static str, Value) {
    match (parent, key) {
        (None, "id") => ("The name of the server", name::<ServerId>(notation)),
        (None, "version") => ("The version of the server", name::<ServerVersion>(notation)),
        (None, "endpoint") => (
            "The URL of the server, or the package URL of one that is started locally",
            name::<Endpoint>(notation),
        ),
        (None, "categories") => (
            "The categories that it offers",
            list(name::<Category>(notation)),
        ),
        (None, "scopes") => ("The scopes that it supports", list(name::<Scope>(notation))),
        (None, "class") => ("The class, for priorities", name::<Class>(notation)),
        (Some("data"), "residency") => ("Where it keeps data", residencies(notation)),
        (Some("data"), "maxSensitivity") => (
            "The highest sensitivity that it is approved for",
            keyword::<Sensitivity>(notation),
        ),
        (Some("trust"), "signed") => ("Whether it is signed", json!({ "type": "boolean" })),
        (Some("trust"), "publisher") => ("Who publishes it", name::<Publisher>(notation)),
        (Some("policy"), "rateLimitPerMin") => ("Calls per minute", json!({ "type": "number" })),
        other => panic!("no schema for {other:?}"),
    }
}

fn index() -> Value {
    let value = |parent, key| server_value(parent, key, Json);
    let block = tool_capability(Json);
    let open = || json!({ "type": "object" });
    let mut tools = map(object(
        &format::TOOL,
        [
            ("What the tool does, in words", string(Json)),
            ("The JSON Schema of its arguments", open()),
            ("The JSON Schema of its structured output", open()),
            ("MCP's hints", open()),
            ("The capabilities of the tool", list(block)),
            (
                "How patterns of its schemas are treated that can't be used",
                keyword::<Patterns>(Json),
            ),
        ],
    ));
    tools["propertyNames"] = named(ToolName::RULE, Json);
    // A flag of MCP's handshake.
    let tool = tools["additionalProperties"].clone();
    tools["properties"] = json!({ "listChanged": { "anyOf": [{ "type": "boolean" }, tool] } });
    let data = format::SERVER_DATA
        .names
        .map(|key| value(Some("data"), key));
    let trust = format::SERVER_TRUST
        .names
        .map(|key| value(Some("trust"), key));
    let policy = format::SERVER_POLICY
        .names
        .map(|key| value(Some("policy"), key));
    let server = object(
        &format::SERVER,
        format::SERVER.names.map(|key| match key {
            "data" => (
                "How it keeps data",
                object(&format::SERVER_DATA, data.clone()),
            ),
            "trust" => (
                "Why it is trusted",
                object(&format::SERVER_TRUST, trust.clone()),
            ),
            "policy" => ("Its limits", object(&format::SERVER_POLICY, policy.clone())),
            "capabilities" => (
                "The capabilities of MCP, and the tools",
                object(
                    &format::SERVER_CAPABILITIES,
                    [("The tools, by name", tools.clone())],
                ),
            ),
            key => value(None, key),
        }),
    );
    let servers = list(json!({ "$ref": "#/$defs/server" }));
    let whole = object(&format::INDEX, [("The servers", servers.clone())]);
    json!({ "$defs": { "server": server }, "anyOf": [whole, servers] })
}

fn tool_capability(notation: Notation) -> Value {
    object(
        &format::TOOL_CAPABILITY,
        [
            ("What the tool does", keyword::<CapabilityVerb>(notation)),
            ("What it does that to", name::<Resource>(notation)),
            ("What the tool promises", list(name::<Tag>(notation))),
        ],
    )
}

fn health() -> Value {
    let mut schema = map(keyword::<HealthStatus>(Yaml));
    schema["propertyNames"] = named(ServerId::RULE, Json);
    // In an empty snapshot every server is unhealthy.
    schema["type"] = json!(["object", "null"]);
    schema
}

fn overlay() -> Value {
    let settings = |own: bool| {
        let mut properties = Map::new();
        for (parent, key) in overlay_fields() {
            let (description, mut schema) = server_value(parent, key, Yaml);
            schema["description"] = json!(description);
            match parent {
                None => properties.insert(key.to_owned(), schema),
                Some(parent) => {
                    let inner = properties
                        .entry(parent)
                        .or_insert_with(|| json!({ "type": "object", "properties": {} }));
                    inner["properties"][key] = schema;
                    None
                }
            };
        }
        if own {
            let key = format::TOOL.names[4];
            let capabilities = list(tool_capability(Yaml));
            let patterns = (format::TOOL.names[5], keyword::<Patterns>(Yaml));
            let tool = json!({ "type": "object", "properties": { key: capabilities, patterns.0: patterns.1 } });
            properties.insert("tools".to_owned(), map(tool));
        }
        json!({ "type": "object", "properties": properties })
    };
    let mut schema = object(
        &format::OVERLAY,
        [
            ("The version of the format", version()),
            (
                "What every server gets that its document does not state",
                settings(false),
            ),
            (
                "What single servers get, by name or id",
                map(settings(true)),
            ),
        ],
    );
    // An empty overlay adds nothing.
    schema["type"] = json!(["object", "null"]);
    schema
}
