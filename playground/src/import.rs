//! The import of a document into the index.
//!
//! The document has an editor of its own, which nothing keeps: it may contain secrets. A module of the engine
//! that is loaded for the first document says what an import would do, and a button does it.

use crate::state::Page;
use agent_answer::{Diagnostic, DocumentKind, Severity};
use agent_ui::editor::Editors;
use agent_ui::names::name;
use agent_ui::notice::{Notice, Undo};
use agent_ui::page::use_page;
use agent_ui::problems::{Problems, help, prose};
use agent_ui::words::count;
use agent_ui::worker::{WorkerClient, WorkerEvent, WorkerProtocol};
use agent_worker_protocol::import::{Answer, Imported, Request};
use agent_worker_protocol::to_bytes;
use std::rc::Rc;
use yew::prelude::*;

/// The script of the worker that imports documents.
const WORKER: &str = "./engine/import/worker.js";

/// Maximum number of servers to name.
const NAMED: usize = 12;

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
    /// The revision of the question that has the answer. 0: there is none.
    answered: u32,
    answer: Rc<Answer>,
    /// The reason why there is no answer.
    failure: Option<String>,
}

impl Import {
    fn handle(&mut self, event: WorkerEvent<Importer>) {
        match event {
            WorkerEvent::Answered {
                revision, answer, ..
            } => {
                self.failure = None;
                self.answered = revision;
                self.answer = Rc::new(answer);
            }
            WorkerEvent::Failed(reason) => self.failure = Some(reason),
            WorkerEvent::Loading(_) | WorkerEvent::Ready(()) => {}
        }
    }

    /// Returns problems, followed by those of the documents of the import.
    pub(crate) fn and_problems(&self, others: &Rc<[Diagnostic]>) -> Rc<[Diagnostic]> {
        let own = self.answer.problems.iter().filter(|it| {
            let source = it.place().map(|place| place.source);
            source.is_some_and(|it| READ[..2].contains(&it))
        });
        match own.clone().next() {
            None => Rc::clone(others),
            Some(_) => others.iter().chain(own).cloned().collect(),
        }
    }
}

/// The protocol of the worker that imports documents.
#[derive(Debug)]
enum Importer {}

impl WorkerProtocol for Importer {
    type Wanted = Request;
    type About = ();
    type Answer = Answer;

