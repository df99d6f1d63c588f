//! The inputs: their editors, files that are brought, and what is kept for the next visit.

use crate::page::{Page, use_page};
use crate::state::Action;
use agent_protocol::{DocumentKind, Severity};
use agent_ui::browser;
use agent_ui::editor::{EditorPane, file_name};
use agent_ui::files::{self, Taken};
use agent_ui::keeping::{self, use_keeping};
use agent_ui::notice::Notice;
use agent_ui::words::count;
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::{FileList, HtmlInputElement};
use yew::prelude::*;

/// The inputs that have an editor, in the order in which they are shown.
pub(crate) const INPUTS: [DocumentKind; 8] = [
    DocumentKind::Manifest,
    DocumentKind::Index,
    DocumentKind::Lock,
    DocumentKind::Task,
    DocumentKind::Tenant,
    DocumentKind::Health,
    DocumentKind::Policy,
    DocumentKind::Context,
];

/// The inputs below the manifest that can be brought to the front. The context of a policy is
/// beside it.
pub(crate) const LOWER: [DocumentKind; 6] = [
    DocumentKind::Index,
    DocumentKind::Lock,
    DocumentKind::Task,
    DocumentKind::Tenant,
    DocumentKind::Health,
    DocumentKind::Policy,
];

/// The name under which the texts are kept.
const KEPT: &str = "agent-playground/texts";

/// All texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Texts {
    pub(crate) manifest: String,
    pub(crate) index: String,
    #[serde(default)]
    pub(crate) lock: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) task: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) tenant: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) tenant_id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) health: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) policy: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) context: String,
}

impl Texts {
    pub(crate) fn of(page: &Page) -> Self {
        let text = |source| String::from(page.editors.text(source));
        Self {
            manifest: text(DocumentKind::Manifest),
            index: text(DocumentKind::Index),
            lock: text(DocumentKind::Lock),
            task: text(DocumentKind::Task),
            tenant: text(DocumentKind::Tenant),
            tenant_id: page.state.tenant_id.to_string(),
            health: text(DocumentKind::Health),
            policy: text(DocumentKind::Policy),
            context: text(DocumentKind::Context),
        }
    }

    /// The text of an input.
    pub(crate) fn get(&self, source: DocumentKind) -> &str {
        match source {
            DocumentKind::Manifest => &self.manifest,
            DocumentKind::Index => &self.index,
            DocumentKind::Lock => &self.lock,
            DocumentKind::Task => &self.task,
            DocumentKind::Tenant => &self.tenant,
            DocumentKind::Health => &self.health,
            DocumentKind::Policy => &self.policy,
            DocumentKind::Context => &self.context,
            // The others belong to other areas.
            _ => "",
        }
    }

    /// What was kept at an earlier visit.
    pub(crate) fn kept() -> Option<Self> {
        serde_json::from_str(&browser::load(KEPT)?).ok()
    }

    /// Puts the texts into the editors, in place of everything.
    pub(crate) fn put(&self, page: &Page) {
        for source in INPUTS {
            page.editors.load(source, self.get(source));
        }
        page.dispatch(Action::Replaced(self.tenant_id.as_str().into()));
    }
}

/// Forgets what was kept.
pub(crate) fn forget() {
    browser::forget(KEPT);
}

/// Keeps the texts for the next visit.
#[hook]
pub(crate) fn use_autosave(page: &Page) {
    let keep = {
        let page = page.clone();
        move || {
            let length: u32 = INPUTS.map(|s| page.editors.text(s).length()).iter().sum();
            length <= keeping::LIMIT
                && serde_json::to_string(&Texts::of(&page))
                    .is_ok_and(|texts| browser::store(KEPT, &texts))
        }
    };
    let lose = {
        let page = page.clone();
        move || {
            forget();
            page.dispatch(Notice::alarm(keeping::LOST));
        }
    };
    use_keeping(page.state.edits, keep, lose);
}

/// Which input a file is meant for, by its name.
fn input_of(name: &str) -> Option<DocumentKind> {
    let name = name.to_ascii_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if ends(&[".lock", ".lock.json"]) {
        return Some(DocumentKind::Lock);
    } else if ends(&[".md", ".markdown"]) {
        return Some(DocumentKind::Manifest);
    } else if ends(&[".rego"]) {
        return Some(DocumentKind::Policy);
    }
    // These are YAML or JSON, and an index is JSON.
    let named = [
        ("index", DocumentKind::Index),
        ("task", DocumentKind::Task),
        ("tenant", DocumentKind::Tenant),
        ("health", DocumentKind::Health),
        ("context", DocumentKind::Context),
    ];
    let named = named.into_iter().find(|(word, _)| name.contains(word));
    match named.map(|(_, source)| source) {
        Some(source) if source != DocumentKind::Index && ends(&[".json", ".yaml", ".yml"]) => {
            Some(source)
        }
        _ => ends(&[".json"]).then_some(DocumentKind::Index),
    }
}

