//! The import of a document into the index.
//!
//! The document has an editor of its own, which nothing keeps: it may contain secrets. A module of the engine
//! that is loaded for the first document says what an import would do, and a button does it.

use crate::state::{Page, State};
use agent_answer::{Diagnostic, DocumentKind};
use agent_ui::answer::Wait;
use agent_ui::notice::{Notice, Undo};
use agent_ui::problems::{Problems, prose};
use agent_ui::state::Pane;
use agent_worker_protocol::from_bytes;
use agent_worker_protocol::import::{Answer, Imported, Question};
use js_sys::{Array, JSON, JsString, Promise, Uint8Array};
use std::rc::Rc;
use wasm_bindgen::prelude::{JsCast as _, wasm_bindgen};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{HtmlFormElement, HtmlInputElement};
use yew::prelude::*;

#[wasm_bindgen(raw_module = "./browser.js")]
extern "C" {
    #[wasm_bindgen(js_name = askImporter)]
    fn ask_importer(texts: &Array) -> Promise;
    #[wasm_bindgen(js_name = endImporter)]
    fn end_importer();
}

/// The documents that an import reads. The first two are its own.
const READ: [DocumentKind; 4] = [
    DocumentKind::Import,
    DocumentKind::Overlay,
    DocumentKind::Index,
    DocumentKind::Manifest,
];

/// The import that the page prepares.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Import {
    /// The revision of the last question.
    asked: u32,
    /// The revision of the answer.
    answered: u32,
    /// The answer, if there is one.
    answer: Option<Rc<Answer>>,
    /// Its problems.
    problems: Rc<[Diagnostic]>,
    /// Whether the user stopped the importer.
    stopped: bool,
    /// Whether the document is imported as soon as the answer allows it.
    at_once: bool,
}

impl Import {
    /// Imports the document as soon as an answer allows it.
    pub(crate) fn at_once(&mut self) {
        self.at_once = true;
    }

    /// Returns problems, followed by those of the documents of the import.
    pub(crate) fn and_problems(&self, others: &Rc<[Diagnostic]>) -> Rc<[Diagnostic]> {
        match &*self.problems {
            [] => Rc::clone(others),
            own => [others, own].concat().as_slice().into(),
        }
    }
}

/// Asks what an import of each text would do.
#[hook]
pub(crate) fn use_importer(page: &Page) {
    let edits = READ.map(|kind| page.state.edits[kind as usize]);
    {
        let page = page.clone();
        use_effect_with(edits, move |_| ask(&page));
    }
    let page = page.clone();
    use_effect_with(page.content().import.answered, move |_| {
        if page.content().import.at_once {
            perform(&page, true);
        }
    });
}

/// Shows what an import would do, with the buttons that do it.
pub(crate) fn import_bar(page: &Page) -> Html {
    let Import {
        asked,
        answered,
        answer,
        problems,
        stopped,
        ..
    } = &page.content().import;
    let is_present = asked == answered;
    let button = |label: &'static str, with_draft: bool| {
        let onclick = page.callback(move |page: &Page, _| perform(page, with_draft));
        let class = with_draft.then_some("primary");
        html! { <button {class} disabled={!is_present} {onclick}>{ label }</button> }
    };
    let mut asks = Html::default();
    let (text, buttons) = match answer.as_deref() {
        None if !is_present || *asked == 0 => ("Loading the importer…", Html::default()),
        None => {
            let again = page.on(|state: &mut State| state.edit(&READ[..1]));
            let again = html! { <button onclick={again}>{ "Try again" }</button> };
            let text = match stopped {
                true => "There is no import: the importer was stopped.",
                false => {
                    "There is no import: the importer can't be loaded, failed, or took too long."
                }
            };
            (text, again)
        }
        Some(answer) => {
            if !answer.questions.is_empty() {
                asks = questions(page, &answer.questions, is_present);
            }
            let imported = answer.imported.as_ref();
            let draft = imported.and_then(|it| it.draft.as_ref());
            // An example gives way as a whole.
            let joins = imported.is_some() && !page.state.untouched;
            let buttons = html! {
                <>
                    if joins { { button("Import", false) } }
                    if draft.is_some() { { button("Import, and draft agents.md", true) } }
                </>
            };
            (&*answer.text, buttons)
        }
    };
    let words = match answer {
        Some(_) => "Reading the edited document…",
        None => "",
    };
    html! {
        <section
            class="import"
            aria-label="Import"
            hidden={!page.editors.is_filled(DocumentKind::Import)}
        >
            <div class="import-head">
                <p role="status">{ prose(text) }</p>
                <div class="actions">
                    { buttons }
                    <button
                        onclick={page.callback(|page, _| close(page))}
                        title="Nothing keeps the document: neither the browser nor a link"
                    >
                        { "Discard" }
                    </button>
                </div>
            </div>
            <Wait waiting={!is_present} {words} on_stop={page.callback(|page, _| stop(page))} />
            { asks }
            <Problems label="Problems of the import" diagnostics={Rc::clone(problems)} />
        </section>
    }
}

/// Ends the work on the document, which stays.
fn stop(page: &Page) {
    end_importer();
    page.update(|state| {
        let import = &mut state.content.import;
        *import = Import {
            asked: import.asked,
            answered: import.asked,
            stopped: true,
            ..Import::default()
        };
    });
}

