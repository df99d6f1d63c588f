//! The fields of the documents that people write: the readers take them from here, and so do the JSON
//! Schemas in `schemas/`.

use agent_model::HistoryRule;

/// The fields of a mapping. The first `required` ones must be there.
#[derive(Debug, Clone, Copy)]
pub struct Fields<const N: usize> {
    /// The names: the required ones first, otherwise in the usual order.
    pub names: [&'static str; N],
    /// The number of required fields.
    pub required: usize,
}

const fn fields<const N: usize>(required: usize, names: [&'static str; N]) -> Fields<N> {
    Fields { names, required }
}

/// The frontmatter of `agents.md` \[0\].
pub const MANIFEST: Fields<4> = fields(3, ["name", "version", "requires", "constraints"]);

/// `requires`: at least one of both.
pub const REQUIRES: Fields<2> = fields(0, ["mcp", "capabilities"]);

/// An item of `requires.mcp`.
pub const REQUIREMENT: Fields<5> = fields(2, ["category", "permissions", "load", "only", "serve"]);

/// A required capability \[4\].
pub const CAPABILITY: Fields<6> = fields(
    2,
    [
        "verb",
        "resource",
        "constraints",
        "load",
        "tools",
        "fallback",
    ],
);

/// `constraints`
pub const CONSTRAINTS: Fields<3> = fields(0, ["data", "actions", "trust"]);

/// `constraints.data`
pub const CONSTRAINTS_DATA: Fields<2> = fields(0, ["residency", "sensitivity"]);

/// `constraints.actions`
pub const CONSTRAINTS_ACTIONS: Fields<1> = fields(0, ["forbid"]);

/// `constraints.trust`
pub const CONSTRAINTS_TRUST: Fields<1> = fields(0, ["requireSigned"]);

/// A task \[4\].
pub const TASK: Fields<2> = fields(2, ["task_id", "required_capabilities"]);

/// A configuration of tenants \[4\].
pub const TENANTS: Fields<2> = fields(1, ["tenants", "version"]);

/// A tenant. Further fields are data for the policy.
pub const TENANT: Fields<6> = fields(
    1,
    [
        "id",
        "tier",
        "policy",
        "token_budget",
        "priorities",
        "history",
    ],
);

/// The `priorities` of a tenant.
pub const PRIORITIES: Fields<2> = fields(0, ["classes", "servers"]);

/// The `history` of a tenant.
pub const HISTORY: Fields<4> = fields(0, ["window", "labels", "fields", "rules"]);

/// An item of `history.labels`.
pub const TOOL_TRAITS: Fields<5> = fields(1, ["tools", "add", "remove", "sends", "writes"]);

/// An item of `history.rules`. Each rule has some of the fields.
pub const HISTORY_RULE: Fields<11> = fields(
    1,
    [
        "rule",
        "mode",
        "tools",
        "label",
        "calls",
        "within",
        "needs",
        "argument",
        "earlier",
        "earlier_argument",
        "limit",
    ],
);

/// Returns the fields of a rule beside `rule` and `mode`: the required ones, and the others.
pub fn fields_of_rule(rule: HistoryRule) -> (&'static [&'static str], &'static [&'static str]) {
    match rule {
        HistoryRule::AtMost => (&["calls"], &["tools", "within"]),
        HistoryRule::Before => (&["tools", "needs"], &["within"]),
        HistoryRule::NoSendAfter | HistoryRule::NoWriteAfter => (&["label"], &["tools", "within"]),
        HistoryRule::SameField => (
            &["tools", "argument", "earlier"],
            &["earlier_argument", "within"],
        ),
        HistoryRule::SumAtMost => (&["tools", "argument", "limit"], &["within"]),
    }
}

/// An index, unless it is the list alone \[0\].
pub const INDEX: Fields<1> = fields(1, ["servers"]);

/// An entry of an index.
pub const SERVER: Fields<10> = fields(
    7,
    [
        "id",
        "version",
        "endpoint",
        "categories",
        "scopes",
        "data",
        "trust",
        "policy",
        "class",
        "capabilities",
    ],
);

/// The `data` of a server.
pub const SERVER_DATA: Fields<2> = fields(2, ["residency", "maxSensitivity"]);

/// The `trust` of a server.
pub const SERVER_TRUST: Fields<2> = fields(2, ["signed", "publisher"]);

/// The `policy` of a server.
pub const SERVER_POLICY: Fields<1> = fields(0, ["rateLimitPerMin"]);

/// The `capabilities` of a server other than those of MCP's handshake.
pub const SERVER_CAPABILITIES: Fields<1> = fields(0, ["tools"]);

/// A tool of a server \[4\].
pub const TOOL: Fields<6> = fields(
    0,
    [
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
        "x-summit-capabilities",
        "patterns",
    ],
);

/// An element of `x-summit-capabilities`.
pub const TOOL_CAPABILITY: Fields<3> = fields(2, ["verb", "resource", "constraints"]);

/// An overlay of an import.
pub const OVERLAY: Fields<3> = fields(0, ["version", "defaults", "servers"]);
