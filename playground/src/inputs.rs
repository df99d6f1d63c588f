//! The documents of the page.

use crate::gallery;
use crate::recognition::{can_be_imported, is_configuration};
use crate::state::Servers;
use crate::tour::STEPS;
use agent_answer::DocumentKind;
use agent_ui::areas::Area;
use agent_ui::content::{Diversion, Document, Documents, Gallery, Layout};
use agent_ui::names::Named;
use agent_ui::tour::Step;

/// Words in names of YAML and JSON files.
const WORDS: [(&str, DocumentKind); 5] = [
    ("index", DocumentKind::Index),
    ("task", DocumentKind::Task),
    ("tenant", DocumentKind::Tenant),
    ("health", DocumentKind::Health),
    ("context", DocumentKind::Context),
];

impl Documents for Servers {
    #[rustfmt::skip]
    const DOCUMENTS: &'static [Document] = &[
        Document::new(DocumentKind::Manifest, "The agent and its requirements",
            "Paste agents.md here"),
        Document::new(DocumentKind::Index, "The available servers", 
            "Paste mcp.index.json here, or the configuration of an MCP client to import it"),
        Document {
            is_passing: true,
            ..Document::new(DocumentKind::Import, "A document with servers for the index",
                "Paste the configuration of your MCP client, such as mcp.json, claude_desktop_config.json \
                 or config.toml; or a server.json, or an answer to tools/list.\n\n\
                 The browser keeps none of it, and no link has it.")
        },
        Document {
            is_passing: true,
            below: Some(DocumentKind::Import),
            ..Document::new(DocumentKind::Overlay, "What the document does not say of its servers",
                "Optional")
        },
        Document::new(DocumentKind::Lock, "An existing lock to compare with",
            "Paste an existing agents.lock here to see what would change"),
        Document::new(DocumentKind::Task, "A task: the capabilities it requires",
            "Optional. The capabilities that a task requires, such as\n\ntask_id: find-papers\n\
             required_capabilities:\n  - verb: search\n    resource: internet"),
        Document::new(DocumentKind::Tenant, "The tenants: priorities, policy and token budget",
            "Optional. The tenants, such as\n\ntenants:\n  - id: acme\n    token_budget: 4000\n    \
             priorities:\n      classes: { local: 30, paid: 20 }"),
        Document::new(DocumentKind::Health, "The server health snapshot",
            "Optional. A server health snapshot, such as\n\nbrave-search: HEALTHY\n\
             old-search: UNHEALTHY\n\nUnlisted servers count as unhealthy."),
        Document::new(DocumentKind::Policy, "A policy in Rego: the tools that are allowed",
            "Optional. A policy in Rego, such as\n\npackage switchboard\n\nallowed_tools contains \
             tool.id if {\n  some tool in input.candidate_tools\n  tool.signed\n}"),
        Document {
            below: Some(DocumentKind::Policy),
            ..Document::new(DocumentKind::Context, "Data for the policy, as input.context",
                "Optional. Data for the policy, as input.context, such as\n\nhour: 14")
        },
    ];
    const LAYOUTS: &'static [Layout] = &[(
        Area::Servers,
        &[
            DocumentKind::Manifest,
            DocumentKind::Index,
            DocumentKind::Import,
            DocumentKind::Lock,
            DocumentKind::Task,
            DocumentKind::Tenant,
            DocumentKind::Health,
            DocumentKind::Policy,
        ],
    )];
    const GALLERIES: &'static [Gallery] = &[
        (Area::Servers, "Start here", gallery::START),
        (Area::Servers, "Servers say no", gallery::REFUSED),
        (Area::Servers, "Broken documents", gallery::BROKEN),
        (Area::Servers, "Policies", gallery::POLICIES),
        (Area::Servers, "An attack that is stopped", gallery::ATTACKS),
        (Area::Servers, "Since the lock", gallery::LOCKS),
    ];
    const INTRODUCTIONS: &'static [(Area, &'static str)] = &[(
        Area::Servers,
        "`agents.md` says what the agent needs, `mcp.index.json` which servers exist. Edit either: \
         the answer follows.",
    )];
    const TOUR: &'static [Step] = STEPS;
    const DIVERSION: Option<Diversion> = Some(Diversion {
        from: &[
            (DocumentKind::Index, can_be_imported),
            (DocumentKind::Manifest, is_configuration),
        ],
        to: DocumentKind::Import,
        label: "Paste your own configuration",
    });
    const NAMES: &'static [Named] = &[(DocumentKind::Import, "import", "import")];
    const EXTENSIONS: &'static str = ".md,.markdown,.json,.jsonc,.lock,.yaml,.yml,.toml,.rego";
    const FILE_NAMES: &'static str = "`agents.md`, `mcp.index.json`, `task.yaml` or `policy.rego`";

    fn document_of(_: Area, name: &str) -> Option<DocumentKind> {
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        if ends(&[".lock", ".lock.json"]) {
            return Some(DocumentKind::Lock);
        } else if ends(&[".md", ".markdown"]) {
            return Some(DocumentKind::Manifest);
        } else if ends(&[".rego"]) {
            return Some(DocumentKind::Policy);
        }
        let named = WORDS.into_iter().find(|(word, _)| name.contains(word));
        match named {
            Some((_, kind)) if kind != DocumentKind::Index => {
                ends(&[".json", ".yaml", ".yml"]).then_some(kind)
            }
            // An index is JSON, and any other JSON may be one.
            _ => ends(&[".json"]).then_some(DocumentKind::Index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Area, DocumentKind, Documents as _, Servers};
    use agent_ui::saved::SavedInputs;

    #[test]
    fn a_file_name_selects_the_document() {
        for (name, kind) in [
            ("agents.md", Some(DocumentKind::Manifest)),
            ("support.markdown", Some(DocumentKind::Manifest)),
            ("mcp.index.json", Some(DocumentKind::Index)),
            ("servers.json", Some(DocumentKind::Index)),
            ("agents.lock", Some(DocumentKind::Lock)),
            ("agents.lock.json", Some(DocumentKind::Lock)),
            // Without a name before it, still.
            (".json", Some(DocumentKind::Index)),
            ("policy.rego", Some(DocumentKind::Policy)),
            ("task.yaml", Some(DocumentKind::Task)),
            ("my-task.json", Some(DocumentKind::Task)),
            ("tenants.yml", Some(DocumentKind::Tenant)),
            ("health.json", Some(DocumentKind::Health)),
            ("context.yaml", Some(DocumentKind::Context)),
            ("tasks.index.json", Some(DocumentKind::Index)),
            ("index.yaml", None),
            ("servers.yaml", None),
            ("agents.md.txt", None),
            ("agents.lock.bak", None),
            ("json", None),
            ("", None),
        ] {
            assert_eq!(Servers::document_of(Area::Servers, name), kind, "{name}");
        }
    }

    fn read(fields: &[(&str, Option<&str>)]) -> Result<SavedInputs, String> {
        let fields = fields.iter();
        let fields = fields.map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)));
        SavedInputs::of_fields::<Servers>(fields)
    }

    /// Browsers and links keep inputs for later versions.
    #[test]
    fn the_saved_form() {
        let all = SavedInputs::new(Servers::kinds(), |kind| kind.usual_name().to_owned());
        let fields: Vec<_> = all.fields().collect();
        let expected = [
            ("context", "context.yaml"),
            ("health", "health.yaml"),
            ("index", "mcp.index.json"),
            ("lock", "agents.lock"),
            ("manifest", "agents.md"),
            ("policy", "policy.rego"),
            ("task", "task.yaml"),
            ("tenant", "tenant.yaml"),
        ];
        assert_eq!(fields, expected);
        assert_eq!(
            read(&expected.map(|(name, text)| (name, Some(text)))),
            Ok(all)
        );

        // Additions of a later version are ignored, and what is missing is empty.
        let manifest = "---\nname: \"𝄞\"\n---\n";
        let fields = [
            ("plan", None),
            ("engine", Some("99.0.0")),
            ("manifest", Some(manifest)),
            ("tenant_id", Some("t")),
        ];
        let saved = read(&fields).unwrap();
        assert_eq!(saved.field("engine"), "99.0.0");
        assert_eq!(saved.field("tenant_id"), "t");
        assert_eq!(saved.text(DocumentKind::Manifest), manifest);
        assert_eq!(saved.text(DocumentKind::Lock), "");
        assert_eq!(saved.area::<Servers>(), Area::Servers);
        assert_eq!(saved.title::<Servers>(), "name: \"𝄞\"");
    }

    #[test]
    fn unreadable_inputs_are_refused() {
        let none = "it holds no document of this page";
        for (fields, reason) in [
            (&[][..], none),
            (&[("engine", Some("0.1.0"))], none),
            (&[("plan", Some("a"))], none),
            (&[("manifest", None)], "`manifest` is not a text"),
            (
                &[("index", Some("a")), ("lock", None)],
                "`lock` is not a text",
            ),
        ] {
            assert_eq!(read(fields), Err(reason.to_owned()), "{fields:?}");
        }
    }

    #[test]
    fn texts_of_examples_are_nobodys_work_until_they_are_edited() {
        let mut saved = SavedInputs::new(Servers::kinds(), |kind| {
            Servers::first_text(kind).to_owned()
        });
        assert!(!saved.is_of_examples::<Servers>());
        saved.set("untouched", "yes".to_owned());
        assert!(saved.is_of_examples::<Servers>());
        let first = saved.clone();
        saved.set("engine", "0.1.0".to_owned());
        assert!(saved.is_of_examples::<Servers>() && saved.is_same::<Servers>(&first));
        saved.set("tenant_id", "acme".to_owned());
        assert!(!saved.is_of_examples::<Servers>() && !saved.is_same::<Servers>(&first));
        let edited = SavedInputs::new(Servers::kinds(), |kind| {
            format!("{} ", Servers::first_text(kind))
        });
        assert!(!edited.is_of_examples::<Servers>() && !edited.is_same::<Servers>(&first));
    }
}