/// Shows a field for each question. One press answers them, and imports the document if nothing else is wrong.
fn questions(page: &Page, questions: &[Question], is_present: bool) -> Html {
    let onsubmit = page.callback(|page: &Page, event: SubmitEvent| {
        event.prevent_default();
        let form = event.target_unchecked_into::<HtmlFormElement>();
        answer_questions(page, &form);
    });
    let fields = questions.iter().map(|question| {
        html! {
            <label key={&*question.about}>
                <span>{ prose(&question.about) }</span>
                <input
                    placeholder={question.hint.clone()}
                    autocomplete="off"
                    spellcheck="false"
                />
            </label>
        }
    });
    html! {
        <form class="import-questions" {onsubmit}>
            { for fields }
            <button class="primary" disabled={!is_present}>{ "Answer, and import" }</button>
        </form>
    }
}

/// Writes the answers of a form into the overlay. What is not answered stays a question.
fn answer_questions(page: &Page, form: &HtmlFormElement) {
    let Some(answer) = page.content().import.answer.clone() else {
        return;
    };
    let mut overlay = match &*answer.overlay {
        "" => String::from(page.editors.text(DocumentKind::Overlay)),
        lines => lines.to_owned(),
    };
    let fields = form.elements();
    // From the end: the places before an answer stay.
    for (at, question) in answer.questions.iter().enumerate().rev() {
        let field = fields.item(at as u32).and_then(|it| it.dyn_into().ok());
        let value = field.map(|it: HtmlInputElement| it.value());
        let value = value.as_deref().unwrap_or_default().trim();
        let place = question.start as usize..question.end as usize;
        if !value.is_empty() && overlay.get(place.clone()).is_some() {
            overlay.replace_range(place, &quoted(value));
        }
    }
    page.update(|state| state.content.import.at_once());
    page.editors.replace(DocumentKind::Overlay, &overlay);
}

/// Returns what a text has between its quotes in JSON and YAML.
fn quoted(text: &str) -> String {
    let quoted = JSON::stringify(&text.into()).map(String::from);
    let quoted = quoted.unwrap_or_default();
    let inside = quoted.len().saturating_sub(1);
    quoted.get(1..inside).unwrap_or_default().to_owned()
}

/// Asks a worker what the import of the present texts would do. Without a document there is no worker.
fn ask(page: &Page) {
    if !page.editors.is_filled(DocumentKind::Import) {
        end_importer();
        return page.update(|state| state.content.import = Import::default());
    }
    let revision = page.state.revision;
    page.update(move |state| {
        state.content.import.asked = revision;
        state.content.import.stopped = false;
    });
    let texts = Array::new();
    for (at, kind) in READ.into_iter().enumerate() {
        // The servers of an example are not the visitor's.
        let text = match at >= 2 && page.state.untouched {
            true => JsString::default(),
            false => page.editors.text(kind),
        };
        texts.set(kind as u32, text.into());
    }
    let actor = page.actor.clone();
    spawn_local(async move {
        let answer = JsFuture::from(ask_importer(&texts)).await.ok();
        let answer = answer.and_then(|it| it.dyn_into::<Uint8Array>().ok());
        let answer: Option<Answer> = answer.and_then(|it| from_bytes(&it.to_vec()));
        actor.update(move |state| {
            let import = &mut state.content.import;
            // A question that came later has its own answer.
            if import.asked == revision && !import.stopped {
                import.answered = revision;
                import.problems = answer.as_ref().map_or(&[][..], |it| &it.problems).into();
                import.answer = answer.map(Rc::new);
            }
        });
    });
}

/// Replaces the index by one with the servers of the document, and an example by the servers alone.
fn perform(page: &Page, with_draft: bool) {
    page.update(|state| state.content.import.at_once = false);
    let answer = page.content().import.answer.clone();
    let Some(Imported { index, draft, done }) = answer.as_ref().and_then(|it| it.imported.as_ref())
    else {
        return;
    };
    if page.state.untouched {
        // Without a server there is nothing to show.
        let Some(draft) = draft else { return };
        let text = |kind| match kind {
            DocumentKind::Index => &**index,
            DocumentKind::Manifest => draft,
            _ => "",
        };
        page.replace_inputs(text, done);
        close(page);
        return page.update(|state| state.pane = Pane::Answer);
    }
    page.editors.replace(DocumentKind::Index, index);
    let mut written = vec![DocumentKind::Index];
    if let Some(draft) = draft.as_ref().filter(|_| with_draft) {
        page.editors.replace(DocumentKind::Manifest, draft);
        written.push(DocumentKind::Manifest);
    }
    close(page);
    page.notify(Notice {
        undo: Undo::Steps(written),
        ..Notice::done(done)
    });
}

/// Forgets the document, with the steps that an undo would bring back, and shows the index.
fn close(page: &Page) {
    for kind in &READ[..2] {
        page.editors.load(*kind, "");
    }
    page.update(|state| {
        state.edit(&READ[..2]);
        state.show_input(DocumentKind::Index);
    });
    page.editors.focus_soon(DocumentKind::Index);
}
