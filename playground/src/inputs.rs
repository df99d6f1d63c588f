//! The inputs: their editors, files that are brought, and what is kept for the next visit.

use crate::browser;
use crate::editor::{EditorPane, INPUTS, file_name};
use crate::page::{Page, count, use_page};
use crate::state::{Action, Notice};
use agent_protocol::{Severity, Source};
use gloo_timers::callback::Timeout;
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// The largest file that is taken, in bytes.
const FILE_LIMIT: u32 = 64 << 20;

/// The longest texts that are kept for the next visit, in UTF-16 units, all together: browsers
/// keep some five million, and writing them stops the page for a moment.
const KEPT_LIMIT: u32 = 1 << 20;

/// How long nothing must have been typed before the texts are kept, in milliseconds.
const KEEP_AFTER: u32 = 700;

/// The name under which the texts are kept.
const KEPT: &str = "agent-playground/texts";

/// All texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Texts {
    pub(crate) manifest: String,
    pub(crate) index: String,
    #[serde(default)]
    pub(crate) lock: String,
}

impl Texts {
    pub(crate) fn of(page: &Page) -> Self {
        let text = |source| String::from(page.editors.text(source));
        Self {
            manifest: text(Source::Manifest),
            index: text(Source::Index),
            lock: text(Source::Lock),
        }
    }

    /// What was kept at an earlier visit.
    pub(crate) fn kept() -> Option<Self> {
        serde_json::from_str(&browser::load(KEPT)?).ok()
    }

    /// Puts the texts into the editors, in place of everything.
    pub(crate) fn put(&self, page: &Page) {
        page.editors.load(Source::Manifest, &self.manifest);
        page.editors.load(Source::Index, &self.index);
        page.editors.load(Source::Lock, &self.lock);
        page.dispatch(Action::Replaced);
    }
}

/// Forgets what was kept.
pub(crate) fn forget() {
    browser::forget(KEPT);
}

/// Keeps the texts for the next visit, once nothing is typed for a moment.
#[hook]
pub(crate) fn use_autosave(page: &Page) {
    let page = page.clone();
    let told = use_mut_ref(|| false);
    use_effect_with(page.state.edits, move |edits| {
        let first = *edits == [0; INPUTS.len()];
        let timer = (!first).then(|| {
            Timeout::new(KEEP_AFTER, move || {
                let length: u32 = INPUTS.map(|s| page.editors.text(s).length()).iter().sum();
                let kept = length <= KEPT_LIMIT
                    && serde_json::to_string(&Texts::of(&page))
                        .is_ok_and(|texts| browser::store(KEPT, &texts));
                if kept {
                    *told.borrow_mut() = false;
                } else if !told.replace(true) {
                    // What was kept before is older than what is here.
                    forget();
                    page.dispatch(Notice::alarm(
                        "The inputs are too large to be kept for the next visit: save them as files",
                    ));
                }
            })
        });
        move || drop(timer)
    });
}

/// Which input a file is meant for, by its name.
fn input_of(name: &str) -> Option<Source> {
    let name = name.to_ascii_lowercase();
    if name.ends_with(".lock") || name.ends_with(".lock.json") {
        Some(Source::Lock)
    } else if name.ends_with(".json") {
        Some(Source::Index)
    } else if name.ends_with(".md") || name.ends_with(".markdown") {
        Some(Source::Manifest)
    } else {
        None
    }
}

/// Reads files into the editors, each into the one that its name tells.
pub(crate) fn take_files(page: Page, files: web_sys::FileList) {
    spawn_local(async move {
        let mut taken = Vec::new();
        let mut refused = Vec::new();
        for file in browser::read_files(&files, FILE_LIMIT).await {
            match (input_of(&file.name), file.text) {
                (Some(source), Some(text)) => {
                    page.editors.replace(source, &text);
                    page.dispatch(Action::ShowInput(source));
                    taken.push(source);
                }
                (None, _) => refused.push(format!(
                    "{}: not a name of `agents.md`, `mcp.index.json` or `agents.lock`",
                    file.name
                )),
                (_, None) => {
                    refused.push(format!("{}: more than {} MB", file.name, FILE_LIMIT >> 20))
                }
            }
        }
        let names: Vec<_> = taken.iter().map(|source| file_name(*source)).collect();
        page.dispatch(if refused.is_empty() {
            Action::Tell(Notice {
                text: format!("Opened {}", names.join(", ")),
                alarming: false,
                undo: taken,
            })
        } else {
            Notice::alarm(format!("Not opened: {}", refused.join("; ")))
        });
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
    let lower = [Source::Index, Source::Lock].map(|source| {
        let shown = page.state.lower == source;
        html! {
            <button
                class="input-name"
                aria-pressed={shown.to_string()}
                onclick={page.on(move || Action::ShowInput(source))}
            >
                { file_name(source) }
                { problems(&page, source) }
            </button>
        }
    });
    let hidden = |source| (page.state.lower != source).then_some("hidden");
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
                <div class={classes!("input-body", hidden(Source::Index))}>
                    { editor(Source::Index, "Paste mcp.index.json here") }
                </div>
                <div class={classes!("input-body", hidden(Source::Lock))}>
                    { editor(Source::Lock, "Paste an existing agents.lock here to see what would change") }
                </div>
            </div>
        </section>
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
        };
        let json = r#"{"manifest":"m","index":"i","lock":"l"}"#;
        assert_eq!(serde_json::to_string(&texts).unwrap(), json);
        assert_eq!(serde_json::from_str::<Texts>(json).unwrap(), texts);

        let older = r#"{"manifest":"m","index":"i"}"#;
        assert_eq!(serde_json::from_str::<Texts>(older).unwrap().lock, "");
    }
}
