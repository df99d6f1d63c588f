//! The content that distinguishes one page from another.

use crate::answer::Sign;
use crate::areas::Area;
use crate::editor::Mark;
use crate::example::{Example, Texts};
use crate::markdown::InWords;
use crate::names::Named;
use crate::page::{Actor, Page};
use crate::saved::SavedInputs;
use crate::state::State;
use crate::tour::Step;
use crate::worker::WorkerProtocol;
use agent_answer::{Diagnostic, DocumentKind};
use std::fmt::Debug;
use std::rc::Rc;
use web_sys::KeyboardEvent;
use yew::Html;

/// A document with an editor.
pub struct Document {
    /// Its kind.
    pub kind: DocumentKind,
    /// The document in a few words.
    pub about: &'static str,
    /// The text of its editor while that is empty.
    pub placeholder: &'static str,
    /// The document that it is shown below, where it has no separate tab.
    pub below: Option<DocumentKind>,
    /// Whether it passes through the page: it may contain secrets, so neither the browser nor a link keeps it,
    /// and while it is empty it has no tab.
    pub is_passing: bool,
}

impl Document {
    /// Returns a document with a tab, or with a place above the tabs.
    pub const fn new(kind: DocumentKind, about: &'static str, placeholder: &'static str) -> Self {
        Self {
            kind,
            about,
            placeholder,
            below: None,
            is_passing: false,
        }
    }
}

/// Returns whether the beginning of a text belongs in another document; `None` if more of it has to be read.
pub type Fits = fn(&str) -> Option<bool>;

/// Texts that arrive in some documents and belong in another.
pub struct Diversion {
    /// The documents in which they arrive. Files of unknown names arrive in the first.
    pub from: &'static [(DocumentKind, Fits)],
    /// The document in which they belong.
    pub to: DocumentKind,
    /// The label of the button that shows it.
    pub label: &'static str,
}

/// An area and its documents. The first is always visible, and one of the others below it.
pub type Layout = (Area, &'static [DocumentKind]);

/// An area, the heading of its examples, and the examples from simple to advanced.
pub type Gallery = (Area, &'static str, &'static [Example]);

/// The documents of a page.
pub trait Documents: Sized + 'static {
    /// All documents, in the order in which they are shown.
    const DOCUMENTS: &'static [Document];
    /// The documents of each area, the page's first area first.
    const LAYOUTS: &'static [Layout];
    /// The examples of each area. A first visit shows the very first one, which has its texts itself.
    const GALLERIES: &'static [Gallery];
    /// What each area is for, and what to do there, in a line.
    const INTRODUCTIONS: &'static [(Area, &'static str)];
    /// The texts of the examples, except those that an example has itself.
    const BASIS: Texts = &[];
    /// Edits of the first example that show what the page does.
    const TOUR: &'static [Step] = &[];
    /// The documents that the page calls by other names than their usual ones.
    const NAMES: &'static [Named] = &[];
    /// The texts that belong in another document than that in which they arrive.
    const DIVERSION: Option<Diversion> = None;
    /// The file name extensions that the page opens, separated by commas.
    const EXTENSIONS: &'static str;
    /// Names of files that the page opens, for a message.
    const FILE_NAMES: &'static str;

    /// Returns the document that a file belongs to, by the file's name in lower case.
    fn document_of(area: Area, name: &str) -> Option<DocumentKind>;

    /// Returns the documents of an area. Returns `None` if the area belongs to another page.
    fn layout(area: Area) -> Option<&'static [DocumentKind]> {
        let layout = Self::LAYOUTS.iter().find(|(each, _)| *each == area);
        layout.map(|(_, documents)| *documents)
    }

    /// Iterates over the kinds of the inputs: of all documents but those that pass through the page.
    fn kinds() -> impl Iterator<Item = DocumentKind> {
        let kept = Self::DOCUMENTS
            .iter()
            .filter(|document| !document.is_passing);
        kept.map(|document| document.kind)
    }

    /// Returns the document whose tab shows a document.
    fn tab(kind: DocumentKind) -> DocumentKind {
        let document = Self::DOCUMENTS.iter().find(|it| it.kind == kind);
        document.and_then(|it| it.below).unwrap_or(kind)
    }

    /// Returns whether an area shows a document.
    fn shows(area: Area, kind: DocumentKind) -> bool {
        Self::layout(area).is_some_and(|layout| layout.contains(&Self::tab(kind)))
    }

    /// Returns the first example.
    fn first_example() -> Option<&'static Example> {
        Self::GALLERIES.iter().find_map(|(.., all)| all.first())
    }

    /// Returns a text of the first example.
    fn first_text(kind: DocumentKind) -> &'static str {
        let first = Self::first_example();
        first.map_or("", |example| example.text(kind, Self::BASIS, |_| ""))
    }
}

/// The views and actions of one page, and their state.
pub trait Content: Documents + WorkerProtocol + Clone + Debug + Default + PartialEq {
    /// The page's own keyboard shortcuts, and what each does.
    const KEYS: &'static [(&'static str, &'static str)];
    /// The name under which the browser keeps the page's inputs.
    const NAME: &'static str;
    /// The names of the page's own fields of its inputs.
    const FIELDS: &'static [&'static str] = &[];

    /// Returns the content of the next request. When it changes, the page sends a request.
    fn wanted(&self) -> Self::Wanted;

    /// Returns the problems of all documents.
    fn problems(&self) -> Rc<[Diagnostic]>;

    /// Returns the last answer in short, for where there is no room for more.
    fn brief(&self) -> Option<(Sign, String)>;

    /// Returns the answer of the visible area, which [`copy_answer`](crate::markdown::copy_answer) copies.
    fn in_words(&self) -> Option<InWords> {
        None
    }

    /// Returns the places that have a background in the editors.
    fn marks(&self) -> Vec<Mark>;

    /// Returns what the answer says against a document besides its problems, in two words.
    fn badge(&self, _kind: DocumentKind) -> Option<String> {
        None
    }

    /// Takes an answer. Returns false if it only shows more of the last decision.
    fn answered(&mut self, answer: Self::Answer) -> bool;

    /// Reacts to another area of the page.
    fn show_area(&mut self, _area: Area) {}

    /// Reacts to texts that replace those before, such as an example.
    fn replaced(&mut self) {}

    /// A text of the user has come into the document of [`Documents::DIVERSION`], beside those of an example.
    fn arrived(&mut self) {}

    /// Returns the page's own fields of its inputs, each with one of [`Content::FIELDS`].
    fn fields(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Returns fields for the open views, which links hold besides the inputs.
    fn views(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Takes the page's own fields of other inputs, if there are any.
    fn restore(_state: &mut State<Self>, _saved: &SavedInputs) {}

    /// Opens the views that `field` names, as [`Content::views`] does. Those that it does not name stay.
    fn show(_state: &mut State<Self>, _field: &dyn Fn(&str) -> String) {}

    /// Shows the answer of the visible area.
    fn answer() -> Html;

    /// Shows the introduction of the help dialog.
    fn help() -> Html;

    /// Shows the page's own buttons of the toolbar.
    fn toolbar(_page: &Page<Self>) -> Html {
        Html::default()
    }

    /// Shows the page's own field above the editor of a document.
    fn above(_page: &Page<Self>, _kind: DocumentKind) -> Html {
        Html::default()
    }

    /// Handles a shortcut of the page, pressed without Ctrl or Meta. Returns whether the key is one.
    /// `writing`: whether a field has the keyboard.
    fn press(_actor: &Actor<Self>, _event: &KeyboardEvent, _writing: bool) -> bool {
        false
    }
}
