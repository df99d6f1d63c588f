//! The lists of the examples, from simple to advanced. A test of the worker includes this file: it
//! uses nothing of the page.

use crate::example::{Example, Texts};
use agent_answer::DocumentKind;

macro_rules! own {
    ($file:literal) => {
        include_str!(concat!("../examples/", $file))
    };
}

/// The folder of the files that are loaded when an example with them is opened.
const FOLDER: &str = "session";

/// The texts of the first visit. Examples replace some of these texts.
#[rustfmt::skip]
pub(crate) const BASIS: Texts = &[
    (DocumentKind::StepInput, own!("reply.call.json")),
    (DocumentKind::Manifest, own!("agents.md")),
    (DocumentKind::Index, own!("mcp.index.json")),
    (DocumentKind::Evidence, own!("agent.audit.jsonl")),
];

macro_rules! call {
    ($title:literal, $shows:literal, $code:literal, $file:literal $(, $kind:ident: $own:literal)*) => {
        Example {
            title: $title,
            shows: $shows,
            code: $code,
            folder: "",
            texts: &[
                $((DocumentKind::$kind, own!($own)),)*
                (DocumentKind::StepInput, own!($file)),
            ],
        }
    };
}

/// Calls of an agent.
#[rustfmt::skip]
pub(crate) const CALLS: &[Example] = &[
    call!("A call that a human must approve", "The reply leaves the house. Make the call, approve it, and it is passed on once.", "", "reply.call.json"),
    call!("A call that is passed on", "The tool is in the lock, and its input schema allows the arguments.", "", "find.call.json"),
    call!("A tool that the lock forbids", "The server offers the tool, and the agent never sees it.", "FORBIDDEN_ACTION", "delete.call.json"),
    call!("An argument above the maximum", "The input schema of the lock refuses the value before the server gets it.", "ARGUMENT_INVALID", "too-many.call.json"),
    call!("A tool that is misspelt", "No server has the tool; the similar one is proposed.", "", "misspelt.call.json"),
    call!("A tool on demand, by its own name", "Tools on demand are not on the list: a helper calls them.", "EXPANSION_DENIED", "by-name.call.json"),
    call!("A helper expands two tools", "The agent gets two definitions, and pays only for them.", "", "expand.call.json"),
    call!("A reply that a policy refuses", "A policy sees the arguments of each call.", "POLICY_DENIED", "reply.call.json", Policy: "policy.rego"),
];

/// Calls that would carry data out.
#[rustfmt::skip]
pub(crate) const ATTACKS: &[Example] = &[
    Example {
        title: "Private mail, then a post",
        shows: "Make this call, answer it, and call `publish`: a rule of the tenant refuses it.",
        code: "",
        folder: FOLDER,
        texts: &[
            (DocumentKind::Manifest, "leak.agents.md"),
            (DocumentKind::Index, "leak.index.json"),
            (DocumentKind::Tenant, "leak.tenant.yaml"),
            (DocumentKind::StepInput, "leak.read.call.json"),
        ],
    },
];

const fn decided(
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

/// Audit logs.
#[rustfmt::skip]
pub(crate) const LOGS: &[Example] = &[
    decided("Decided as recorded", "The same documents decide every call of the log as before.", "", &[]),
    decided("Another policy", "A new policy refuses calls that were allowed, and says why.", "REPLAY_DIFFERS", &[(DocumentKind::Policy, own!("policy.rego"))]),
    decided("Fewer tools", "The new lock has a tool less, and its calls are refused.", "REPLAY_DIFFERS", &[(DocumentKind::Manifest, own!("fewer-tools.agents.md"))]),
    decided("A record that was changed", "A changed log is refused.", "AUDIT_CHANGED", &[(DocumentKind::Evidence, own!("changed.audit.jsonl"))]),
];

/// Logs of attacks.
#[rustfmt::skip]
pub(crate) const ATTACK_LOGS: &[Example] = &[
    Example {
        title: "A leak that a rule stops",
        shows: "The agent read mail, then published a note. A rule about earlier calls refuses the note.",
        code: "REPLAY_DIFFERS",
        folder: FOLDER,
        texts: &[
            (DocumentKind::Manifest, "leak.agents.md"),
            (DocumentKind::Index, "leak.index.json"),
            (DocumentKind::Evidence, "leak.audit.jsonl"),
            (DocumentKind::Tenant, "leak.tenant.yaml"),
        ],
    },
];