    fn script(_: &Editors, _: Option<&Request>, _: Option<&'static str>) -> &'static str {
        WORKER
    }

    fn missing(_: &'static str) -> &'static str {
        "the importer can't be loaded"
    }

    fn reads(kind: DocumentKind) -> bool {
        READ.contains(&kind)
    }

    fn request(request: &Request) -> Vec<u8> {
        to_bytes(request)
    }
}

/// What an import would do, with the buttons that do it.
#[component]
pub(crate) fn ImportBar() -> Html {
    let page: Page = use_page();
    let client = use_mut_ref(|| None);
    {
        let page = page.clone();
        let edits = READ.map(|kind| page.state.edits[kind as usize]);
        use_effect_with(edits, move |_| ask(&page, &mut client.borrow_mut()));
    }
    let import = &page.content().import;
    let body = match &import.failure {
        Some(reason) => {
            let again = html! {
                <button onclick={page.on(|state| state.edit(&READ[..1]))}>{ "Try again" }</button>
            };
            let text = html! { { format!("There is no import: {reason}.") } };
            html! { <div role="alert">{ head(&page, text, again) }</div> }
        }
        None if import.answered == 0 => head(
            &page,
            html! { { "Loading the importer…" } },
            Html::default(),
        ),
        None => answer(&page, &import.answer, import.answered == import.asked),
    };
    html! {
        <section
            class="import"
            aria-label="Import"
            hidden={!page.editors.is_filled(DocumentKind::Import)}
        >
            { body }
        </section>
    }
}

/// Shows a sentence about the document, and what can be done with it.
fn head(page: &Page, text: Html, buttons: Html) -> Html {
    let discard = page.callback(|page, _| close(page));
    html! {
        <div class="import-head">
            <p role="status">{ text }</p>
            <div class="actions">
                { buttons }
                <button onclick={discard} title="Nothing keeps the document: neither the browser nor a link">
                    { "Discard" }
                </button>
            </div>
        </div>
    }
}

/// Asks a worker what the import of the present texts would do. Without a document there is no worker.
fn ask(page: &Page, client: &mut Option<Rc<WorkerClient<Importer>>>) {
    if !page.editors.is_filled(DocumentKind::Import) {
        if client.take().is_some() {
            page.update(|state| state.content.import = Import::default());
        }
        return;
    }
    let revision = page.state.revision;
    page.update(move |state| state.content.import.asked = revision);
    let client = client.get_or_insert_with(|| {
        let report = page.actor.callback(|actor, event| {
            actor.update(move |state| state.content.import.handle(event));
        });
        WorkerClient::start(Rc::clone(&page.editors), report)
    });
    client.request(revision, Request, page.state.edits);
}

/// Shows an answer. Only an answer to the present texts can be imported.
fn answer(page: &Page, answer: &Answer, is_present: bool) -> Html {
    let form = answer.form.as_deref();
    let form = form.unwrap_or("no document that can be imported");
    let problems: Rc<[Diagnostic]> = answer.problems.as_slice().into();
    let problems = html! { <Problems label="Problems of the import" diagnostics={problems} /> };
    let Some(imported) = &answer.imported else {
        let errors = answer.problems.iter();
        let errors = errors.filter(|it| it.severity == Severity::Error).count();
        let errors = count(errors as u32, "error");
        let text = html! { <>{ "This is " }{ prose(form) }{ format!(", with {errors}.") }</> };
        return html! { <>{ head(page, text, Html::default()) }{ problems }</> };
    };
    let [added, changed, unchanged] = [&imported.added, &imported.changed, &imported.unchanged];
    let all = count(
        (added.len() + changed.len() + unchanged.len()) as u32,
        "server",
    );
    let text = html! { <>{ "This is " }{ prose(form) }{ format!(", with {all}.") }</> };
    let button = |label: &'static str, with_draft: bool| {
        let onclick = page.callback(move |page: &Page, _| {
            let answer = Rc::clone(&page.content().import.answer);
            if let Some(imported) = &answer.imported {
                perform(page, imported, with_draft);
            }
        });
        html! { <button disabled={!is_present} {onclick}>{ label }</button> }
    };
    let buttons = html! {
        <>
            { button("Import", false) }
            if imported.draft.is_some() { { button("Import, and draft agents.md", true) } }
        </>
    };
    html! {
        <>
            { head(page, text, buttons) }
            <ul>
                { servers("New", added) }
                { servers("Changed", changed) }
                { servers("In the index already", unchanged) }
            </ul>
            { problems }
            if let Some(draft) = &imported.draft {
                <details>
                    <summary>{ "What the draft of agents.md assumes" }</summary>
                    { help(draft.assumptions.iter().map(String::as_str)) }
                </details>
            }
        </>
    }
}

/// Shows the first names of servers.
fn servers(what: &str, names: &[String]) -> Html {
    let shown = names.iter().take(NAMED);
    let rest = names.len().saturating_sub(NAMED) as u32;
    html! {
        if !names.is_empty() {
            <li>
                { what }{ ":" }
                { for shown.map(|it| html! { <>{ " " }<code>{ name(it, "") }</code></> }) }
                if rest > 0 { { format!(" and {}", count(rest, "more server")) } }
            </li>
        }
    }
}

/// Replaces the index by one with the servers of the document.
fn perform(page: &Page, imported: &Imported, with_draft: bool) {
    page.editors.replace(DocumentKind::Index, &imported.index);
    let mut written = vec![DocumentKind::Index];
    if let Some(draft) = imported.draft.as_ref().filter(|_| with_draft) {
        page.editors.replace(DocumentKind::Manifest, &draft.text);
        written.push(DocumentKind::Manifest);
    }
    close(page);
    let new = (imported.added.len() + imported.changed.len()) as u32;
    page.notify(Notice {
        undo: Undo::Steps(written),
        ..Notice::done(format!("Imported {}", count(new, "server")))
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
