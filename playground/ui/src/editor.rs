//! The text editors.
//!
//! The editors hold the texts and their undo history. [`Editors`] finds the editor of a document,
//! and `EditorPane` puts one on the page.

use crate::browser::{object, set_wrapping, use_window_event, wrapping};
use crate::code_page::address;
use crate::names::document_name;
use crate::problems::{Guide, hints, short_title};
use crate::words::{capitalised, count};
use agent_answer::{
    Applicability, Code, Diagnostic, DocumentKind, Edit, Fix, Label, Place, Position, Span,
};
use gloo_timers::callback::Timeout;
use js_sys::{Array, JsString, Reflect};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::{Closure, JsValue, wasm_bindgen};
use web_sys::Element;
use yew::prelude::*;

#[wasm_bindgen(raw_module = "./editor/editor.js")]
extern "C" {
    type Editor;
    #[wasm_bindgen(constructor)]
    fn new(parent: &Element, options: &JsValue, on_change: &JsValue) -> Editor;
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
    #[wasm_bindgen(method)]
    fn excerpt(this: &Editor, start: &JsValue, end: &JsValue, limit: u32) -> Array;
    #[wasm_bindgen(method, js_name = applyEdits)]
    fn apply_edits(this: &Editor, edits: &Array);
    #[wasm_bindgen(method)]
    fn undo(this: &Editor) -> bool;
    #[wasm_bindgen(method)]
    fn compare(this: &Editor, original: Option<&str>);
    #[wasm_bindgen(method, js_name = setWrapped)]
    fn set_wrapped(this: &Editor, wrapped: bool);
    #[wasm_bindgen(method)]
    fn destroy(this: &Editor);
    /// Loads what editors have beyond their texts: colours, problems, folding and the keys of commands.
    #[wasm_bindgen(js_name = loadFeatures)]
    pub(crate) fn load_features();
}

/// Maximum number of further places of a problem in its tooltip.
const FURTHER_LABELS: usize = 5;

/// A place in a document, and the class of its background: `yes`, `near`, `no` or none, and
/// `chosen` besides.
pub type Mark = (Place, &'static str);

fn position(position: Position) -> JsValue {
    object(&[
        ("line", position.line.into()),
        ("column", position.utf16_column.into()),
    ])
}

/// Returns a place with more fields.
fn at<const N: usize>(place: &Place, fields: [(&str, JsValue); N]) -> JsValue {
    let ends = [
        ("start", position(place.start)),
        ("end", position(place.end)),
    ];
    let all: Vec<_> = ends.into_iter().chain(fields).collect();
    object(&all)
}

/// Returns the language of a document, by its name in the editor.
fn language(kind: DocumentKind) -> &'static str {
    match document_name(kind).rsplit_once('.') {
        _ if kind == DocumentKind::Import => "yaml or json",
        Some((_, "md")) => "agents.md",
        Some((_, "yaml")) => "yaml or json",
        Some((_, "rego")) => "rego",
        _ => "json",
    }
}

/// What the page does about a problem that an editor shows.
#[derive(Default)]
struct ProblemActions {
    /// Applies the edits of a fix.
    apply: Callback<Fix>,
    /// Shows the page about a code.
    explain: Callback<Code>,
    /// Diverts a text that arrives in a document, and returns whether it did.
    divert: Option<Callback<(DocumentKind, String), bool>>,
}

/// The editors of a page.
#[derive(Default)]
pub struct Editors {
    editors: [RefCell<Option<Editor>>; DocumentKind::ALL.len()],
    /// The problems that the editors underline. They know them by their numbers.
    problems: RefCell<Rc<[Diagnostic]>>,
    actions: RefCell<ProblemActions>,
    /// Whether an editor underlines anything.
    underlined: [Cell<bool>; DocumentKind::ALL.len()],
}

impl PartialEq for Editors {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Editors {
    fn with<T>(&self, kind: DocumentKind, call: impl FnOnce(&Editor) -> T) -> Option<T> {
        self.editors[kind as usize].borrow().as_ref().map(call)
    }

    /// Returns whether a document has an editor.
    pub(crate) fn has(&self, kind: DocumentKind) -> bool {
        self.editors[kind as usize].borrow().is_some()
    }

    /// Returns the text of a document. It is empty before its editor exists.
    pub fn text(&self, kind: DocumentKind) -> JsString {
        self.with(kind, Editor::text).unwrap_or_default()
    }

