//! The edits of the first minute.

use agent_answer::DocumentKind;
use agent_ui::tour::Step;

/// Each is an edit of the first example as the one before leaves it.
pub(crate) const STEPS: &[Step] = &[
    Step {
        says: "Move the agent's data: in `agents.md`, make `eu-only` `us-only`.",
        then: "The mailbox changed: `mail-eu` keeps data in the EU and is refused now. The funnel of mail says at which check.",
        kind: DocumentKind::Manifest,
        before: "residency: eu-only",
        after: "residency: us-only",
    },
    Step {
        says: "Ask for more: let the agent send mail, too, with `send:mail`.",
        then: "No server offers that, so the agent gets nothing. The card of mail says what is missing, and what would help.",
        kind: DocumentKind::Manifest,
        before: "permissions: [read:mail]",
        after: "permissions: [read:mail, send:mail]",
    },
    Step {
        says: "Let a server offer it: add `send:mail` to `mail-us` in `mcp.index.json`.",
        then: "Every requirement has a server again. The tab `agents.lock` has what may be used: `agent` holds each call to it.",
        kind: DocumentKind::Index,
        before: "\"write:mail\"],\n      \"data\": { \"residency\": \"us-only\"",
        after: "\"write:mail\", \"send:mail\"],\n      \"data\": { \"residency\": \"us-only\"",
    },
];

#[cfg(test)]
mod tests {
    use super::{DocumentKind, STEPS};
    use crate::state::Servers;
    use agent_ui::content::Documents as _;

    #[test]
    fn each_edit_is_one_of_what_is_there() {
        let mut texts = [DocumentKind::Manifest, DocumentKind::Index]
            .map(|kind| (kind, Servers::first_text(kind).to_owned()));
        for step in STEPS {
            let text = texts.iter_mut().find(|(kind, _)| *kind == step.kind);
            let (_, text) = text.unwrap();
            assert_eq!(text.matches(step.before).count(), 1, "{}", step.says);
            assert!(!text.contains(step.after), "{}", step.says);
            *text = text.replacen(step.before, step.after, 1);
            assert!(text.contains(step.after), "{}", step.says);
        }
    }
}
