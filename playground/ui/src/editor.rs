//! The text editors.
//!
//! The texts live in them, with their history of undoing; [`Editors`] finds the editor of an
//! input, and [`EditorPane`] puts one on the page.

use crate::browser::object;
use crate::notice::Notice;
use agent_protocol::{Diagnostic, DocumentKind, Edit, Place, Point, Severity};
use gloo_timers::callback::Timeout;
use js_sys::{Array, JsString};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::{Closure, JsValue, wasm_bindgen};
use yew::prelude::*;

#[wasm_bindgen(raw_module = "./editor/editor.js")]
extern "C" {
    type Editor;
    #[wasm_bindgen(constructor)]
    fn new(parent: &web_sys::Element, options: &JsValue, on_change: &JsValue) -> Editor;
    #[wasm_bindgen(method)]
    fn text(this: &Editor) -> JsString;
    #[wasm_bindgen(method, js_name = setText)]
    fn set_text(this: &Editor, text: &str);
    #[wasm_bindgen(method, js_name = replaceAll)]
    fn replace_all(this: &Editor, text: &str);
    #[wasm_bindgen(method, js_name = setDiagnostics)]
    fn set_diagnostics(this: &Editor, diagnostics: &Array);
    #[wasm_bindgen(method)]
    fn highlight(this: &Editor, places: &Array);
    #[wasm_bindgen(method)]
    fn reveal(this: &Editor, start: &JsValue, end: &JsValue, focus: bool);
    #[wasm_bindgen(method, js_name = applyEdits)]
    fn apply_edits(this: &Editor, edits: &Array);
    #[wasm_bindgen(method)]
    fn undo(this: &Editor) -> bool;
    #[wasm_bindgen(method)]
    fn compare(this: &Editor, original: Option<&str>);
    #[wasm_bindgen(method)]
    fn destroy(this: &Editor);
}

/// What an editor is: its language, what it is called, whether one can write in it, and whether long
/// lines are broken.
fn options(
    language: &str,
    label: &str,
    read_only: bool,
    placeholder: &str,
    wrapped: bool,
) -> JsValue {
    object(&[
        ("language", language.into()),
        ("label", label.into()),
        ("readOnly", read_only.into()),
        ("placeholder", placeholder.into()),
        ("wrapped", wrapped.into()),
    ])
}

fn point(point: Point) -> JsValue {
    object(&[("line", point.line.into()), ("column", point.column.into())])
}

/// What is put in at a place.
fn change(edit: &Edit) -> JsValue {
    object(&[
        ("start", point(edit.place.start)),
        ("end", point(edit.place.end)),
        ("insert", edit.replacement.as_str().into()),
    ])
}

/// The file name of an input.
pub fn file_name(source: DocumentKind) -> &'static str {
    match source {
        DocumentKind::Manifest => "agents.md",
        DocumentKind::Index => "mcp.index.json",
        DocumentKind::Lock => "agents.lock",
        DocumentKind::Task => "task.yaml",
        DocumentKind::Tenant => "tenant.yaml",
        DocumentKind::Health => "health.yaml",
        DocumentKind::Policy => "policy.rego",
        DocumentKind::Context => "context.yaml",
        DocumentKind::Call => "call.json",
        DocumentKind::Plan => "plan.json",
        DocumentKind::ToolPool => "tool-pool.json",
        DocumentKind::Profile => "profile.json",
        DocumentKind::Request => "request.json",
        DocumentKind::Catalogue => "catalogue.json",
        DocumentKind::Summary => "summary.json",
        DocumentKind::Payload => "payload.json",
    }
}

/// In what an input is written; the editor knows the names.
fn language(source: DocumentKind) -> &'static str {
    match source {
        DocumentKind::Manifest => "agents.md",
        DocumentKind::Task
        | DocumentKind::Tenant
        | DocumentKind::Health
        | DocumentKind::Context => "yaml or json",
        DocumentKind::Policy => "rego",
        _ => "json",
    }
}

