//! The documents of the page: the later ones, and the earlier ones in the kinds that stand for them.

use crate::gallery::{self, BASIS};
use crate::state::Reviews;
use agent_answer::DocumentKind;
use agent_ui::areas::Area;
use agent_ui::content::{Document, Documents, Gallery, Layout};
use agent_ui::example::Texts;
use agent_ui::names::Named;
use agent_worker_protocol::review::{
    EARLIER_INDEX, EARLIER_LOCK, EARLIER_MANIFEST, EARLIER_POLICY, earlier,
};

/// Words in names of files of the earlier documents.
const BEFORE: [&str; 5] = ["before", "base", "earlier", "old", "previous"];

impl Documents for Reviews {
    #[rustfmt::skip]
    const DOCUMENTS: &'static [Document] = &[
        Document::new(EARLIER_LOCK, "The earlier lock",
            "Paste the earlier agents.lock here. Without it, the lock is made from before/agents.md and its index."),
        Document::new(DocumentKind::Lock, "The later lock",
            "Paste the later agents.lock here. Without it, the lock is made from agents.md and its index."),
        Document::new(EARLIER_MANIFEST, "The earlier agents.md", "Optional. Paste the earlier agents.md here"),
        Document::new(DocumentKind::Manifest, "The later agents.md", "Optional. Paste the later agents.md here"),
        Document::new(EARLIER_INDEX, "The earlier index, for the definitions of tools",
            "Optional. Paste the earlier mcp.index.json here: with both, definitions are compared"),
        Document::new(DocumentKind::Index, "The later index, for the definitions of tools",
            "Optional. Paste the later mcp.index.json here: with both, definitions are compared"),
        Document::new(EARLIER_POLICY, "The earlier policy in Rego", "Optional. Paste the earlier policy.rego here"),
        Document::new(DocumentKind::Policy, "The later policy in Rego", "Optional. Paste the later policy.rego here"),
    ];
    const LAYOUTS: &'static [Layout] = &[(
        Area::Review,
        &[
            EARLIER_LOCK,
            DocumentKind::Lock,
            EARLIER_MANIFEST,
            DocumentKind::Manifest,
            EARLIER_INDEX,
            DocumentKind::Index,
            EARLIER_POLICY,
            DocumentKind::Policy,
        ],
    )];
    const GALLERIES: &'static [Gallery] = &[(Area::Review, "Reviews", gallery::REVIEWS)];
    const INTRODUCTIONS: &'static [(Area, &'static str)] = &[(
        Area::Review,
        "Above is the lock before a change, below the one after it. The answer says what the change gives the \
         agent, more access first.",
    )];
    #[rustfmt::skip]
    const NAMES: &'static [Named] = &[
        (EARLIER_LOCK, "before/agents.lock", "beforeLock"),
        (EARLIER_MANIFEST, "before/agents.md", "beforeManifest"),
        (EARLIER_INDEX, "before/mcp.index.json", "beforeIndex"),
        (EARLIER_POLICY, "before/policy.rego", "beforePolicy"),
    ];
    const BASIS: Texts = BASIS;
    const EXTENSIONS: &'static str = ".json,.lock,.md,.markdown,.rego";
    const FILE_NAMES: &'static str =
        "`agents.lock`, `before-agents.lock`, `agents.md`, `mcp.index.json` or `policy.rego`";

    fn document_of(_: Area, name: &str) -> Option<DocumentKind> {
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        let kind = if ends(&[".lock", ".lock.json"]) {
            DocumentKind::Lock
        } else if ends(&[".md", ".markdown"]) {
            DocumentKind::Manifest
        } else if ends(&[".rego"]) {
            DocumentKind::Policy
        } else if ends(&[".json"]) {
            DocumentKind::Index
        } else {
            return None;
        };
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        Some(match words.any(|word| BEFORE.contains(&word)) {
            true => earlier(kind),
            false => kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Area, DocumentKind, Documents as _, EARLIER_INDEX, EARLIER_LOCK, EARLIER_MANIFEST,
        EARLIER_POLICY, Reviews,
    };
    use agent_ui::names::{call_documents, document_name};
    use agent_ui::saved::SavedInputs;
    use agent_worker_protocol::review::EARLIER;

    #[test]
    fn each_document_has_an_earlier_one_of_the_same_name() {
        call_documents(Reviews::NAMES);
        assert_eq!(Reviews::kinds().count(), 2 * EARLIER.len());
        let documents = Reviews::layout(Area::Review).unwrap();
        for (kind, earlier) in EARLIER {
            assert!(documents.contains(&kind) && documents.contains(&earlier));
            let name = document_name(earlier);
            assert_eq!(
                name.strip_prefix("before/"),
                Some(document_name(kind)),
                "{name}"
            );
        }
    }

    #[test]
    fn a_file_name_selects_the_document() {
        for (name, kind) in [
            ("agents.lock", Some(DocumentKind::Lock)),
            ("before-agents.lock", Some(EARLIER_LOCK)),
            ("agents.old.lock.json", Some(EARLIER_LOCK)),
            ("agents.md", Some(DocumentKind::Manifest)),
            ("base.agents.md", Some(EARLIER_MANIFEST)),
            ("mcp.index.json", Some(DocumentKind::Index)),
            ("before_index.json", Some(EARLIER_INDEX)),
            ("policy.rego", Some(DocumentKind::Policy)),
            ("previous.rego", Some(EARLIER_POLICY)),
            ("holdings.rego", Some(DocumentKind::Policy)),
            ("agents.txt", None),
            ("", None),
        ] {
            assert_eq!(Reviews::document_of(Area::Review, name), kind, "{name}");
        }
    }

    /// Links are made by others too, such as a job of a pull request.
    #[test]
    fn the_shared_form() {
        call_documents(Reviews::NAMES);
        let saved = SavedInputs::new(Reviews::kinds(), |kind| document_name(kind).to_owned());
        let fields: Vec<_> = saved.fields().collect();
        assert_eq!(
            fields,
            [
                ("beforeIndex", "before/mcp.index.json"),
                ("beforeLock", "before/agents.lock"),
                ("beforeManifest", "before/agents.md"),
                ("beforePolicy", "before/policy.rego"),
                ("index", "mcp.index.json"),
                ("lock", "agents.lock"),
                ("manifest", "agents.md"),
                ("policy", "policy.rego"),
            ]
        );
    }
}
