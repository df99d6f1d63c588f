//! The words that are not free: the keys and closed values of each kind of document, and the names that
//! refer to something.

use agent_text::DocumentKind;
use std::collections::{BTreeMap, BTreeSet};

/// What a name refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in super::super) enum Referent {
    /// An argument of a tool.
    Argument,
    /// A category of a server.
    Category,
    /// A class of servers.
    Class,
    /// A connector of the tool pool.
    Connector,
    /// A tool of the tool pool.
    PoolTool,
    /// A profile.
    Profile,
    /// A connector and its tool, as rules name them.
    Selector,
    /// A tool pool.
    Pool,
    /// A schema of the tool pool.
    Schema,
    /// A scope of a server.
    Scope,
    /// A server of the index.
    Server,
    /// A step of the plan.
    Step,
    /// A tool of a server.
    Tool,
}

/// The names that exist, by what they name.
pub(in super::super) type Names = BTreeMap<Referent, BTreeSet<String>>;

/// Below these keys everything is free.
const FREE: [&str; 17] = [
    "annotations",
    "arguments",
    "context",
    "description",
    "forbid",
    "input",
    "inputSchema",
    "input_schema",
    "meta",
    "model_instruction",
    "note",
    "outputSchema",
    "output_schema",
    "roles",
    "schemas",
    "tags",
    "title",
];

const CAPABILITY: [&str; 5] = ["verb", "resource", "constraints", "load", "tools"];

/// Returns whether a place may contain any words.
pub(super) fn is_free(path: &[String]) -> bool {
    path.iter().any(|key| FREE.contains(&&**key))
}

/// Returns the keys of a kind of document.
pub(super) fn keys(kind: DocumentKind) -> Vec<&'static str> {
    match kind {
        DocumentKind::Manifest => [
            &[
                "name",
                "version",
                "requires",
                "mcp",
                "capabilities",
                "category",
                "permissions",
                "data",
                "residency",
                "sensitivity",
                "actions",
                "forbid",
                "trust",
                "requireSigned",
            ],
            &CAPABILITY[..],
        ]
        .concat(),
        DocumentKind::Index => vec![
            "servers",
            "id",
            "version",
            "endpoint",
            "categories",
            "scopes",
            "data",
            "residency",
            "maxSensitivity",
            "trust",
            "signed",
            "publisher",
            "policy",
            "class",
            "capabilities",
            "tools",
            "inputSchema",
            "outputSchema",
            "x-summit-capabilities",
            "verb",
            "resource",
            "constraints",
        ],
        DocumentKind::Task => [&["task_id", "required_capabilities"], &CAPABILITY[..]].concat(),
        DocumentKind::Tenant => vec![
            "version",
            "tenants",
            "id",
            "tier",
            "policy",
            "token_budget",
            "priorities",
            "classes",
            "servers",
        ],
        DocumentKind::Call => vec!["type", "server", "tool", "args"],
        DocumentKind::Plan => vec![
            "envelope_id",
            "verb",
            "plan",
            "plan_id",
            "request_id",
            "tool_pool_ref",
            "pool_id",
            "pool_version",
            "instruction_profile_ref",
            "profile_id",
            "profile_version",
            "steps",
            "step_id",
            "connector_id",
            "tool_id",
            "input",
            "input_from",
            "step",
            "pointer",
            "input_schema_ref",
            "output_schema_ref",
        ],
        DocumentKind::Request => vec![
            "envelope_id",
            "verb",
            "request",
            "request_id",
            "goal",
            "tool_pool_ref",
            "pool_id",
            "pool_version",
            "instruction_profile_ref",
            "profile_id",
            "profile_version",
        ],
        DocumentKind::ToolPool => vec![
            "schema_id",
            "pool_id",
            "pool_version",
            "connectors",
            "connector_id",
            "provider",
            "resource",
            "protocol",
            "bindings",
            "tool_id",
            "driver_kind",
            "destinations",
            "server",
            "server_version",
            "tool",
            "methods",
            "limits",
            "timeout_ms",
            "max_input_bytes",
            "max_output_bytes",
            "max_log_bytes",
            "programs",
            "path",
            "more_arguments",
            "input_schema",
            "output_schema",
            "input_schema_ref",
            "output_schema_ref",
        ],
        DocumentKind::Profile => vec![
            "schema_id",
            "profile_id",
            "profile_version",
            "security_model_version",
            "status",
            "caps",
            "max_steps",
            "max_timeout_ms",
            "max_input_bytes",
            "max_output_bytes",
            "max_log_bytes",
            "rules",
            "rule_id",
            "effect",
            "target",
            "kind",
            "selector",
        ],
        _ => Vec::new(),
    }
}