/// Reads files into the editors.
pub(crate) fn take_files(page: Page, files: FileList) {
    spawn_local(async move {
        let known = "`agents.md`, `mcp.index.json`, `task.yaml` or `policy.rego`";
        let Taken { sources, notice } = files::take(&files, &page.editors, input_of, known).await;
        for source in sources {
            page.dispatch(Action::ShowInput(source));
        }
        page.dispatch(notice);
    });
}

/// The editors of the inputs.
#[component]
pub(crate) fn Inputs() -> Html {
    let page = use_page();
    let on_change = {
        let dispatcher = page.state.dispatcher();
        use_callback((), move |source, ()| {
            dispatcher.dispatch(Action::Edited(source));
        })
    };
    let editor = |source, placeholder: &'static str| {
        let editors = Rc::clone(&page.editors);
        html! { <EditorPane {source} {editors} {placeholder} on_change={on_change.clone()} /> }
    };
    let lower = LOWER.map(|source| {
        let shown = page.state.lower == source;
        // An index may be large, and is there.
        let filled = source == DocumentKind::Index || page.editors.is_filled(source);
        html! {
            <button
                class={classes!("input-name", (!filled).then_some("blank"))}
                aria-pressed={shown.to_string()}
                title={about(source)}
                onclick={page.on(move || Action::ShowInput(source))}
            >
                { file_name(source) }
                if !filled { <span class="visually-hidden">{ ", empty" }</span> }
                { problems(&page, source) }
            </button>
        }
    });
    let body = |source, shown: Html| {
        let hidden = (page.state.lower != source).then_some("hidden");
        html! { <div class={classes!("input-body", hidden)}>{ shown }</div> }
    };
    html! {
        <section class="inputs" aria-label="Inputs">
            <div class="input manifest">
                <h2 class="input-head">
                    <span class="input-name">
                        { file_name(DocumentKind::Manifest) }
                        { problems(&page, DocumentKind::Manifest) }
                    </span>
                </h2>
                { editor(DocumentKind::Manifest, "Paste agents.md here") }
            </div>
            <div class="input lower">
                <div class="input-head" role="group" aria-label="Which input to see">
                    { for lower }
                </div>
                { body(DocumentKind::Index, editor(DocumentKind::Index, "Paste mcp.index.json here")) }
                { body(DocumentKind::Lock, editor(
                    DocumentKind::Lock,
                    "Paste an existing agents.lock here to see what would change",
                )) }
                { body(DocumentKind::Task, editor(DocumentKind::Task, TASK)) }
                { body(DocumentKind::Tenant, html! {
                    <>
                        <WhichTenant />
                        { editor(DocumentKind::Tenant, TENANT) }
                    </>
                }) }
                { body(DocumentKind::Health, editor(DocumentKind::Health, HEALTH)) }
                { body(DocumentKind::Policy, html! {
                    <>
                        { editor(DocumentKind::Policy, POLICY) }
                        <h3 class="input-head context">
                            <span class="input-name" title={about(DocumentKind::Context)}>
                                { file_name(DocumentKind::Context) }
                                { problems(&page, DocumentKind::Context) }
                            </span>
                        </h3>
                        { editor(DocumentKind::Context, CONTEXT) }
                    </>
                }) }
            </div>
        </section>
    }
}

// What stands in empty editors: what they are for, and an example.

const TASK: &str = "Optional. What a task must be able to do, such as\n\ntask_id: find-papers\n\
    required_capabilities:\n  - verb: search\n    resource: internet";

const TENANT: &str = "Optional. Whom it is done for, such as\n\ntenants:\n  - id: acme\n    \
    token_budget: 4000\n    priorities:\n      classes: { local: 30, paid: 20 }";

const HEALTH: &str = "Optional. How the servers do, such as\n\nbrave-search: HEALTHY\n\
    old-search: UNHEALTHY\n\nOne that is not listed is unhealthy.";

