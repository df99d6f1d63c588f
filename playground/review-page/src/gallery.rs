//! The list of the examples, from simple to advanced. A test of the worker includes this file: it
//! uses nothing of the page.

use crate::example::{Example, Texts};
use agent_answer::DocumentKind;
use agent_worker_protocol::review::{
    EARLIER_INDEX, EARLIER_LOCK, EARLIER_MANIFEST, EARLIER_POLICY,
};

macro_rules! own {
    ($file:literal) => {
        include_str!(concat!("../examples/", $file))
    };
}

/// The texts of the first visit. Examples replace some of these texts.
#[rustfmt::skip]
pub(crate) const BASIS: Texts = &[
    (EARLIER_LOCK, own!("before.agents.lock")),
    (DocumentKind::Lock, own!("agents.lock")),
    (EARLIER_MANIFEST, own!("before.agents.md")),
    (DocumentKind::Manifest, own!("agents.md")),
    (EARLIER_INDEX, own!("before.mcp.index.json")),
    (DocumentKind::Index, own!("mcp.index.json")),
    (EARLIER_POLICY, own!("before.policy.rego")),
    (DocumentKind::Policy, own!("policy.rego")),
];

const fn review(
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

/// Reviews. The code is that of the first difference, or of the problem.
#[rustfmt::skip]
pub(crate) const REVIEWS: &[Example] = &[
    review("An agent gains a scope that writes", "The headline says so; a tool is new, and two definitions promise more than before.", "SCOPE_WIDENED", &[]),
    review("A change that only takes access away", "The same change the other way round: nothing needs a second look.", "AGENT_CHANGED", &[
        (EARLIER_LOCK, own!("agents.lock")),
        (DocumentKind::Lock, own!("before.agents.lock")),
        (EARLIER_MANIFEST, own!("agents.md")),
        (DocumentKind::Manifest, own!("before.agents.md")),
        (EARLIER_INDEX, own!("mcp.index.json")),
        (DocumentKind::Index, own!("before.mcp.index.json")),
        (EARLIER_POLICY, own!("policy.rego")),
        (DocumentKind::Policy, own!("before.policy.rego")),
    ]),
    review("No difference", "Both locks are the same.", "", &[
        (EARLIER_LOCK, own!("agents.lock")),
        (EARLIER_MANIFEST, own!("agents.md")),
        (EARLIER_INDEX, own!("mcp.index.json")),
        (EARLIER_POLICY, own!("policy.rego")),
    ]),
    review("Two versions of agents.md", "Without locks, each side is resolved against its index.", "SCOPE_WIDENED", &[
        (EARLIER_LOCK, ""),
        (DocumentKind::Lock, ""),
        (EARLIER_POLICY, ""),
        (DocumentKind::Policy, ""),
    ]),
    review("The first lock of an agent", "Without an earlier lock, all that the later one grants is new.", "REQUIREMENT_ADDED", &[
        (EARLIER_LOCK, ""),
        (EARLIER_MANIFEST, ""),
        (EARLIER_INDEX, ""),
        (EARLIER_POLICY, ""),
    ]),
    review("A lock that was cut off", "Nothing is compared until the lock can be read.", "JSON_SYNTAX", &[
        (DocumentKind::Lock, own!("cut.agents.lock")),
    ]),
];
