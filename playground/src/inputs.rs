//! The documents of the page, and their stored form in browsers and links.

use crate::gallery;
use crate::state::{Page, Servers, name_tenant};
use agent_answer::DocumentKind;
use agent_ui::areas::Area;
use agent_ui::content::{Document, Documents, Gallery, Layout};
use serde_json::{Map, Value};

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
        Document::new(DocumentKind::Index, "The available servers", "Paste mcp.index.json here"),
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
            DocumentKind::Lock,
            DocumentKind::Task,
            DocumentKind::Tenant,
            DocumentKind::Health,
            DocumentKind::Policy,
        ],
    )];
    const GALLERIES: &'static [Gallery] =
        &[(Area::Servers, "Servers and tools", gallery::EXAMPLES)];
    const EXTENSIONS: &'static str = ".md,.markdown,.json,.lock,.yaml,.yml,.rego";
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

/// The names of the texts in stored form, and whether empty texts are stored. Links stay in use: every
/// later version must read them.
const NAMES: [(&str, DocumentKind, bool); 8] = [
    ("manifest", DocumentKind::Manifest, true),
    ("index", DocumentKind::Index, true),
    ("lock", DocumentKind::Lock, true),
    ("task", DocumentKind::Task, false),
    ("tenant", DocumentKind::Tenant, false),
    ("health", DocumentKind::Health, false),
    ("policy", DocumentKind::Policy, false),
    ("context", DocumentKind::Context, false),
];
const TENANT_ID: &str = "tenant_id";

/// The key under which the browser keeps the texts.
pub(crate) const KEPT: &str = "agent-playground/texts";

/// All texts by their names, and further fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Texts(pub(crate) Map<String, Value>);

impl Texts {
    /// Returns the texts of the editors.
    pub(crate) fn of(page: &Page) -> Self {
        let tenant_id = page.content().tenant_id.to_string();
        Self::new(|kind| page.editors.text(kind).into(), tenant_id)
    }

    /// Returns texts by the kinds of their documents, and the id of the tenant.
    pub(crate) fn new(text: impl Fn(DocumentKind) -> String, tenant_id: String) -> Self {
        let texts = NAMES.map(|(name, kind, always)| (name, text(kind), always));
        let texts = texts.into_iter().chain([(TENANT_ID, tenant_id, false)]);
        let written = texts.filter(|(_, text, always)| *always || !text.is_empty());
        let fields = written.map(|(name, text, _)| (name.to_owned(), text.into()));
        Self(fields.collect())
    }

    /// Reads the texts. Unknown fields may be those of a later version.
    ///
    /// # Errors
    /// The problem of the form, for the user.
    pub(crate) fn read(json: &str) -> Result<Self, String> {
        let fields: Map<_, _> = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let names = NAMES.into_iter().map(|(name, ..)| name);
        for name in names.chain([TENANT_ID]) {
            match fields.get(name) {
                Some(Value::String(_)) => {}
                None if !matches!(name, "manifest" | "index") => {}
                _ => return Err(format!("`{name}` is not a text")),
            }
        }
        Ok(Self(fields))
    }

    /// Returns the text of a document.
    pub(crate) fn get(&self, kind: DocumentKind) -> &str {
        let name = NAMES.into_iter().find(|(_, each, _)| *each == kind);
        name.map_or("", |(name, ..)| self.field(name))
    }

    /// Returns the id of the tenant.
    pub(crate) fn tenant_id(&self) -> &str {
        self.field(TENANT_ID)
    }

    /// Returns a field, which is empty if it is missing.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the texts as JSON.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// Loads the texts into the editors.
    pub(crate) fn load(&self, page: &Page) {
        page.load(Servers::kinds(), |kind| self.get(kind));
        let id = self.tenant_id().into();
        page.update(|state| name_tenant(state, id));
    }
}

#[cfg(test)]
mod tests {
    use super::{Area, DocumentKind, Documents as _, NAMES, Servers, Texts};

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

    /// Browsers and links keep texts for later versions.
    #[test]
    fn the_stored_form() {
        let text = |kind| match kind {
            DocumentKind::Manifest => "m",
            DocumentKind::Index => "i",
            _ => "",
        };
        let few = Texts::new(|kind| text(kind).to_owned(), String::new());
        // In any order.
        let json = r#"{"index":"i","lock":"","manifest":"m"}"#;
        assert_eq!(few.to_json(), json);
        assert_eq!(Texts::read(json), Ok(few));

        let name = |kind| NAMES.iter().find(|(_, each, _)| *each == kind).unwrap().0;
        let all = Texts::new(|kind| name(kind).to_owned(), "t".to_owned());
        let json = r#"{"context":"context","health":"health","index":"index","lock":"lock","manifest":"manifest","policy":"policy","task":"task","tenant":"tenant","tenant_id":"t"}"#;
        assert_eq!(all.to_json(), json);
        for (_, kind, _) in NAMES {
            assert_eq!(all.get(kind), name(kind));
        }
        assert_eq!(all.tenant_id(), "t");
        assert_eq!(Texts::read(json), Ok(all));

        let older = Texts::read(r#"{"manifest":"m","index":"i"}"#).unwrap();
        assert_eq!(older.get(DocumentKind::Lock), "");
    }
}
