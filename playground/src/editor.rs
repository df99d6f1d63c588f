//! The text editors.
//!
//! The texts live in them, with their history of undoing; [`Editors`] finds the editor of an
//! input, and [`EditorPane`] puts one on the page.

use agent_protocol::{Diagnostic, Edit, Place, Point, Severity, Source};
use js_sys::JsString;
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
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
    fn set_diagnostics(this: &Editor, diagnostics: &JsValue);
    #[wasm_bindgen(method)]
    fn highlight(this: &Editor, places: &JsValue);
    #[wasm_bindgen(method)]
    fn reveal(this: &Editor, start: &JsValue, end: &JsValue, focus: bool);
    #[wasm_bindgen(method, js_name = applyEdits)]
    fn apply_edits(this: &Editor, edits: &JsValue);
    #[wasm_bindgen(method)]
    fn undo(this: &Editor) -> bool;
    #[wasm_bindgen(method)]
    fn compare(this: &Editor, original: Option<&str>);
    #[wasm_bindgen(method)]
    fn destroy(this: &Editor);
}

/// What the editor is told, as plain objects.
fn object(value: &impl Serialize) -> JsValue {
    // These are our own types, which all have a form.
    value
        .serialize(&Serializer::json_compatible())
        .unwrap_or_default()
}

#[derive(Serialize)]
struct Options<'o> {
    language: &'o str,
    label: &'o str,
    #[serde(rename = "readOnly")]
    read_only: bool,
    placeholder: &'o str,
}

#[derive(Serialize)]
struct Range {
    start: Point,
    end: Point,
}

#[derive(Serialize)]
struct Mark<'d> {
    start: Point,
    end: Point,
    severity: Severity,
    code: &'d str,
    message: &'d str,
    help: &'d [String],
}

#[derive(Serialize)]
struct Change<'e> {
    start: Point,
    end: Point,
    insert: &'e str,
}

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

/// The file name of an input.
pub(crate) fn file_name(source: Source) -> &'static str {
    match source {
        Source::Manifest => "agents.md",
        Source::Index => "mcp.index.json",
        Source::Lock => "agents.lock",
        Source::Task => "task.yaml",
        Source::Tenant => "tenant.yaml",
        Source::Health => "health.yaml",
        Source::Policy => "policy.rego",
        Source::Context => "context.yaml",
    }
}

/// In what an input is written; the editor knows the names.
fn language(source: Source) -> &'static str {
    match source {
        Source::Manifest => "agents.md",
        Source::Index | Source::Lock => "json",
        Source::Task | Source::Tenant | Source::Health | Source::Context => "yaml or json",
        Source::Policy => "rego",
    }
}

/// The editors that are on the page.
#[derive(Default)]
pub(crate) struct Editors {
    editors: [RefCell<Option<Editor>>; INPUTS.len()],
    /// Whether there are underlines in them.
    marked: [Cell<bool>; INPUTS.len()],
}

impl PartialEq for Editors {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Editors {
    fn with<T>(&self, source: Source, call: impl FnOnce(&Editor) -> T) -> Option<T> {
        self.editors[source as usize].borrow().as_ref().map(call)
    }

    /// The text of an input; empty before its editor is there.
    pub(crate) fn text(&self, source: Source) -> JsString {
        self.with(source, Editor::text).unwrap_or_default()
    }

    /// Whether there is anything in a text but white space.
    pub(crate) fn is_filled(&self, source: Source) -> bool {
        self.text(source).trim().length() > 0
    }

    /// Replaces a text as one step that can be undone.
    pub(crate) fn replace(&self, source: Source, text: &str) {
        self.with(source, |editor| editor.replace_all(text));
    }

    /// Puts a text in as if it had been there from the beginning.
    pub(crate) fn load(&self, source: Source, text: &str) {
        self.with(source, |editor| editor.set_text(text));
    }

    /// Takes back the last step in a text.
    pub(crate) fn undo(&self, source: Source) {
        self.with(source, Editor::undo);
    }

