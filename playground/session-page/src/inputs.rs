//! The documents of the page.

use crate::gallery::{self, BASIS};
use crate::state::Sessions;
use agent_answer::DocumentKind;
use agent_ui::areas::Area;
use agent_ui::content::{Document, Documents, Gallery, Layout};
use agent_ui::example::Texts;
use agent_ui::names::Named;

/// Words in file names, and the documents that they mean.
const WORDS: [(&str, DocumentKind); 6] = [
    ("audit", DocumentKind::Evidence),
    ("index", DocumentKind::Index),
    ("context", DocumentKind::Context),
    ("tenant", DocumentKind::Tenant),
    ("task", DocumentKind::Task),
    ("call", DocumentKind::StepInput),
];

impl Documents for Sessions {
    #[rustfmt::skip]
    const DOCUMENTS: &'static [Document] = &[
        Document::new(DocumentKind::StepInput, "The call of the agent: the parameters of `tools/call`",
            "The parameters of `tools/call`, such as\n\n{ \"name\": \"…\", \"arguments\": {} }"),
        Document::new(DocumentKind::Evidence, "The audit log of `agent serve`",
            "Paste the audit log of `agent serve` here: a record on each line"),
        Document::new(DocumentKind::Manifest, "The agent, from which the lock is made unless one is given",
            "Paste agents.md here: without agents.lock, the lock is made from it"),
        Document::new(DocumentKind::Index, "The servers and their tools", "Paste mcp.index.json here"),
        Document::new(DocumentKind::Lock, "The lock, instead of the one that agents.md resolves to",
            "Optional. Paste agents.lock here. Without it, the lock is made from agents.md."),
        Document::new(DocumentKind::Policy, "The policy in Rego",
            "Optional. The policy in Rego, such as\n\npackage switchboard\n\nallowed_tools contains \
             tool.id if {\n  some tool in input.candidate_tools\n}"),
        Document {
            below: Some(DocumentKind::Policy),
            ..Document::new(DocumentKind::Context, "Data for the policy, as input.context",
                "Optional. Data for the policy, as input.context, such as\n\nregion: eu")
        },
        Document::new(DocumentKind::Tenant, "The tenant: its token budget",
            "Optional. The tenant, such as\n\ntenants:\n  - id: acme\n    token_budget: 4000"),
        Document::new(DocumentKind::Task, "A task: the capabilities it requires",
            "Optional. The capabilities that a task requires, such as\n\ntask_id: find-papers\n\
             required_capabilities:\n  - verb: search\n    resource: internet"),
    ];
    const LAYOUTS: &'static [Layout] = &[
        (
            Area::Session,
            &[
                DocumentKind::StepInput,
                DocumentKind::Manifest,
                DocumentKind::Index,
                DocumentKind::Lock,
                DocumentKind::Policy,
                DocumentKind::Tenant,
                DocumentKind::Task,
            ],
        ),
        (
            Area::Audit,
            &[
                DocumentKind::Evidence,
                DocumentKind::Policy,
                DocumentKind::Manifest,
                DocumentKind::Index,
                DocumentKind::Lock,
                DocumentKind::Tenant,
                DocumentKind::Task,
            ],
        ),
    ];
    const GALLERIES: &'static [Gallery] = &[
        (Area::Session, "Calls of an agent", gallery::CALLS),
        (Area::Session, "An attack that is stopped", gallery::ATTACKS),
        (Area::Audit, "Audit logs", gallery::LOGS),
        (
            Area::Audit,
            "An attack that a rule would stop",
            gallery::ATTACK_LOGS,
        ),
    ];
    const INTRODUCTIONS: &'static [(Area, &'static str)] = &[
        (
            Area::Session,
            "`tools-call.json` is what an agent calls; `agents.md` and the index say what it gets. Edit any of \
             them: the decision follows.",
        ),
        (
            Area::Audit,
            "The log has the calls of a session. Edit `policy.rego`, `agents.md` or the index: the answer says \
             which calls they would decide otherwise.",
        ),
    ];
    const NAMES: &'static [Named] = &[
        (DocumentKind::Evidence, "agent.audit.jsonl", "evidence"),
        (DocumentKind::StepInput, "tools-call.json", "stepInput"),
    ];
    const BASIS: Texts = BASIS;
    const EXTENSIONS: &'static str = ".json,.jsonl,.lock,.md,.markdown,.rego,.yaml,.yml";
    const FILE_NAMES: &'static str =
        "`agents.md`, `mcp.index.json`, `agents.lock`, `policy.rego` or `agent.audit.jsonl`";

    fn document_of(_: Area, name: &str) -> Option<DocumentKind> {
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        if ends(&[".lock", ".lock.json"]) {
            return Some(DocumentKind::Lock);
        } else if ends(&[".md", ".markdown"]) {
            return Some(DocumentKind::Manifest);
        } else if ends(&[".rego"]) {
            return Some(DocumentKind::Policy);
        } else if ends(&[".jsonl"]) {
            return Some(DocumentKind::Evidence);
        }
        let (_, kind) = WORDS.into_iter().find(|(word, _)| name.contains(word))?;
        ends(&[".json", ".yaml", ".yml"]).then_some(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::{DocumentKind, Documents as _, Sessions};
    use agent_ui::areas::Area;

    #[test]
    fn every_document_is_in_an_area_and_every_area_has_only_documents() {
        let kinds: Vec<_> = Sessions::kinds().collect();
        for kind in &kinds {
            let mut areas = Sessions::LAYOUTS.iter();
            assert!(
                areas.any(|(area, _)| Sessions::shows(*area, *kind)),
                "{kind:?}"
            );
        }
        for (area, documents) in Sessions::LAYOUTS {
            assert!(documents.iter().all(|it| kinds.contains(it)), "{area:?}");
        }
    }

    #[test]
    fn files_are_known_by_their_names() {
        for (name, kind) in [
            ("agents.md", Some(DocumentKind::Manifest)),
            ("mcp.index.json", Some(DocumentKind::Index)),
            ("agents.lock", Some(DocumentKind::Lock)),
            ("agents.lock.json", Some(DocumentKind::Lock)),
            ("policy.rego", Some(DocumentKind::Policy)),
            ("agent.audit.jsonl", Some(DocumentKind::Evidence)),
            ("agent-audit.json", Some(DocumentKind::Evidence)),
            ("context.yaml", Some(DocumentKind::Context)),
            ("tenant.yaml", Some(DocumentKind::Tenant)),
            ("task.yml", Some(DocumentKind::Task)),
            ("reply.call.json", Some(DocumentKind::StepInput)),
            ("audit.txt", None),
            ("other.json", None),
            ("", None),
        ] {
            assert_eq!(Sessions::document_of(Area::Session, name), kind, "{name}");
        }
    }
}