/// Whether an input holds sentences, which are to be seen whole.
fn is_prose(source: DocumentKind) -> bool {
    matches!(source, DocumentKind::Summary | DocumentKind::Payload)
}

/// The editors that are on the page.
#[derive(Default)]
pub struct Editors {
    editors: [RefCell<Option<Editor>>; DocumentKind::ALL.len()],
    /// Whether there are underlines in them.
    marked: [Cell<bool>; DocumentKind::ALL.len()],
}

impl PartialEq for Editors {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Editors {
    fn with<T>(&self, source: DocumentKind, call: impl FnOnce(&Editor) -> T) -> Option<T> {
        self.editors[source as usize].borrow().as_ref().map(call)
    }

    /// Whether an input has an editor.
    pub fn has(&self, source: DocumentKind) -> bool {
        self.editors[source as usize].borrow().is_some()
    }

    /// The text of an input; empty before its editor is there.
    pub fn text(&self, source: DocumentKind) -> JsString {
        self.with(source, Editor::text).unwrap_or_default()
    }

    /// Whether there is anything in a text but white space.
    pub fn is_filled(&self, source: DocumentKind) -> bool {
        self.text(source).trim().length() > 0
    }

    /// Replaces a text as one step that can be undone.
    pub fn replace(&self, source: DocumentKind, text: &str) {
        self.with(source, |editor| editor.replace_all(text));
    }

    /// Puts a text in as if it had been there from the beginning.
    pub fn load(&self, source: DocumentKind, text: &str) {
        self.with(source, |editor| editor.set_text(text));
    }

    /// Takes back the last step in a text.
    pub fn undo(&self, source: DocumentKind) {
        self.with(source, Editor::undo);
    }

    /// Underlines what is to be said about each input.
    pub fn show_problems(&self, diagnostics: &[Diagnostic]) {
        for source in DocumentKind::ALL {
            let marks: Array = diagnostics
                .iter()
                .filter_map(|diagnostic| mark(diagnostic, source))
                .collect();
            // With every keystroke there are none, mostly, and there were none before: a large
            // text is not to be drawn again for that.
            let marked = marks.length() > 0;
            if self.marked[source as usize].replace(marked) || marked {
                self.with(source, |editor| editor.set_diagnostics(&marks));
            }
        }
    }

    /// Marks these places, and no others.
    pub fn highlight(&self, places: &[Place]) {
        self.mark(places.iter().map(|place| (*place, "")));
    }