    /// Returns whether a text has anything but white space.
    pub fn is_filled(&self, kind: DocumentKind) -> bool {
        self.text(kind).trim().length() > 0
    }

    /// Replaces a text in one step, which the user can undo.
    pub fn replace(&self, kind: DocumentKind, text: &str) {
        self.with(kind, |editor| editor.replace_all(text));
    }

    /// Loads a text, with an empty undo history.
    pub fn load(&self, kind: DocumentKind, text: &str) {
        self.with(kind, |editor| editor.set_text(text));
    }

    /// Undoes the last step in a text. Returns whether there was one.
    pub(crate) fn undo(&self, kind: DocumentKind) -> bool {
        self.with(kind, Editor::undo) == Some(true)
    }

    /// Has the editors act on problems as the page's lists do.
    pub(crate) fn act_as(&self, guide: &Guide) {
        self.actions.replace(ProblemActions {
            apply: guide.apply.clone(),
            explain: guide.explain.clone(),
            divert: Some(guide.divert.clone()),
        });
    }

    /// Applies a fix of an underlined problem.
    fn apply_fix(&self, problem: usize, fix: usize) {
        let problems = self.problems.borrow().clone();
        let fix = problems.get(problem).and_then(|it| applicable(it).nth(fix));
        // The page may ask for the actions meanwhile.
        let apply = self.actions.borrow().apply.clone();
        if let Some(fix) = fix {
            apply.emit(fix.clone());
        }
    }

    /// Shows the page about the code of an underlined problem.
    fn explain(&self, problem: usize) {
        let code = self.problems.borrow().get(problem).map(|it| it.code);
        let explain = self.actions.borrow().explain.clone();
        if let Some(code) = code {
            explain.emit(code);
        }
    }

    /// Diverts a text that the user pastes or drops into an editor. Returns whether it did.
    fn divert(&self, kind: DocumentKind, text: String) -> bool {
        let divert = self.actions.borrow().divert.clone();
        divert.is_some_and(|divert| divert.emit((kind, text)))
    }

    /// Underlines these problems, and no others.
    pub(crate) fn show_problems(&self, diagnostics: &Rc<[Diagnostic]>) {
        self.problems.replace(Rc::clone(diagnostics));
        for kind in DocumentKind::ALL {
            let marks = diagnostics
                .iter()
                .enumerate()
                .filter_map(|(number, found)| {
                    let label = found.labels.first()?;
                    (label.place.source == kind).then(|| problem(number, label, found))
                });
            let marks: Array = marks.collect();
            // Most edits lead from no problem to no problem: a large text is not drawn again then.
            let underlined = marks.length() > 0;
            if self.underlined[kind as usize].replace(underlined) || underlined {
                self.with(kind, |editor| editor.set_diagnostics(&marks));
            }
        }
    }

    /// Gives these places a background, and no others.
    pub(crate) fn mark(&self, marks: &[Mark]) {
        for kind in DocumentKind::ALL {
            let here = marks.iter().filter(|(place, _)| place.source == kind);
            let here = here.map(|(place, class)| at(place, [("tone", (*class).into())]));
            let here: Array = here.collect();
            self.with(kind, |editor| editor.highlight(&here));
        }
    }

    /// Scrolls to a place.
    pub fn reveal(&self, place: &Place, focus: bool) {
        self.with(place.source, |editor| {
            editor.reveal(&position(place.start), &position(place.end), focus);
        });
    }

    /// Scrolls to a place after the page is rendered, because a hidden editor can't scroll. With
    /// `focus` the cursor moves there.
    pub fn reveal_soon(self: &Rc<Self>, place: Place, focus: bool) {
        let editors = Rc::clone(self);
        Timeout::new(0, move || editors.reveal(&place, focus)).forget();
    }

    /// Moves the keyboard to the beginning of a text after the page is rendered.
    pub fn focus_soon(self: &Rc<Self>, kind: DocumentKind) {
        let start = Position::line_start(1);
        let place = Place {
            source: kind,
            number: 0,
            span: Span::default(),
            start,
            end: start,
        };
        self.reveal_soon(place, true);
    }

    /// Returns the text of the line before a place, and the start of the text there, at most `limit`
    /// characters of each.
    pub(crate) fn excerpt(&self, place: &Place, limit: u32) -> Option<[String; 2]> {
        let (start, end) = (position(place.start), position(place.end));
        let pieces = self.with(place.source, |editor| editor.excerpt(&start, &end, limit))?;
        Some([0, 1].map(|at| pieces.get(at).as_string().unwrap_or_default()))
    }

