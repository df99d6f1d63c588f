//! The documents of the page.

use crate::gallery::{self, BASIS};
use crate::state::Plans;
use agent_answer::DocumentKind;
use agent_ui::areas::Area;
use agent_ui::content::{Document, Documents, Gallery, Layout};
use agent_ui::example::Texts;

/// Words in file names, and the documents that they mean.
const WORDS: [(&str, DocumentKind); 10] = [
    ("pool", DocumentKind::ToolPool),
    ("profile", DocumentKind::Profile),
    ("request", DocumentKind::Request),
    ("catalog", DocumentKind::Catalogue),
    ("index", DocumentKind::Index),
    ("summary", DocumentKind::Summary),
    ("payload", DocumentKind::Payload),
    ("result", DocumentKind::Payload),
    ("call", DocumentKind::Call),
    ("plan", DocumentKind::Plan),
];

impl Documents for Plans {
    #[rustfmt::skip]
    const DOCUMENTS: &'static [Document] = &[
        Document::new(DocumentKind::Plan, "The plan and its steps", "Paste a plan here"),
        Document::new(DocumentKind::Call, "A plan of one call",
            "Paste the answer of a planner here: one JSON object, such as\n\n\
             { \"type\": \"call_tool\", \"server\": \"…\", \"tool\": \"…\", \"args\": {} }"),
        Document::new(DocumentKind::Payload, "The result of a tool",
            "Paste the result of a tool here: any JSON"),
        Document::new(DocumentKind::ToolPool, "The tools that a plan may name",
            "Paste a tool pool here: the tools that a plan may name"),
        Document::new(DocumentKind::Profile, "What a plan may use, and how much",
            "Paste an instruction profile here: what a plan may use, and how much"),
        Document::new(DocumentKind::Request, "The request that the plan answers",
            "Optional. The request that the plan answers"),
        Document::new(DocumentKind::Lock, "The lock",
            "Optional. agents.lock; without it, no plan may call a tool of an MCP server"),
        Document::new(DocumentKind::Index, "The available servers", "Paste mcp.index.json here"),
        Document::new(DocumentKind::Catalogue, "The current tools of the servers",
            "Optional. The current tools of the servers, by server id:\n\n\
             { \"acme-reports\": { \"tools\": [] } }\n\nWithout it, those of the index count."),
        Document::new(DocumentKind::Policy, "The policy that the lock names",
            "Optional. The policy in Rego that the lock names; without it, no tool of such a lock may be called"),
        Document::new(DocumentKind::Summary, "The claims, and the evidence of each",
            "Paste a summary here, such as\n\n[{ \"claim\": \"…\", \"evidence\": \"…\" }]"),
    ];
    const LAYOUTS: &'static [Layout] = &[
        (
            Area::Plans,
            &[
                DocumentKind::Plan,
                DocumentKind::ToolPool,
                DocumentKind::Profile,
                DocumentKind::Request,
                DocumentKind::Lock,
                DocumentKind::Index,
                DocumentKind::Catalogue,
                DocumentKind::Policy,
            ],
        ),
        (
            Area::Call,
            &[
                DocumentKind::Call,
                DocumentKind::Index,
                DocumentKind::Lock,
                DocumentKind::Catalogue,
                DocumentKind::Policy,
            ],
        ),
        (
            Area::Grounding,
            &[DocumentKind::Payload, DocumentKind::Summary],
        ),
    ];
    const GALLERIES: &'static [Gallery] = &[
        (Area::Plans, "Plans of several steps", gallery::PLANS),
        (Area::Call, "Plans of one call", gallery::CALLS),
        (Area::Grounding, "Groundings", gallery::GROUNDINGS),
    ];
    const INTRODUCTIONS: &'static [(Area, &'static str)] = &[
        (
            Area::Plans,
            "`plan.json` says what a model wants to do; the tool pool, the profile and the lock say \
             what it may. Edit any of them: the answer follows.",
        ),
        (
            Area::Call,
            "`call.json` is the call that a model wants to make; the index and the lock say whether \
             it may. Edit any of them: the answer follows.",
        ),
        (
            Area::Grounding,
            "Each claim of `summary.json` quotes `payload.json`, the result of a tool. Edit either: \
             the answer follows.",
        ),
    ];
    const BASIS: Texts = BASIS;
    const EXTENSIONS: &'static str = ".json,.lock,.rego";
    const FILE_NAMES: &'static str =
        "`plan.json`, `tool-pool.json`, `agents.lock` or `payload.json`";

    fn document_of(area: Area, name: &str) -> Option<DocumentKind> {
        if name.ends_with(".lock") || name.ends_with(".lock.json") {
            return Some(DocumentKind::Lock);
        } else if name.ends_with(".rego") {
            return Some(DocumentKind::Policy);
        } else if !name.ends_with(".json") {
            return None;
        }
        let (_, kind) = WORDS.into_iter().find(|(word, _)| name.contains(word))?;
        // Both kinds of plans have the same names.
        let is_call = kind == DocumentKind::Plan && area == Area::Call;
        Some(if is_call { DocumentKind::Call } else { kind })
    }
}

#[cfg(test)]
mod tests {
    use super::{DocumentKind, Documents as _, Plans};
    use agent_ui::areas::Area;

    #[test]
    fn every_document_is_in_an_area_and_every_area_has_only_documents() {
        let kinds: Vec<_> = Plans::kinds().collect();
        for kind in &kinds {
            assert!(
                Plans::LAYOUTS
                    .iter()
                    .any(|(area, _)| Plans::shows(*area, *kind)),
                "{kind:?}"
            );
        }
        for (area, documents) in Plans::LAYOUTS {
            assert!(documents.iter().all(|it| kinds.contains(it)), "{area:?}");
        }
    }

    #[test]
    fn files_are_known_by_their_names() {
        for (name, kind) in [
            ("plan.json", Some(DocumentKind::Plan)),
            ("mcp.plan.json", Some(DocumentKind::Plan)),
            ("call.json", Some(DocumentKind::Call)),
            ("tool-pool.json", Some(DocumentKind::ToolPool)),
            ("profile.json", Some(DocumentKind::Profile)),
            ("request.json", Some(DocumentKind::Request)),
            ("agents.lock", Some(DocumentKind::Lock)),
            ("agents.lock.json", Some(DocumentKind::Lock)),
            ("mcp.index.json", Some(DocumentKind::Index)),
            ("catalog.json", Some(DocumentKind::Catalogue)),
            ("catalogue.json", Some(DocumentKind::Catalogue)),
            ("policy.rego", Some(DocumentKind::Policy)),
            ("summary.json", Some(DocumentKind::Summary)),
            ("payload.json", Some(DocumentKind::Payload)),
            ("tool-result.json", Some(DocumentKind::Payload)),
            ("plan.yaml", None),
            ("other.json", None),
            ("", None),
        ] {
            assert_eq!(Plans::document_of(Area::Plans, name), kind, "{name}");
        }
        assert_eq!(
            Plans::document_of(Area::Call, "plan.json"),
            Some(DocumentKind::Call)
        );
    }
}
