//! The lists of the examples, from simple to advanced. A test of the worker includes this file: it
//! uses nothing of the page.

use crate::example::{Example, Texts};
use agent_answer::DocumentKind;

macro_rules! given {
    ($file:literal) => {
        include_str!(concat!("../../../examples/plans/", $file))
    };
}

macro_rules! own {
    ($file:literal) => {
        include_str!(concat!("../examples/", $file))
    };
}

/// The texts of the first visit, which are those of the folder `examples`, and the lock that
/// resolves to. Examples have other texts in place of some.
#[rustfmt::skip]
pub(crate) const BASIS: Texts = &[
    (DocumentKind::Plan, given!("mcp.plan.json")),
    (DocumentKind::ToolPool, given!("tool-pool.json")),
    (DocumentKind::Profile, given!("profile.json")),
    (DocumentKind::Request, given!("request.json")),
    (DocumentKind::Index, given!("mcp.index.json")),
    (DocumentKind::Lock, own!("agents.lock")),
    (DocumentKind::Call, given!("call.json")),
    (DocumentKind::Payload, given!("payload.json")),
    (DocumentKind::Summary, given!("summary.json")),
];

const fn example(title: &'static str, code: &'static str, texts: Texts) -> Example {
    Example { title, code, texts }
}

/// The plan over HTTP answers none of the requests here.
const HTTP: Texts = &[
    (DocumentKind::Plan, given!("http.plan.json")),
    (DocumentKind::Request, ""),
];

/// Plans of several steps.
#[rustfmt::skip]
pub(crate) const PLANS: &[Example] = &[
    example("Two steps: the second takes the output of the first", "", &[]),
    example("Over HTTP, without a lock", "", HTTP),
    example("A step whose tool is misspelt", "TOOL_UNKNOWN", &[(DocumentKind::Plan, own!("misspelt-tool.plan.json"))]),
    example("A step that is misspelt", "validation_failed", &[(DocumentKind::Plan, own!("misspelt-step.plan.json"))]),
    example("A part that no output has", "validation_failed", &[(DocumentKind::Plan, own!("no-such-part.plan.json"))]),
    example("An argument above its maximum", "ARGUMENT_INVALID", &[(DocumentKind::Plan, own!("too-many.plan.json"))]),
    example("Another port of the same host", "destination_denied", &[(DocumentKind::Plan, own!("another-port.plan.json")), (DocumentKind::Request, "")]),
    example("A method that is not bound", "policy_denied", &[(DocumentKind::Plan, own!("another-method.plan.json")), (DocumentKind::Request, "")]),
    example("No rule allows it", "policy_denied", &[(DocumentKind::Profile, own!("no-rule.profile.json"))]),
    example("A rule denies it", "FORBIDDEN_ACTION", &[(DocumentKind::Profile, own!("denied.profile.json"))]),
    example("Longer than the cap", "limit_exceeded", &[(DocumentKind::Profile, own!("small-caps.profile.json"))]),
    example("A cap is missing", "policy_denied", &[(DocumentKind::Profile, own!("no-cap.profile.json"))]),
    example("The answer to another request", "validation_failed", &[(DocumentKind::Request, own!("another.request.json"))]),
    example("No lock for the steps", "LOCK_MISSING", &[(DocumentKind::Lock, "")]),
    example("Everything at once", "TOOL_UNKNOWN", &[(DocumentKind::Plan, own!("everything.plan.json"))]),
];

/// Plans of one call.
#[rustfmt::skip]
pub(crate) const CALLS: &[Example] = &[
    example("A call that may be made", "", &[]),
    example("A tool that is misspelt", "TOOL_UNKNOWN", &[(DocumentKind::Call, own!("misspelt-tool.call.json"))]),
    example("An argument that is misspelt", "ARGUMENT_UNKNOWN", &[(DocumentKind::Call, own!("misspelt-argument.call.json"))]),
    example("An argument above the maximum", "ARGUMENT_INVALID", &[(DocumentKind::Call, own!("too-many.call.json"))]),
    example("A tool that writes, and is forbidden", "FORBIDDEN_ACTION", &[(DocumentKind::Call, own!("forbidden.call.json"))]),
    example("More than a policy allows", "POLICY_DENIED", &[(DocumentKind::Call, own!("more-than-the-policy.call.json")), (DocumentKind::Lock, own!("under-policy.lock")), (DocumentKind::Policy, own!("policy.rego"))]),
    example("Without the policy of the lock", "POLICY_MISSING", &[(DocumentKind::Lock, own!("under-policy.lock"))]),
    example("A tool that was changed since", "DEFINITION_CHANGED", &[(DocumentKind::Catalogue, own!("changed.catalogue.json"))]),
    example("No lock", "LOCK_MISSING", &[(DocumentKind::Lock, "")]),
    example("Prose around a plan", "PLAN_NOT_JSON", &[(DocumentKind::Call, own!("prose.call.txt"))]),
    example("The planner needs more information", "", &[(DocumentKind::Call, own!("more-info.call.json"))]),
];

/// Summaries.
#[rustfmt::skip]
pub(crate) const GROUNDINGS: &[Example] = &[
    example("A summary with evidence", "", &[]),
    example("Quotation marks of another kind", "UNGROUNDED", &[(DocumentKind::Summary, own!("typographic.summary.json"))]),
    example("A number with marks", "UNGROUNDED", &[(DocumentKind::Summary, own!("marks.summary.json"))]),
    example("Put together from two places", "UNGROUNDED", &[(DocumentKind::Summary, own!("across.summary.json"))]),
    example("Evidence that is too short", "EVIDENCE_TOO_SHORT", &[(DocumentKind::Summary, own!("short.summary.json"))]),
    example("Made up", "UNGROUNDED", &[(DocumentKind::Summary, own!("made-up.summary.json"))]),
];
