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
/// resolves to. Examples replace some of these texts.
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

const fn example(
    title: &'static str,
    shows: &'static str,
    code: &'static str,
    texts: Texts,
) -> Example {
    Example {
        title,
        shows,
        code,
        folder: "",
        texts,
    }
}

/// The plan over HTTP answers none of the requests here.
const HTTP: Texts = &[
    (DocumentKind::Plan, given!("http.plan.json")),
    (DocumentKind::Request, ""),
];

/// Plans of several steps.
#[rustfmt::skip]
pub(crate) const PLANS: &[Example] = &[
    example("Two steps: the second takes the output of the first", "Every check that is possible now is passed; what depends on an output is deferred.", "", &[]),
    example("Over HTTP, without a lock", "Each step of a plan over HTTP goes to a destination that the pool declares.", "", HTTP),
    example("A step whose tool is misspelt", "The pool has one tool of a similar name, and one click takes it.", "TOOL_UNKNOWN", &[(DocumentKind::Plan, own!("misspelt-tool.plan.json"))]),
    example("A step that is misspelt", "A step takes the output of a step that doesn't exist; the similar one is proposed.", "validation_failed", &[(DocumentKind::Plan, own!("misspelt-step.plan.json"))]),
    example("A part that no output has", "The declared output of the earlier step has no such part.", "validation_failed", &[(DocumentKind::Plan, own!("no-such-part.plan.json"))]),
    example("An argument above its maximum", "The tool's input schema refuses an argument before anything runs.", "ARGUMENT_INVALID", &[(DocumentKind::Plan, own!("too-many.plan.json"))]),
    example("Another port of the same host", "A destination is scheme, host and port; another port is another destination.", "destination_denied", &[(DocumentKind::Plan, own!("another-port.plan.json")), (DocumentKind::Request, "")]),
    example("A method that is not bound", "The tool is bound to one HTTP method, and the step asks for another.", "policy_denied", &[(DocumentKind::Plan, own!("another-method.plan.json")), (DocumentKind::Request, "")]),
    example("No rule allows it", "What no rule of the profile allows is denied.", "policy_denied", &[(DocumentKind::Profile, own!("no-rule.profile.json"))]),
    example("A rule denies it", "A rule that denies wins over rules that allow.", "FORBIDDEN_ACTION", &[(DocumentKind::Profile, own!("denied.profile.json"))]),
    example("Longer than the cap", "The step wants more time or bytes than the profile's caps.", "limit_exceeded", &[(DocumentKind::Profile, own!("small-caps.profile.json"))]),
    example("A cap is missing", "A profile without a cap allows nothing of that kind.", "policy_denied", &[(DocumentKind::Profile, own!("no-cap.profile.json"))]),
    example("The answer to another request", "The plan answers another request than the one that was sent.", "validation_failed", &[(DocumentKind::Request, own!("another.request.json"))]),
    example("No lock for the steps", "Without a lock, no step may call a tool of an MCP server.", "LOCK_MISSING", &[(DocumentKind::Lock, "")]),
    example("Everything at once", "Every problem of every step is named in one run.", "TOOL_UNKNOWN", &[(DocumentKind::Plan, own!("everything.plan.json"))]),
];

/// Plans of one call.
#[rustfmt::skip]
pub(crate) const CALLS: &[Example] = &[
    example("A call that may be made", "The tool only reads, is locked, unchanged, and accepts the arguments.", "", &[]),
    example("A tool that is misspelt", "The server has one tool of a similar name, and one click takes it.", "TOOL_UNKNOWN", &[(DocumentKind::Call, own!("misspelt-tool.call.json"))]),
    example("An argument that is misspelt", "The input schema knows no such argument; the similar one is proposed.", "ARGUMENT_UNKNOWN", &[(DocumentKind::Call, own!("misspelt-argument.call.json"))]),
    example("An argument above the maximum", "The input schema refuses the value before anything is called.", "ARGUMENT_INVALID", &[(DocumentKind::Call, own!("too-many.call.json"))]),
    example("A tool that writes, and is forbidden", "A plan of one call may only read, and the lock forbids the tool.", "FORBIDDEN_ACTION", &[(DocumentKind::Call, own!("forbidden.call.json"))]),
    example("More than a policy allows", "The policy that the lock names decides on the arguments too.", "POLICY_DENIED", &[(DocumentKind::Call, own!("more-than-the-policy.call.json")), (DocumentKind::Lock, own!("under-policy.lock")), (DocumentKind::Policy, own!("policy.rego"))]),
    example("Without the policy of the lock", "A lock that was made under a policy can't be used without it.", "POLICY_MISSING", &[(DocumentKind::Lock, own!("under-policy.lock"))]),
    example("A tool that was changed since", "The definition of the tool is not the one that was locked.", "DEFINITION_CHANGED", &[(DocumentKind::Catalogue, own!("changed.catalogue.json"))]),
    example("No lock", "Without a lock, no tool may be called.", "LOCK_MISSING", &[(DocumentKind::Lock, "")]),
    example("Prose around a plan", "A model wrote sentences around its plan; the answer says where the plan stands.", "PLAN_NOT_JSON", &[(DocumentKind::Call, own!("prose.call.txt"))]),
    example("The planner needs more information", "A planner may ask back instead of planning; nothing is called.", "", &[(DocumentKind::Call, own!("more-info.call.json"))]),
];

/// Summaries.
#[rustfmt::skip]
pub(crate) const GROUNDINGS: &[Example] = &[
    example("A summary with evidence", "Each quotation stands in the payload, character for character.", "", &[]),
    example("Quotation marks of another kind", "A model changed quotation marks; the nearest text shows the difference.", "UNGROUNDED", &[(DocumentKind::Summary, own!("typographic.summary.json"))]),
    example("A number with marks", "A number was written with separators that the payload doesn't have.", "UNGROUNDED", &[(DocumentKind::Summary, own!("marks.summary.json"))]),
    example("Put together from two places", "The quotation joins two places of the payload, and stands at neither.", "UNGROUNDED", &[(DocumentKind::Summary, own!("across.summary.json"))]),
    example("Evidence that is too short", "A quotation of a few characters proves nothing.", "EVIDENCE_TOO_SHORT", &[(DocumentKind::Summary, own!("short.summary.json"))]),
    example("Made up", "The payload has no text like the quotation.", "UNGROUNDED", &[(DocumentKind::Summary, own!("made-up.summary.json"))]),
];
