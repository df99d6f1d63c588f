//! The inputs: their editors, files that are brought, and what is kept for the next visit.

use crate::page::{Page, use_page};
use crate::state::Action;
use agent_frame::browser;
use agent_frame::editor::{EditorPane, file_name};
use agent_frame::files::{self, Taken};
use agent_frame::keeping::{self, use_keeping};
use agent_frame::notice::Notice;
use agent_frame::words::count;
use agent_protocol::{Severity, Source};
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::{FileList, HtmlInputElement};
use yew::prelude::*;

/// The inputs that have an editor, in the order in which they are shown.
pub(crate) const INPUTS: [Source; 8] = [
    Source::Manifest,
    Source::Index,
    Source::Lock,
    Source::Task,
    Source::Tenant,
    Source::Health,
    Source::Policy,
    Source::Context,
];

/// The inputs below the manifest that can be brought to the front. The context of a policy is
/// beside it.
pub(crate) const LOWER: [Source; 6] = [
    Source::Index,
    Source::Lock,
    Source::Task,
    Source::Tenant,
    Source::Health,
    Source::Policy,
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
            manifest: text(Source::Manifest),
            index: text(Source::Index),
            lock: text(Source::Lock),
            task: text(Source::Task),
            tenant: text(Source::Tenant),
            tenant_id: page.state.tenant_id.to_string(),
            health: text(Source::Health),
            policy: text(Source::Policy),
            context: text(Source::Context),
        }
    }

    /// The text of an input.
    pub(crate) fn get(&self, source: Source) -> &str {
        match source {
            Source::Manifest => &self.manifest,
            Source::Index => &self.index,
            Source::Lock => &self.lock,
            Source::Task => &self.task,
            Source::Tenant => &self.tenant,
            Source::Health => &self.health,
            Source::Policy => &self.policy,
            Source::Context => &self.context,
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
fn input_of(name: &str) -> Option<Source> {
    let name = name.to_ascii_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if ends(&[".lock", ".lock.json"]) {
        return Some(Source::Lock);
    } else if ends(&[".md", ".markdown"]) {
        return Some(Source::Manifest);
    } else if ends(&[".rego"]) {
        return Some(Source::Policy);
    }
    // These are YAML or JSON, and an index is JSON.
    let named = [
        ("index", Source::Index),
        ("task", Source::Task),
        ("tenant", Source::Tenant),
        ("health", Source::Health),
        ("context", Source::Context),
    ];
    let named = named.into_iter().find(|(word, _)| name.contains(word));
    match named.map(|(_, source)| source) {
        Some(source) if source != Source::Index && ends(&[".json", ".yaml", ".yml"]) => {
            Some(source)
        }
        _ => ends(&[".json"]).then_some(Source::Index),
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
        let filled = source == Source::Index || page.editors.is_filled(source);
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
                        { file_name(Source::Manifest) }
                        { problems(&page, Source::Manifest) }
                    </span>
                </h2>
                { editor(Source::Manifest, "Paste agents.md here") }
            </div>
            <div class="input lower">
                <div class="input-head" role="group" aria-label="Which input to see">
                    { for lower }
                </div>
                { body(Source::Index, editor(Source::Index, "Paste mcp.index.json here")) }
                { body(Source::Lock, editor(
                    Source::Lock,
                    "Paste an existing agents.lock here to see what would change",
                )) }
                { body(Source::Task, editor(Source::Task, TASK)) }
                { body(Source::Tenant, html! {
                    <>
                        <WhichTenant />
                        { editor(Source::Tenant, TENANT) }
                    </>
                }) }
                { body(Source::Health, editor(Source::Health, HEALTH)) }
                { body(Source::Policy, html! {
                    <>
                        { editor(Source::Policy, POLICY) }
                        <h3 class="input-head context">
                            <span class="input-name" title={about(Source::Context)}>
                                { file_name(Source::Context) }
                                { problems(&page, Source::Context) }
                            </span>
                        </h3>
                        { editor(Source::Context, CONTEXT) }
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
fn about(source: Source) -> &'static str {
    match source {
        Source::Manifest => "The agent: what it requires",
        Source::Index => "The servers that there are",
        Source::Lock => "An existing lock, to compare with",
        Source::Task => "A task: the capabilities it requires",
        Source::Tenant => "The tenants: priorities, policy and token budget",
        Source::Health => "How the servers do",
        Source::Policy => "A policy in Rego: which tools are allowed",
        Source::Context => "What the policy is told besides: input.context",
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
fn problems(page: &Page, source: Source) -> Html {
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
    use agent_protocol::Source;

    #[test]
    fn a_file_is_meant_for_the_input_that_its_name_tells() {
        for (name, source) in [
            ("agents.md", Some(Source::Manifest)),
            ("AGENTS.MD", Some(Source::Manifest)),
            ("support.markdown", Some(Source::Manifest)),
            ("mcp.index.json", Some(Source::Index)),
            ("servers.JSON", Some(Source::Index)),
            ("agents.lock", Some(Source::Lock)),
            ("Agents.Lock", Some(Source::Lock)),
            ("agents.lock.json", Some(Source::Lock)),
            // Without a name before it, still.
            (".json", Some(Source::Index)),
            ("policy.rego", Some(Source::Policy)),
            ("task.yaml", Some(Source::Task)),
            ("my-task.JSON", Some(Source::Task)),
            ("tenants.yml", Some(Source::Tenant)),
            ("health.json", Some(Source::Health)),
            ("context.yaml", Some(Source::Context)),
            ("tasks.index.json", Some(Source::Index)),
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
