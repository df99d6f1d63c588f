//! The list of the examples, from simple to advanced. A test of the worker reads it, too: without
//! anything of the page in it.

use agent_protocol::Source;
use agent_protocol::plans::Matter;

/// An example.
pub(crate) struct Example {
    /// What it shows, in a few words.
    pub(crate) title: &'static str,
    /// The code that it shows. Empty: all is well.
    pub(crate) code: &'static str,
    /// What is decided in it.
    pub(crate) matter: Matter,
    /// The inputs that are others than those of [`BASIS`].
    pub(crate) texts: &'static [(Source, &'static str)],
}

impl Example {
    /// The text of an input.
    pub(crate) fn text(&self, source: Source) -> &'static str {
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
pub(crate) const BASIS: &[(Source, &str)] = &[
    (Source::Plan, given!("mcp.plan.json")),
    (Source::ToolPool, given!("tool-pool.json")),
    (Source::Profile, given!("profile.json")),
    (Source::Request, given!("request.json")),
    (Source::Index, given!("mcp.index.json")),
    (Source::Lock, own!("agents.lock")),
    (Source::Call, given!("call.json")),
    (Source::Payload, given!("payload.json")),
    (Source::Summary, given!("summary.json")),
];

const fn call(
    title: &'static str,
    code: &'static str,
    texts: &'static [(Source, &'static str)],
) -> Example {
    Example {
        title,
        code,
        matter: Matter::Call,
        texts,
    }
}

const fn grounding(
    title: &'static str,
    code: &'static str,
    texts: &'static [(Source, &'static str)],
) -> Example {
    Example {
        title,
        code,
        matter: Matter::Grounding,
        texts,
    }
}

/// All of them.
#[rustfmt::skip]
pub(crate) const EXAMPLES: &[Example] = &[
    call("A call that may be made", "", &[]),
    call("A tool that is misspelt", "TOOL_UNKNOWN", &[(Source::Call, own!("misspelt-tool.call.json"))]),
    call("An argument that is misspelt", "ARGUMENT_UNKNOWN", &[(Source::Call, own!("misspelt-argument.call.json"))]),
    call("More than the tool gives", "ARGUMENT_INVALID", &[(Source::Call, own!("too-many.call.json"))]),
    call("A tool that writes, and is forbidden", "FORBIDDEN_ACTION", &[(Source::Call, own!("forbidden.call.json"))]),
    call("A tool that was changed since", "DEFINITION_CHANGED", &[(Source::Catalogue, own!("changed.catalogue.json"))]),
    call("Nothing is locked", "LOCK_MISSING", &[(Source::Lock, "")]),
    call("Prose around a plan", "PLAN_NOT_JSON", &[(Source::Call, own!("prose.call.txt"))]),
    call("More has to be known", "", &[(Source::Call, own!("more-info.call.json"))]),
    grounding("A summary with evidence", "", &[]),
    grounding("Quotation marks of another kind", "UNGROUNDED", &[(Source::Summary, own!("typographic.summary.json"))]),
    grounding("A number with marks", "UNGROUNDED", &[(Source::Summary, own!("marks.summary.json"))]),
    grounding("Put together from two places", "UNGROUNDED", &[(Source::Summary, own!("across.summary.json"))]),
    grounding("Too little to prove anything", "EVIDENCE_TOO_SHORT", &[(Source::Summary, own!("short.summary.json"))]),
    grounding("Made up", "UNGROUNDED", &[(Source::Summary, own!("made-up.summary.json"))]),
];