/// Returns the values that are allowed for a key; none if they are free.
pub(super) fn values(kind: DocumentKind, key: &str) -> &'static [&'static str] {
    use DocumentKind::{Health, Index, Manifest, Plan, Profile, Request, Task, ToolPool};
    match (kind, key) {
        (Manifest | Index, "residency") => &["any", "eu-only", "us-only"],
        (Manifest, "sensitivity") | (Index, "maxSensitivity") => &[
            "public",
            "internal",
            "confidential",
            "pii.low",
            "pii.moderate",
            "pii.high",
        ],
        (Manifest, "requireSigned") | (Index, "signed") => &["true", "false"],
        (Manifest | Task | Index, "verb") => {
            &["execute", "notify", "read", "reason", "search", "write"]
        }
        (Manifest | Task | Index, "resource") => &[
            "aws",
            "codebase",
            "fs",
            "internet",
            "knowledge_graph",
            "slack",
        ],
        (Manifest | Task | Index, "constraints") => {
            &["human_in_the_loop", "pii_safe", "rate_limited", "readonly"]
        }
        (Manifest | Task, "load") => &["essential", "on_demand"],
        (Manifest | Task, "tools") => &["one", "all"],
        (Health, _) => &[
            "HEALTHY",
            "PROBATION",
            "QUARANTINE",
            "STARTING",
            "UNHEALTHY",
        ],
        (Plan, "envelope_id") => &["env.mova_agent_plan_v1"],
        (Request, "envelope_id") => &["env.mova_agent_request_v1"],
        (Plan | Request, "verb") => &["create"],
        (DocumentKind::Call, "type") => &["call_tool", "answer", "need_more_info"],
        (ToolPool, "schema_id") => &["ds.mova_agent_tool_pool_v1"],
        (ToolPool, "driver_kind") => &["http", "mcp_proxy", "noop", "restricted_shell"],
        (ToolPool, "methods") => &["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"],
        (Profile, "schema_id") => &["ds.instruction_profile_core_v1"],
        (Profile, "status") => &["draft", "active", "deprecated"],
        (Profile, "effect") => &["allow", "deny", "warn", "log_only", "transform"],
        _ => &[],
    }
}

/// Returns what a word refers to; none if it defines something or says something.
pub(super) fn referent(kind: DocumentKind, path: &[String], is_key: bool) -> Option<Referent> {
    use DocumentKind::{Call, Health, Manifest, Plan, Profile, Request, Tenant, ToolPool};
    let last = path.last().map_or("", |key| &**key);
    let within = |key: &str| path.iter().any(|it| it == key);
    Some(match (kind, last, is_key) {
        (Health, "", true) => Referent::Server,
        (Tenant, "servers", true) if within("priorities") => Referent::Server,
        (Tenant, "classes", true) if within("priorities") => Referent::Class,
        (Call, "args", true) => Referent::Argument,
        (_, _, true) => return None,
        (Manifest, "category", _) => Referent::Category,
        (Manifest, "permissions", _) => Referent::Scope,
        (Call, "server", _) | (ToolPool, "server", _) => Referent::Server,
        (Call, "tool", _) | (ToolPool, "tool", _) => Referent::Tool,
        (Plan, "connector_id", _) => Referent::Connector,
        (ToolPool, "connector_id", _) if within("bindings") => Referent::Connector,
        (Plan, "tool_id", _) => Referent::PoolTool,
        (Plan | Request, "pool_id", _) => Referent::Pool,
        (Plan | Request, "profile_id", _) => Referent::Profile,
        (Plan, "step", _) => Referent::Step,
        (Plan | ToolPool, "input_schema_ref" | "output_schema_ref", _) => Referent::Schema,
        (Profile, "selector", _) => Referent::Selector,
        _ => return None,
    })
}

/// Returns what a word defines.
pub(super) fn definition(kind: DocumentKind, path: &[String], is_key: bool) -> Option<Referent> {
    use DocumentKind::{Index, Plan, Profile, ToolPool};
    let last = path.last().map_or("", |key| &**key);
    let within = |key: &str| path.iter().any(|it| it == key);
    Some(match (kind, last, is_key) {
        (Index, "tools", true) => Referent::Tool,
        (Index, "properties", true) if within("inputSchema") => Referent::Argument,
        (Index, "id", false) if !within("tools") => Referent::Server,
        (Index, "class", false) if !within("tools") => Referent::Class,
        (Index, "categories", false) => Referent::Category,
        (Index, "scopes", false) => Referent::Scope,
        (ToolPool, "connector_id", false) if within("connectors") => Referent::Connector,
        (ToolPool, "tool_id", false) => Referent::PoolTool,
        (ToolPool, "pool_id", false) => Referent::Pool,
        (ToolPool, "$id", false) => Referent::Schema,
        (Profile, "profile_id", false) => Referent::Profile,
        (Plan, "step_id", false) => Referent::Step,
        _ => return None,
    })
}