    /// Underlines what is to be said about each input.
    pub(crate) fn show_problems(&self, diagnostics: &[Diagnostic]) {
        for source in INPUTS {
            let marks: Vec<_> = diagnostics
                .iter()
                .filter_map(|diagnostic| mark(diagnostic, source))
                .collect();
            // With every keystroke there are none, mostly, and there were none before: a large
            // text is not to be drawn again for that.
            let marked = !marks.is_empty();
            if self.marked[source as usize].replace(marked) || marked {
                self.with(source, |editor| editor.set_diagnostics(&object(&marks)));
            }
        }
    }

    /// Marks these places, and no others.
    pub(crate) fn highlight(&self, places: &[Place]) {
        for source in INPUTS {
            let ranges: Vec<_> = places
                .iter()
                .filter(|place| place.source == source)
                .map(|place| Range {
                    start: place.start,
                    end: place.end,
                })
                .collect();
            self.with(source, |editor| editor.highlight(&object(&ranges)));
        }
    }

    /// Scrolls to a place, and moves the cursor there if asked to.
    pub(crate) fn reveal(&self, place: &Place, focus: bool) {
        self.with(place.source, |editor| {
            editor.reveal(&object(&place.start), &object(&place.end), focus);
        });
    }

    /// Makes changes, all those to one text as one step that can be undone.
    pub(crate) fn apply(&self, edits: &[Edit]) {
        for source in INPUTS {
            let changes: Vec<_> = edits
                .iter()
                .filter(|edit| edit.place.source == source)
                .map(|edit| Change {
                    start: edit.place.start,
                    end: edit.place.end,
                    insert: &edit.replacement,
                })
                .collect();
            if !changes.is_empty() {
                self.with(source, |editor| editor.apply_edits(&object(&changes)));
            }
        }
    }
}

/// A diagnostic as it is shown in an input. None if it is not about it.
fn mark(diagnostic: &Diagnostic, source: Source) -> Option<Mark<'_>> {
    let label = diagnostic.labels.first()?;
    (label.place.source == source).then_some(Mark {
        start: label.place.start,
        end: label.place.end,
        severity: diagnostic.severity,
        code: &diagnostic.code,
        message: &diagnostic.message,
        help: &diagnostic.help,
    })
}

/// What an editor on the page needs.
#[derive(Properties, PartialEq, Clone)]
pub(crate) struct EditorProps {
    pub(crate) source: Source,
    pub(crate) editors: Rc<Editors>,
    pub(crate) placeholder: AttrValue,
    pub(crate) on_change: Callback<Source>,
}

/// The editor of an input.
#[component]
pub(crate) fn EditorPane(props: &EditorProps) -> Html {
    let parent = use_node_ref();
    {
        let (parent, props) = (parent.clone(), props.clone());
        use_effect_with((), move |()| {
            let source = props.source;
            let on_change = props.on_change.clone();
            let on_change = Closure::<dyn FnMut()>::new(move || on_change.emit(source));
            let editor = parent.cast::<web_sys::Element>().map(|parent| {
                let options = Options {
                    language: language(source),
                    label: file_name(source),
                    read_only: false,
                    placeholder: &props.placeholder,
                };
                Editor::new(&parent, &object(&options), on_change.as_ref())
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
pub(crate) struct ViewerProps {
    pub(crate) label: AttrValue,
    pub(crate) text: Rc<str>,
    /// The text that it is compared with, if any.
    pub(crate) original: Option<Rc<str>>,
}

/// A text that is only shown, with what differs from another one.
#[component]
pub(crate) fn Viewer(props: &ViewerProps) -> Html {
    let parent = use_node_ref();
    let editor = use_mut_ref(|| None::<Editor>);
    {
        let (parent, editor) = (parent.clone(), editor.clone());
        let label = props.label.clone();
        use_effect_with((), move |()| {
            if let Some(parent) = parent.cast::<web_sys::Element>() {
                let options = Options {
                    language: "json",
                    label: &label,
                    read_only: true,
                    placeholder: "",
                };
                let nothing = Closure::<dyn FnMut()>::new(|| ());
                *editor.borrow_mut() =
                    Some(Editor::new(&parent, &object(&options), nothing.as_ref()));
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
