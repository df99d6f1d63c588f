//! The list of the examples, from simple to advanced. A test of the worker includes this file: it
//! uses nothing of the page.

use crate::example::Example;
use agent_answer::DocumentKind;

macro_rules! text {
    ($folder:literal, $file:literal) => {
        include_str!(concat!("../examples/", $folder, "/", $file))
    };
}

macro_rules! example {
    ($folder:literal, $title:literal, $code:literal $(, $kind:ident: $file:literal)*) => {
        Example {
            title: $title,
            code: $code,
            texts: &[
                (DocumentKind::Manifest, text!($folder, "agents.md")),
                (DocumentKind::Index, text!($folder, "mcp.index.json")),
                $((DocumentKind::$kind, text!($folder, $file)),)*
            ],
        }
    };
}

/// All examples. The first is the command line's demo.
#[rustfmt::skip]
pub(crate) const EXAMPLES: &[Example] = &[
    example!("../../examples/hello-agent", "Two requirements, both with a server", ""),
    example!("support-desk", "A category that nobody offers", "MISSING_CATEGORY"),
    example!("release-notes", "A permission too many", "MISSING_SCOPE"),
    example!("payroll-helper", "Data that must stay in Europe", "RESIDENCY_MISMATCH"),
    example!("patient-intake", "Data too sensitive for every server", "SENSITIVITY_EXCEEDED"),
    example!("deploy-bot", "Only signed servers", "UNSIGNED_NOT_ALLOWED"),
    example!("meeting-notes", "A tie: signed ones first", "signed"),
    example!("translator", "A tie: 10.0.0 comes before 9.4.0", "version"),
    example!("newsletter", "A misspelt constraint is refused", "MISSPELT_KEY"),
    example!("expense-report", "Fields that are absent", "MISSING_FIELD"),
    example!("shop-assistant", "YAML with an open list", "YAML_SYNTAX"),
    example!("weather-brief", "JSON with a comma too many", "JSON_SYNTAX"),
    example!("data-janitor", "A manifest that contradicts itself", "FORBIDDEN_ACTION"),
    example!("travel-planner", "The same server twice", "DUPLICATE_SERVER"),
    example!("invoice-checker", "Two ids that look alike", "LOOKALIKE_ID"),
    example!(
        "domain-investigator", "Tools for a task, and health", "HEALTH_VETO",
        Task: "task.yaml", Tenant: "tenant.yaml", Health: "health.yaml"
    ),
    example!(
        "paper-finder", "A policy in Rego", "POLICY_DENIED",
        Tenant: "tenant.yaml", Policy: "policy.rego"
    ),
    example!("crm-updater", "More permissions than in the lock", "SCOPE_WIDENED", Lock: "agents.lock"),
    example!("stock-watcher", "Another entry under the same version", "INTEGRITY_CHANGED", Lock: "agents.lock"),
    example!("press-review", "The locked server is gone", "SERVER_REMOVED", Lock: "agents.lock"),
];
