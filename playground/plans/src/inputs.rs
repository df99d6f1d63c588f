//! The inputs: their editors, files that are brought, and what is kept for the next visit.

use crate::actor::{Page, use_page};
use crate::examples::BASIS;
use crate::marks;
use crate::state::{Action, Pane};
use agent_protocol::{Diagnostic, DocumentKind};
use agent_ui::areas::Area;
use agent_ui::browser;
use agent_ui::editor::{EditorPane, file_name};
use agent_ui::files::{self, Taken};
use agent_ui::keeping::{self, use_keeping};
use agent_ui::notice::Notice;
use agent_ui::words::count;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::FileList;
use yew::prelude::*;

/// The inputs that have an editor.
pub(crate) const INPUTS: [DocumentKind; 10] = [
    DocumentKind::Plan,
    DocumentKind::Call,
    DocumentKind::Payload,
    DocumentKind::ToolPool,
    DocumentKind::Profile,
    DocumentKind::Request,
    DocumentKind::Lock,
    DocumentKind::Index,
    DocumentKind::Catalogue,
    DocumentKind::Summary,
];

/// The input that is always in sight in an area.
pub(crate) fn upper(area: Area) -> DocumentKind {
    match area {
        Area::Call => DocumentKind::Call,
        Area::Grounding => DocumentKind::Payload,
        Area::Servers | Area::Plans => DocumentKind::Plan,
    }
}

/// The inputs below it, of which one is in sight.
pub(crate) fn lower(area: Area) -> &'static [DocumentKind] {
    match area {
        Area::Call => &[
            DocumentKind::Index,
            DocumentKind::Lock,
            DocumentKind::Catalogue,
        ],
        Area::Grounding => &[DocumentKind::Summary],
        Area::Servers | Area::Plans => &[
            DocumentKind::ToolPool,
            DocumentKind::Profile,
            DocumentKind::Request,
            DocumentKind::Lock,
            DocumentKind::Index,
            DocumentKind::Catalogue,
        ],
    }
}

/// All inputs of an area.
pub(crate) fn of_area(area: Area) -> impl Iterator<Item = DocumentKind> {
    [upper(area)].into_iter().chain(lower(area).iter().copied())
}

/// The name under which the text of an input is kept.
fn kept_as(source: DocumentKind) -> String {
    format!("agent-playground/plans/{}", file_name(source))
}

/// Fills the editors at the beginning: from the last visit, or with the first example.
pub(crate) fn open(page: &Page) {
    for source in INPUTS {
        match browser::load(&kept_as(source)) {
            Some(text) => page.editors.load(source, &text),
            None => page.editors.load(source, text_of(BASIS, source)),
        }
    }
    page.dispatch(Action::Replaced(INPUTS.to_vec()));
}

