//! The list of the examples, from simple to advanced. A test of the worker reads it, too: without
//! anything of the page in it.

/// An example.
pub(crate) struct Example {
    /// The name of its folder.
    pub(crate) name: &'static str,
    /// What it shows, in a few words.
    pub(crate) title: &'static str,
    /// The code that it shows, or the rule that breaks a tie. Empty: all is well.
    pub(crate) code: &'static str,
    pub(crate) manifest: &'static str,
    pub(crate) index: &'static str,
    /// Empty: there is none, here and below.
    pub(crate) lock: &'static str,
    pub(crate) task: &'static str,
    pub(crate) tenant: &'static str,
    pub(crate) health: &'static str,
    pub(crate) policy: &'static str,
}

/// One without any text.
const BLANK: Example = Example {
    name: "",
    title: "",
    code: "",
    manifest: "",
    index: "",
    lock: "",
    task: "",
    tenant: "",
    health: "",
    policy: "",
};

/// What the first visit shows: the example of the command line's demo.
pub(crate) const HELLO: Example = Example {
    name: "hello-agent",
    title: "Two requirements, both with a server",
    code: "",
    manifest: include_str!("../../../examples/hello-agent/agents.md"),
    index: include_str!("../../../examples/hello-agent/mcp.index.json"),
    ..BLANK
};

macro_rules! text {
    ($name:literal, $file:literal) => {
        include_str!(concat!("../../examples/", $name, "/", $file))
    };
}

macro_rules! example {
    ($name:literal, $title:literal, $code:literal $(, $field:ident: $file:literal)*) => {
        Example {
            name: $name,
            title: $title,
            code: $code,
            manifest: text!($name, "agents.md"),
            index: text!($name, "mcp.index.json"),
            $($field: text!($name, $file),)*
            ..BLANK
        }
    };
}

/// All others, each in the folder of its name in `playground/examples`.
#[rustfmt::skip]
pub(crate) const EXAMPLES: [Example; 19] = [
    example!("support-desk", "A category that nobody offers", "MISSING_CATEGORY"),
    example!("release-notes", "A permission too many", "MISSING_SCOPE"),
    example!("payroll-helper", "Data that must stay in Europe", "RESIDENCY_MISMATCH"),
    example!("patient-intake", "Data too sensitive for every server", "SENSITIVITY_EXCEEDED"),
    example!("deploy-bot", "Only signed servers", "UNSIGNED_NOT_ALLOWED"),
    example!("meeting-notes", "A tie: signed ones first", "signed"),
    example!("translator", "A tie: 10.0.0 comes before 9.4.0", "version"),
    example!("newsletter", "A misspelt constraint constrains nothing", "UNKNOWN_KEY"),
    example!("expense-report", "Fields that are absent", "MISSING_FIELD"),
    example!("shop-assistant", "YAML with an open list", "YAML_SYNTAX"),
    example!("weather-brief", "JSON with a comma too many", "JSON_SYNTAX"),
    example!("data-janitor", "A manifest that contradicts itself", "FORBIDDEN_ACTION"),
    example!("travel-planner", "The same server twice", "DUPLICATE_SERVER"),
    example!("invoice-checker", "Two ids that look alike", "LOOKALIKE_ID"),
    example!(
        "domain-investigator", "Tools for a task, and health", "HEALTH_VETO",
        task: "task.yaml", tenant: "tenant.yaml", health: "health.yaml"
    ),
    example!(
        "paper-finder", "A policy in Rego", "POLICY_DENIED",
        tenant: "tenant.yaml", policy: "policy.rego"
    ),
    example!("crm-updater", "More permissions than in the lock", "SCOPE_WIDENED", lock: "agents.lock"),
    example!("stock-watcher", "Another entry under the same version", "INTEGRITY_CHANGED", lock: "agents.lock"),
    example!("press-review", "The locked server is gone", "SERVER_REMOVED", lock: "agents.lock"),
];