    /// Applies edits, those of each text as one step, which the user can undo. Returns the kinds of
    /// the edited documents.
    pub(crate) fn apply(&self, edits: &[Edit]) -> Vec<DocumentKind> {
        let apply = |kind: &DocumentKind| {
            let edits = edits.iter().filter(|edit| edit.place.source == *kind);
            let changes =
                edits.map(|it| at(&it.place, [("insert", it.replacement.as_str().into())]));
            let changes: Array = changes.collect();
            let edited = changes.length() > 0;
            if edited {
                self.with(*kind, |editor| editor.apply_edits(&changes));
            }
            edited
        };
        DocumentKind::ALL.into_iter().filter(apply).collect()
    }
}

/// Returns the fixes that can be applied.
fn applicable(found: &Diagnostic) -> impl Iterator<Item = &Fix> {
    found.fixes.iter().filter(|fix| !fix.edits.is_empty())
}

/// Returns a problem for the editor. `label` is its first one.
fn problem(number: usize, label: &Label, found: &Diagnostic) -> JsValue {
    let texts = |texts: &mut dyn Iterator<Item = String>| -> JsValue {
        texts.map(JsValue::from).collect::<Array>().into()
    };
    let fixes = applicable(found).map(|fix| {
        let widens = fix.applicability == Applicability::Unsafe;
        object(&[
            ("title", capitalised(short_title(fix)).into()),
            ("widens", widens.into()),
        ])
    });
    let others = found.fixes.iter().filter(|fix| fix.edits.is_empty());
    let places = found.labels.iter().skip(1);
    let rest = places.len().saturating_sub(FURTHER_LABELS) as u32;
    let rest = (rest > 0).then(|| format!("and {}", count(rest, "more place")));
    let further = places
        .take(FURTHER_LABELS)
        .map(|Label { place, text, .. }| {
            let (name, start) = (document_name(place.source), place.start);
            format!("{name}:{}:{} {text}", start.line, start.utf16_column)
        });
    let fields = [
        ("number", JsValue::from(number)),
        ("severity", found.severity.name().into()),
        ("code", found.code.name().into()),
        ("page", address(found.code).into()),
        ("message", found.message.as_str().into()),
        ("cause", label.text.as_str().into()),
        ("also", texts(&mut further.chain(rest))),
        ("help", texts(&mut hints(others, found).map(str::to_owned))),
        ("fixes", fixes.collect::<Array>().into()),
    ];
    at(&label.place, fields)
}

#[derive(Properties, PartialEq, Clone)]
pub(crate) struct EditorProps {
    pub(crate) kind: DocumentKind,
    /// The editors among which this one is found.
    pub(crate) editors: Rc<Editors>,
    pub(crate) placeholder: AttrValue,
    /// Called after each change of the text, except by [`Editors::load`].
    pub(crate) on_change: Callback<DocumentKind>,
}

/// Puts an editor into an element. An editor with a document can be edited, and `text` is its
/// placeholder. `page` has the other editors.
fn create(
    parent: &NodeRef,
    document: Option<DocumentKind>,
    label: &str,
    text: &str,
    wrapped: bool,
    page: Option<&Rc<Editors>>,
    on_change: impl FnMut() + 'static,
) -> Option<Editor> {
    let options = object(&[
        ("language", document.map_or("json", language).into()),
        ("label", label.into()),
        ("readOnly", document.is_none().into()),
        ("placeholder", text.into()),
        ("wrapped", wrapped.into()),
    ]);
    let functions = page
        .zip(document)
        .map(|(page, kind)| page_functions(page, kind));
    for (name, function) in functions.into_iter().flatten() {
        // A fresh object takes every property.
        let _ = Reflect::set(&options, &name.into(), &function);
    }
    let on_change = Closure::<dyn FnMut()>::new(on_change).into_js_value();
    Some(Editor::new(&parent.cast()?, &options, &on_change))
}

/// Returns whether the editor of a document breaks long lines.
fn is_wrapped(kind: DocumentKind) -> bool {
    // These hold long sentences.
    wrapping().unwrap_or(matches!(
        kind,
        DocumentKind::Summary | DocumentKind::Payload
    ))
}

#[derive(Properties, PartialEq)]
pub(crate) struct WrappingSwitchProps {
    /// The document that stands for the others.
    pub(crate) kind: DocumentKind,
    /// Whether it is an item of a menu.
    #[prop_or_default]
    pub(crate) in_words: bool,
}

/// A switch of long lines in all editors.
#[component]
pub(crate) fn WrappingSwitch(props: &WrappingSwitchProps) -> Html {
    let update = use_force_update();
    use_window_event("wrapping", move |_| update.force_update());
    let wrapped = is_wrapped(props.kind);
    html! {
        <button
            onclick={move |_| set_wrapping(!wrapped)}
            aria-pressed={wrapped.to_string()}
            class={props.in_words.then_some("wrap")}
            aria-label="Wrap long lines"
            title="Wrap long lines"
        >
            { if props.in_words { "Wrap long lines" } else { "↩" } }
        </button>
    }
}

/// Returns the functions of the page that an editor calls.
fn page_functions(editors: &Rc<Editors>, kind: DocumentKind) -> [(&'static str, JsValue); 4] {
    let text_of = {
        let editors = Rc::clone(editors);
        Closure::<dyn Fn(String) -> JsString>::new(move |name: String| {
            let mut kinds = DocumentKind::ALL.into_iter();
            let kind = kinds.find(|kind| kind.usual_name() == name);
            kind.map(|kind| editors.text(kind)).unwrap_or_default()
        })
    };
    let apply_fix = {
        let editors = Rc::clone(editors);
        Closure::<dyn Fn(usize, usize)>::new(move |problem, fix| editors.apply_fix(problem, fix))
    };
    let explain = {
        let editors = Rc::clone(editors);
        Closure::<dyn Fn(usize)>::new(move |problem| editors.explain(problem))
    };
    let divert = {
        let editors = Rc::clone(editors);
        Closure::<dyn Fn(String) -> bool>::new(move |text| editors.divert(kind, text))
    };
    [
        ("divert", divert.into_js_value()),
        ("textOf", text_of.into_js_value()),
        ("applyFix", apply_fix.into_js_value()),
        ("explain", explain.into_js_value()),
    ]
}

/// The editor of a document.
#[component]
pub(crate) fn EditorPane(props: &EditorProps) -> Html {
    let parent = use_node_ref();
    {
        let (parent, props) = (parent.clone(), props.clone());
        use_effect_with((), move |()| {
            let (kind, on_change) = (props.kind, props.on_change);
            let on_change = move || on_change.emit(kind);
            let (name, text) = (document_name(kind), &props.placeholder);
            let editor = create(
                &parent,
                Some(kind),
                name,
                text,
                is_wrapped(kind),
                Some(&props.editors),
                on_change,
            );
            props.editors.editors[kind as usize].replace(editor);
        });
    }
    {
        let (editors, kind) = (Rc::clone(&props.editors), props.kind);
        use_window_event("wrapping", move |_| {
            editors.with(kind, |editor| editor.set_wrapped(is_wrapped(kind)));
        });
    }
    html! { <div class="editor" ref={parent} /> }
}

/// The properties of a [`Viewer`].
#[derive(Properties, PartialEq)]
pub struct ViewerProps {
    /// The name for screen readers.
    pub label: AttrValue,
    /// The text.
    pub text: Rc<str>,
    /// The text to compare with, if any.
    #[prop_or_default]
    pub original: Option<Rc<str>>,
    /// Whether long lines are broken.
    #[prop_or_default]
    pub wrapped: bool,
}

/// A read-only text, with its differences from another text.
#[component]
pub fn Viewer(props: &ViewerProps) -> Html {
    let parent = use_node_ref();
    let editor = use_mut_ref(|| None::<Editor>);
    {
        let (parent, editor) = (parent.clone(), editor.clone());
        let (label, wrapped) = (props.label.clone(), wrapping().unwrap_or(props.wrapped));
        use_effect_with((), move |()| {
            editor.replace(create(&parent, None, &label, "", wrapped, None, || ()));
            move || {
                if let Some(editor) = editor.take() {
                    editor.destroy();
                }
            }
        });
    }
    {
        let (editor, wrapped) = (editor.clone(), props.wrapped);
        use_window_event("wrapping", move |_| {
            if let Some(editor) = editor.borrow().as_ref() {
                editor.set_wrapped(wrapping().unwrap_or(wrapped));
            }
        });
    }
    let shown = (Rc::clone(&props.text), props.original.clone());
    use_effect_with(shown, move |(text, original)| {
        if let Some(editor) = editor.borrow().as_ref() {
            editor.set_text(text);
            editor.compare(original.as_deref());
        }
    });
    html! { <div class="viewer" ref={parent} /> }
}