const POLICY: &str = "Optional. A policy in Rego, such as\n\npackage switchboard\n\n\
    allowed_tools contains tool.id if {\n  some tool in input.candidate_tools\n  tool.signed\n}";

const CONTEXT: &str = "Optional. What the policy finds in input.context, such as\n\nhour: 14";

/// What an input is, in a few words.
fn about(source: DocumentKind) -> &'static str {
    match source {
        DocumentKind::Manifest => "The agent: what it requires",
        DocumentKind::Index => "The servers that there are",
        DocumentKind::Lock => "An existing lock, to compare with",
        DocumentKind::Task => "A task: the capabilities it requires",
        DocumentKind::Tenant => "The tenants: priorities, policy and token budget",
        DocumentKind::Health => "How the servers do",
        DocumentKind::Policy => "A policy in Rego: which tools are allowed",
        DocumentKind::Context => "What the policy is told besides: input.context",
        _ => "",
    }
}

/// Which tenant is meant.
#[component]
fn WhichTenant() -> Html {
    let page = use_page();
    let oninput = {
        let dispatcher = page.state.dispatcher();
        Callback::from(move |event: InputEvent| {
            if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                dispatcher.dispatch(Action::NameTenant(input.value().into()));
            }
        })
    };
    html! {
        <label class="which">
            { "Tenant" }
            <input
                placeholder="the only one"
                spellcheck="false"
                autocomplete="off"
                value={page.state.tenant_id.to_string()}
                {oninput}
            />
        </label>
    }
}

/// How many problems an input has, if it has any.
fn problems(page: &Page, source: DocumentKind) -> Html {
    let Some(verdict) = &page.state.verdict else {
        return html! {};
    };
    let of = |severity| {
        let found = verdict.diagnostics.iter().filter(|found| {
            let label = found.labels.first();
            found.severity == severity && label.is_some_and(|label| label.place.source == source)
        });
        found.count() as u32
    };
    let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
    html! {
        <>
            if errors > 0 {
                <span class="badge error">{ count(errors, "error") }</span>
            }
            if warnings > 0 {
                <span class="badge warning">{ count(warnings, "warning") }</span>
            }
        </>
    }
}

#[cfg(test)]
mod tests {
    use super::{Texts, input_of};
    use agent_protocol::DocumentKind;

    #[test]
    fn a_file_is_meant_for_the_input_that_its_name_tells() {
        for (name, source) in [
            ("agents.md", Some(DocumentKind::Manifest)),
            ("AGENTS.MD", Some(DocumentKind::Manifest)),
            ("support.markdown", Some(DocumentKind::Manifest)),
            ("mcp.index.json", Some(DocumentKind::Index)),
            ("servers.JSON", Some(DocumentKind::Index)),
            ("agents.lock", Some(DocumentKind::Lock)),
            ("Agents.Lock", Some(DocumentKind::Lock)),
            ("agents.lock.json", Some(DocumentKind::Lock)),
            // Without a name before it, still.
            (".json", Some(DocumentKind::Index)),
            ("policy.rego", Some(DocumentKind::Policy)),
            ("task.yaml", Some(DocumentKind::Task)),
            ("my-task.JSON", Some(DocumentKind::Task)),
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
            assert_eq!(input_of(name), source, "{name}");
        }
    }

    /// What is kept in browsers lives on.
    #[test]
    fn the_form_of_what_is_kept() {
        let texts = Texts {
            manifest: "m".to_owned(),
            index: "i".to_owned(),
            lock: "l".to_owned(),
            ..Texts::default()
        };
        let json = r#"{"manifest":"m","index":"i","lock":"l"}"#;
        assert_eq!(serde_json::to_string(&texts).unwrap(), json);
        assert_eq!(serde_json::from_str::<Texts>(json).unwrap(), texts);

        let texts = Texts {
            task: "t".to_owned(),
            tenant: "n".to_owned(),
            tenant_id: "d".to_owned(),
            health: "h".to_owned(),
            policy: "p".to_owned(),
            context: "c".to_owned(),
            ..texts
        };
        let json = r#"{"manifest":"m","index":"i","lock":"l","task":"t","tenant":"n","tenant_id":"d","health":"h","policy":"p","context":"c"}"#;
        assert_eq!(serde_json::to_string(&texts).unwrap(), json);
        assert_eq!(serde_json::from_str::<Texts>(json).unwrap(), texts);

        let older = r#"{"manifest":"m","index":"i"}"#;
        assert_eq!(serde_json::from_str::<Texts>(older).unwrap().lock, "");
    }
}
