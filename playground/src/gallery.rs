//! The list of the examples, from simple to advanced. A test of the worker includes this file: it
//! uses nothing of the page.

use crate::example::Example;
use agent_answer::DocumentKind;

macro_rules! example {
    ($folder:literal, $title:literal, $shows:literal, $code:literal $(, $kind:ident: $file:literal)*) => {
        Example {
            title: $title,
            shows: $shows,
            code: $code,
            folder: $folder,
            texts: &[
                (DocumentKind::Manifest, "agents.md"),
                (DocumentKind::Index, "mcp.index.json"),
                $((DocumentKind::$kind, $file),)*
            ],
        }
    };
}

/// Those to begin with.
#[rustfmt::skip]
pub(crate) const START: &[Example] = &[
    Example {
        title: "Files, repositories, mail and a calendar",
        shows: "Each requirement gets the best of the servers that pass every check; one mailbox is refused, for it keeps data outside of the EU.",
        code: "",
        // A first visit waits for nothing.
        folder: "",
        texts: &[
            (DocumentKind::Manifest, include_str!("../examples/desk-assistant/agents.md")),
            (DocumentKind::Index, include_str!("../examples/desk-assistant/mcp.index.json")),
        ],
    },
    example!(
        "hello-agent", "Two requirements, both with a server",
        "The command line's demo: a signed server comes before an unsigned one.",
        ""
    ),
    example!(
        "support-desk", "A category that no server offers",
        "No server of the index offers one of the categories.",
        "MISSING_CATEGORY"
    ),
    example!(
        "meeting-notes", "A tie: signed ones first",
        "Several servers pass every check: signed ones come before unsigned ones.",
        "signed"
    ),
    example!(
        "translator", "A tie: 10.0.0 comes before 9.4.0",
        "Versions are compared as text, by code points, so that every tool gets the same order.",
        "version"
    ),
];

/// Servers that are refused.
#[rustfmt::skip]
pub(crate) const REFUSED: &[Example] = &[
    example!(
        "release-notes", "A permission too many",
        "A server offers the category, but without one of the permissions.",
        "MISSING_SCOPE"
    ),
    example!(
        "payroll-helper", "Data that must stay in Europe",
        "The manifest keeps data in the EU, and one of the servers keeps it elsewhere.",
        "RESIDENCY_MISMATCH"
    ),
    example!(
        "patient-intake", "Data too sensitive for every server",
        "No server is approved for data as sensitive as that of the agent.",
        "SENSITIVITY_EXCEEDED"
    ),
    example!(
        "deploy-bot", "Only signed servers",
        "The manifest asks for signed servers, and one category has no signed server.",
        "UNSIGNED_NOT_ALLOWED"
    ),
    example!(
        "domain-investigator", "Tools for a task, and health",
        "Tools meet the capabilities of a task; a server that is not healthy is vetoed.",
        "HEALTH_VETO",
        Task: "task.yaml", Tenant: "tenant.yaml", Health: "health.yaml"
    ),
];

/// Documents with problems.
#[rustfmt::skip]
pub(crate) const BROKEN: &[Example] = &[
    example!(
        "newsletter", "A misspelt constraint is refused",
        "A misspelt constraint would protect nothing, so the engine refuses it and proposes the right word.",
        "MISSPELT_KEY"
    ),
    example!(
        "expense-report", "Fields that are absent",
        "What is missing is named at its place, all of it at once.",
        "MISSING_FIELD"
    ),
    example!(
        "shop-assistant", "YAML with an open list",
        "A syntax error is read as it was meant, so that the rest of the document is checked too.",
        "YAML_SYNTAX"
    ),
    example!(
        "weather-brief", "JSON with a comma too many",
        "One click repairs the syntax; the verdict follows.",
        "JSON_SYNTAX"
    ),
    example!(
        "data-janitor", "A manifest that contradicts itself",
        "The agent requires an action that its own constraints forbid.",
        "FORBIDDEN_ACTION"
    ),
    example!(
        "travel-planner", "The same server twice",
        "Two entries of the index have the same id and version.",
        "DUPLICATE_SERVER"
    ),
];

/// Policies.
#[rustfmt::skip]
pub(crate) const POLICIES: &[Example] = &[
    example!(
        "paper-finder", "A policy in Rego",
        "A policy of the tenant denies tools, and its lines say why.",
        "POLICY_DENIED",
        Tenant: "tenant.yaml", Policy: "policy.rego"
    ),
];

/// Servers that pretend to be others, or change behind a name.
#[rustfmt::skip]
pub(crate) const ATTACKS: &[Example] = &[
    example!(
        "invoice-checker", "Two ids that look alike",
        "Characters of other alphabets are shown with their code points.",
        "LOOKALIKE_ID"
    ),
    example!(
        "stock-watcher", "Another entry under the same version",
        "The index has changed a server without a new version; the hash in the lock tells.",
        "INTEGRITY_CHANGED", Lock: "agents.lock"
    ),
];

/// Changes since a lock.
#[rustfmt::skip]
pub(crate) const LOCKS: &[Example] = &[
    example!(
        "crm-updater", "More permissions than in the lock",
        "The manifest asks for more than the reviewed lock grants: each widening is named.",
        "SCOPE_WIDENED", Lock: "agents.lock"
    ),
    example!(
        "press-review", "The locked server is gone",
        "The index no longer has the server of the lock, and another one takes its place.",
        "SERVER_REMOVED", Lock: "agents.lock"
    ),
];