/// The text of an input among some; blank if it is not among them.
pub(crate) fn text_of(
    texts: &[(DocumentKind, &'static str)],
    source: DocumentKind,
) -> &'static str {
    let text = texts.iter().find(|(each, _)| *each == source);
    text.map_or("", |(_, text)| text)
}

/// Puts texts into the editors, in place of these inputs.
pub(crate) fn put(
    page: &Page,
    sources: Vec<DocumentKind>,
    text: impl Fn(DocumentKind) -> &'static str,
) {
    for source in &sources {
        page.editors.load(*source, text(*source));
    }
    page.dispatch(Action::Replaced(sources));
}

/// Forgets what was kept.
pub(crate) fn forget() {
    for source in INPUTS {
        browser::forget(&kept_as(source));
    }
}

/// Keeps the texts for the next visit, those that are not as they were at the first.
#[hook]
pub(crate) fn use_autosave(page: &Page) {
    let keep = {
        let page = page.clone();
        move || {
            let texts = INPUTS.map(|source| (source, page.editors.text(source)));
            let length: u32 = texts.iter().map(|(_, text)| text.length()).sum();
            length <= keeping::LIMIT
                && texts.into_iter().all(|(source, text)| {
                    let text = String::from(text);
                    if text == text_of(BASIS, source) {
                        browser::forget(&kept_as(source));
                        return true;
                    }
                    browser::store(&kept_as(source), &text)
                })
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

/// Which input a file is meant for, by its name and by the area that is seen.
fn input_of(area: Area, name: &str) -> Option<DocumentKind> {
    let name = name.to_ascii_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if ends(&[".lock", ".lock.json"]) {
        return Some(DocumentKind::Lock);
    } else if !ends(&[".json"]) {
        return None;
    }
    let named = [
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
    let named = named.into_iter().find(|(word, _)| name.contains(word));
    match named.map(|(_, source)| source) {
        // What a planner wrote is of the kind that is looked at.
        Some(DocumentKind::Plan) if area == Area::Call => Some(DocumentKind::Call),
        found => found,
    }
}

/// Reads files into the editors.
pub(crate) fn take_files(page: Page, files: FileList) {
    spawn_local(async move {
        let known = "`plan.json`, `tool-pool.json`, `agents.lock` or `payload.json`";
        let area = page.state.area;
        let source_of = |name: &str| input_of(area, name);
        let Taken { sources, notice } = files::take(&files, &page.editors, source_of, known).await;
        // Where none of them is seen, go where the first one is.
        if let Some(first) = sources.first()
            && !of_area(area).any(|source| sources.contains(&source))
        {
            let areas = [Area::Plans, Area::Call, Area::Grounding];
            let other = areas
                .into_iter()
                .find(|it| of_area(*it).any(|of| of == *first));
            if let Some(other) = other {
                other.open();
            }
        }
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
    let area = page.state.area;
    let found = marks::diagnostics(&page.state);
    let pane = |source: DocumentKind, shown: bool| {
        let hidden = (!shown).then_some("hidden");
        html! {
            <div key={file_name(source)} class={classes!("input-body", hidden)}>
                <EditorPane
                    {source}
                    editors={Rc::clone(&page.editors)}
                    placeholder={placeholder(source)}
                    on_change={on_change.clone()}
                />
            </div>
        }
    };
    let is_upper = |source: DocumentKind| {
        matches!(
            source,
            DocumentKind::Plan | DocumentKind::Call | DocumentKind::Payload
        )
    };
    let (uppers, lowers): (Vec<_>, Vec<_>) =
        INPUTS.into_iter().partition(|source| is_upper(*source));
    let uppers = uppers.into_iter().map(|it| pane(it, it == upper(area)));
    let lowers = lowers
        .into_iter()
        .map(|it| pane(it, it == page.state.lower));
    let names = lower(area).iter().map(|source| {
        let source = *source;
        let blank = !page.editors.is_filled(source);
        html! {
            <button
                key={file_name(source)}
                class={classes!("input-name", blank.then_some("blank"))}
                aria-pressed={(page.state.lower == source).to_string()}
                title={about(source)}
                onclick={page.on(move || Action::ShowInput(source))}
            >
                { file_name(source) }
                if blank { <span class="visually-hidden">{ ", empty" }</span> }
                { problems(&found, source) }
            </button>
        }
    });
    html! {
        <section class="inputs" aria-label="Inputs">
            <div class="input manifest">
                <h2 class="input-head">
                    <span class="input-name" title={about(upper(area))}>
                        { file_name(upper(area)) }
                        { problems(&found, upper(area)) }
                    </span>
                </h2>
                { for uppers }
            </div>
            <div class="input lower">
                <div class="input-head" role="group" aria-label="Which input to see">
                    { for names }
                </div>
                { for lowers }
            </div>
        </section>
    }
}

/// Where there is room for one thing only: what to see.
#[component]
pub(crate) fn Panes() -> Html {
    let page = use_page();
    let item = |pane: Pane, name: &'static str| {
        let current = page.state.pane == pane;
        html! {
            <button
                key={name}
                aria-pressed={current.to_string()}
                onclick={page.on(move || Action::OpenPane(pane))}
            >
                { name }
            </button>
        }
    };
    let inputs = of_area(page.state.area).map(|it| item(Pane::Input(it), file_name(it)));
    html! {
        <nav class="panes" aria-label="Parts of the page">
            { for inputs }
            { item(Pane::Answer, "Answer") }
        </nav>
    }
}

/// What stands in an empty editor.
fn placeholder(source: DocumentKind) -> &'static str {
    match source {
        DocumentKind::Call => {
            "Paste what a planner answered: one JSON object, such as\n\n\
             { \"type\": \"call_tool\", \"server\": \"…\", \"tool\": \"…\", \"args\": {} }"
        }
        DocumentKind::Plan => "Paste a plan here",
        DocumentKind::ToolPool => "Paste a tool pool here: the tools that a plan may name",
        DocumentKind::Profile => {
            "Paste an instruction profile here: what a plan may use, and how much"
        }
        DocumentKind::Request => "Optional. The request that the plan answers",
        DocumentKind::Lock => {
            "Optional. agents.lock, without which no tool of an MCP server may be called"
        }
        DocumentKind::Index => "Paste mcp.index.json here",
        DocumentKind::Catalogue => {
            "Optional. The tools that servers have at the moment, by their ids:\n\n\
             { \"acme-reports\": { \"tools\": [] } }\n\nWithout it those of the index."
        }
        DocumentKind::Summary => {
            "Paste a summary here, such as\n\n[{ \"claim\": \"…\", \"evidence\": \"…\" }]"
        }
        DocumentKind::Payload => "Paste what a tool returned: any JSON",
        _ => "",
    }
}

/// What an input is, in a few words.
fn about(source: DocumentKind) -> &'static str {
    match source {
        DocumentKind::Call => "A plan of one call",
        DocumentKind::Plan => "A plan: the steps",
        DocumentKind::ToolPool => "The tools that a plan may name",
        DocumentKind::Profile => "The instruction profile: what a plan may use, and how much",
        DocumentKind::Request => "The request that the plan answers",
        DocumentKind::Lock => "What was locked",
        DocumentKind::Index => "The servers that there are",
        DocumentKind::Catalogue => "The tools that servers have at the moment",
        DocumentKind::Summary => "Claims, and the evidence of each",
        DocumentKind::Payload => "What a tool returned",
        _ => "",
    }
}

/// How many errors an input has.
fn problems(found: &[Diagnostic], source: DocumentKind) -> Html {
    let errors = marks::errors(found, source);
    html! {
        if errors > 0 {
            <span class="badge" aria-label={count(errors, "error")}>{ errors }</span>
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{INPUTS, input_of, of_area};
    use agent_protocol::DocumentKind;
    use agent_ui::areas::Area;

    #[test]
    fn every_input_is_in_an_area_and_every_area_has_only_inputs() {
        let areas = [Area::Plans, Area::Call, Area::Grounding];
        for source in INPUTS {
            assert!(
                areas
                    .iter()
                    .any(|area| of_area(*area).any(|it| it == source)),
                "{source:?}"
            );
        }
        for area in areas {
            assert!(
                of_area(area).all(|source| INPUTS.contains(&source)),
                "{area:?}"
            );
        }
    }

    #[test]
    fn files_are_known_by_their_names() {
        for (name, source) in [
            ("plan.json", Some(DocumentKind::Plan)),
            ("mcp.plan.json", Some(DocumentKind::Plan)),
            ("call.json", Some(DocumentKind::Call)),
            ("tool-pool.json", Some(DocumentKind::ToolPool)),
            ("PROFILE.JSON", Some(DocumentKind::Profile)),
            ("request.json", Some(DocumentKind::Request)),
            ("agents.lock", Some(DocumentKind::Lock)),
            ("agents.lock.json", Some(DocumentKind::Lock)),
            ("mcp.index.json", Some(DocumentKind::Index)),
            ("catalog.json", Some(DocumentKind::Catalogue)),
            ("catalogue.json", Some(DocumentKind::Catalogue)),
            ("summary.json", Some(DocumentKind::Summary)),
            ("payload.json", Some(DocumentKind::Payload)),
            ("tool-result.json", Some(DocumentKind::Payload)),
            ("plan.yaml", None),
            ("other.json", None),
            ("", None),
        ] {
            assert_eq!(input_of(Area::Plans, name), source, "{name}");
        }
        assert_eq!(input_of(Area::Call, "plan.json"), Some(DocumentKind::Call));
    }
}