    /// The same with what each stands for: `yes`, `near`, `no` or nothing, and `chosen` besides.
    pub fn mark(&self, places: impl Iterator<Item = (Place, &'static str)>) {
        let marks = DocumentKind::ALL.map(|_| Array::new());
        for (place, tone) in places {
            marks[place.source as usize].push(&object(&[
                ("start", point(place.start)),
                ("end", point(place.end)),
                ("tone", tone.into()),
            ]));
        }
        for (source, marks) in DocumentKind::ALL.into_iter().zip(marks) {
            self.with(source, |editor| editor.highlight(&marks));
        }
    }

    /// Scrolls to a place, and moves the cursor there if asked to.
    pub fn reveal(&self, place: &Place, focus: bool) {
        self.with(place.source, |editor| {
            editor.reveal(&point(place.start), &point(place.end), focus);
        });
    }

    /// Scrolls to a place once what is about to be shown is shown, because an editor that is not seen
    /// can't scroll; and moves the cursor there if asked to.
    pub fn reveal_soon(self: &Rc<Self>, place: Place, focus: bool) {
        let editors = Rc::clone(self);
        Timeout::new(0, move || editors.reveal(&place, focus)).forget();
    }

    /// Makes changes, and says what was done and how to take it back.
    pub fn carry_out(&self, what: &str, edits: &[Edit]) -> Notice {
        self.apply(edits);
        let edited = |source: &DocumentKind| edits.iter().any(|edit| edit.place.source == *source);
        Notice {
            undo: DocumentKind::ALL.into_iter().filter(edited).collect(),
            ..Notice::done(format!("Applied: {what}"))
        }
    }

    /// Makes changes, all those to one text as one step that can be undone.
    pub fn apply(&self, edits: &[Edit]) {
        for source in DocumentKind::ALL {
            let edits = edits.iter().filter(|edit| edit.place.source == source);
            let changes: Array = edits.map(change).collect();
            if changes.length() > 0 {
                self.with(source, |editor| editor.apply_edits(&changes));
            }
        }
    }
}

/// A diagnostic as it is shown in an input. None if it is not about it.
fn mark(diagnostic: &Diagnostic, source: DocumentKind) -> Option<JsValue> {
    let place = diagnostic.labels.first()?.place;
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let help = diagnostic.help.iter().map(|text| JsValue::from_str(text));
    (place.source == source).then(|| {
        object(&[
            ("start", point(place.start)),
            ("end", point(place.end)),
            ("severity", severity.into()),
            ("code", diagnostic.code.as_str().into()),
            ("message", diagnostic.message.as_str().into()),
            ("help", help.collect::<Array>().into()),
        ])
    })
}

/// What an editor on the page needs.
#[derive(Properties, PartialEq, Clone)]
pub struct EditorProps {
    /// Which input.
    pub source: DocumentKind,
    /// Where the editor is to be found.
    pub editors: Rc<Editors>,
    /// What stands in it while it is empty.
    pub placeholder: AttrValue,
    /// Called after each change of the text, but not those of [`Editors::load`].
    pub on_change: Callback<DocumentKind>,
}

/// The editor of an input.
#[component]
pub fn EditorPane(props: &EditorProps) -> Html {
    let parent = use_node_ref();
    {
        let (parent, props) = (parent.clone(), props.clone());
        use_effect_with((), move |()| {
            let source = props.source;
            let on_change = props.on_change.clone();
            let on_change = Closure::<dyn FnMut()>::new(move || on_change.emit(source));
            let editor = parent.cast::<web_sys::Element>().map(|parent| {
                let name = file_name(source);
                let wrapped = is_prose(source);
                let options = options(language(source), name, false, &props.placeholder, wrapped);
                Editor::new(&parent, &options, on_change.as_ref())
            });
            props.editors.editors[source as usize].replace(editor);
            // The page lives as long as its editors do.
            on_change.forget();
        });
    }
    html! { <div class="editor" ref={parent} /> }
}

/// What a viewer needs.
#[derive(Properties, PartialEq)]
pub struct ViewerProps {
    /// What it is called for screen readers.
    pub label: AttrValue,
    /// The text.
    pub text: Rc<str>,
    /// The text that it is compared with, if any.
    #[prop_or_default]
    pub original: Option<Rc<str>>,
    /// Whether long lines are broken.
    #[prop_or_default]
    pub wrapped: bool,
}

/// A text that is only shown, with what differs from another one.
#[component]
pub fn Viewer(props: &ViewerProps) -> Html {
    let parent = use_node_ref();
    let editor = use_mut_ref(|| None::<Editor>);
    {
        let (parent, editor) = (parent.clone(), editor.clone());
        let (label, wrapped) = (props.label.clone(), props.wrapped);
        use_effect_with((), move |()| {
            if let Some(parent) = parent.cast::<web_sys::Element>() {
                let options = options("json", &label, true, "", wrapped);
                let nothing = Closure::<dyn FnMut()>::new(|| ());
                *editor.borrow_mut() = Some(Editor::new(&parent, &options, nothing.as_ref()));
                nothing.forget();
            }
            move || {
                if let Some(editor) = editor.borrow_mut().take() {
                    editor.destroy();
                }
            }
        });
    }
    {
        let shown = (Rc::clone(&props.text), props.original.clone());
        use_effect_with(shown, move |(text, original)| {
            if let Some(editor) = editor.borrow().as_ref() {
                editor.set_text(text);
                editor.compare(original.as_deref());
            }
        });
    }
    html! { <div class="viewer" ref={parent} /> }
}
