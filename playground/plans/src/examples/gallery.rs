//! The list of the examples, from simple to advanced. A test of the worker reads it, too: without
//! anything of the page in it.

use agent_protocol::DocumentKind;
use agent_protocol::plans::RequestKind;

/// An example.
pub(crate) struct Example {
    /// What it shows, in a few words.
    pub(crate) title: &'static str,
    /// The code that it shows. Empty: all is well.
    pub(crate) code: &'static str,
    /// What is decided in it.
    pub(crate) matter: RequestKind,
    /// The inputs that are others than those of [`BASIS`].
    pub(crate) texts: Texts,
}

impl Example {
    /// The text of an input.
    pub(crate) fn text(&self, source: DocumentKind) -> &'static str {
        let mut texts = self.texts.iter().chain(BASIS);
        let text = texts.find(|(each, _)| *each == source);
        text.map_or("", |(_, text)| text)
    }
}

macro_rules! given {
    ($file:literal) => {
        include_str!(concat!("../../../../examples/plans/", $file))
    };
}

macro_rules! own {
    ($file:literal) => {
        include_str!(concat!("../../examples/", $file))
    };
}

/// What the first visit shows: the plans of the folder `examples`, and the lock that is resolved
/// of it. An input that is not among them is blank.
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

/// The inputs that an example has of its own.
type Texts = &'static [(DocumentKind, &'static str)];

const fn plan(title: &'static str, code: &'static str, texts: Texts) -> Example {
    let matter = RequestKind::Plan;
    Example {
        title,
        code,
        matter,
        texts,
    }
}

const fn call(title: &'static str, code: &'static str, texts: Texts) -> Example {
    let matter = RequestKind::Call;
    Example {
        title,
        code,
        matter,
        texts,
    }
}

const fn grounding(title: &'static str, code: &'static str, texts: Texts) -> Example {
    let matter = RequestKind::Grounding;
    Example {
        title,
        code,
        matter,
        texts,
    }
}

/// The plan over HTTP answers no request that is here.
const HTTP: Texts = &[
    (DocumentKind::Plan, given!("http.plan.json")),
    (DocumentKind::Request, ""),
];

/// All of them.
#[rustfmt::skip]
pub(crate) const EXAMPLES: &[Example] = &[
    plan("Two steps: what one gives the other takes", "", &[]),
    plan("Over HTTP, without a lock", "", HTTP),
    plan("A step whose tool is misspelt", "TOOL_UNKNOWN", &[(DocumentKind::Plan, own!("misspelt-tool.plan.json"))]),
    plan("A step that is misspelt", "validation_failed", &[(DocumentKind::Plan, own!("misspelt-step.plan.json"))]),
    plan("A part that no output has", "validation_failed", &[(DocumentKind::Plan, own!("no-such-part.plan.json"))]),
    plan("A step that asks for too many", "ARGUMENT_INVALID", &[(DocumentKind::Plan, own!("too-many.plan.json"))]),
    plan("Another port of the same host", "destination_denied", &[(DocumentKind::Plan, own!("another-port.plan.json")), (DocumentKind::Request, "")]),
    plan("A method that is not bound", "policy_denied", &[(DocumentKind::Plan, own!("another-method.plan.json")), (DocumentKind::Request, "")]),
    plan("No rule allows it", "policy_denied", &[(DocumentKind::Profile, own!("no-rule.profile.json"))]),
    plan("A rule denies it", "FORBIDDEN_ACTION", &[(DocumentKind::Profile, own!("denied.profile.json"))]),
    plan("Longer than the cap", "limit_exceeded", &[(DocumentKind::Profile, own!("small-caps.profile.json"))]),
    plan("A cap is missing", "policy_denied", &[(DocumentKind::Profile, own!("no-cap.profile.json"))]),
    plan("The answer to another request", "validation_failed", &[(DocumentKind::Request, own!("another.request.json"))]),
    plan("Nothing is locked for the steps", "LOCK_MISSING", &[(DocumentKind::Lock, "")]),
    plan("Everything at once", "TOOL_UNKNOWN", &[(DocumentKind::Plan, own!("everything.plan.json"))]),
    call("A call that may be made", "", &[]),
    call("A tool that is misspelt", "TOOL_UNKNOWN", &[(DocumentKind::Call, own!("misspelt-tool.call.json"))]),
    call("An argument that is misspelt", "ARGUMENT_UNKNOWN", &[(DocumentKind::Call, own!("misspelt-argument.call.json"))]),
    call("More than the tool gives", "ARGUMENT_INVALID", &[(DocumentKind::Call, own!("too-many.call.json"))]),
    call("A tool that writes, and is forbidden", "FORBIDDEN_ACTION", &[(DocumentKind::Call, own!("forbidden.call.json"))]),
    call("A tool that was changed since", "DEFINITION_CHANGED", &[(DocumentKind::Catalogue, own!("changed.catalogue.json"))]),
    call("Nothing is locked", "LOCK_MISSING", &[(DocumentKind::Lock, "")]),
    call("Prose around a plan", "PLAN_NOT_JSON", &[(DocumentKind::Call, own!("prose.call.txt"))]),
    call("More has to be known", "", &[(DocumentKind::Call, own!("more-info.call.json"))]),
    grounding("A summary with evidence", "", &[]),
    grounding("Quotation marks of another kind", "UNGROUNDED", &[(DocumentKind::Summary, own!("typographic.summary.json"))]),
    grounding("A number with marks", "UNGROUNDED", &[(DocumentKind::Summary, own!("marks.summary.json"))]),
    grounding("Put together from two places", "UNGROUNDED", &[(DocumentKind::Summary, own!("across.summary.json"))]),
    grounding("Too little to prove anything", "EVIDENCE_TOO_SHORT", &[(DocumentKind::Summary, own!("short.summary.json"))]),
    grounding("Made up", "UNGROUNDED", &[(DocumentKind::Summary, own!("made-up.summary.json"))]),
];
