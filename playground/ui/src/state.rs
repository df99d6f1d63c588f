//! The state of a page, except for the texts, which the editors hold.

use crate::areas::Area;
use crate::content::Content;
use crate::example::Example;
use crate::notice::Notice;
use crate::worker::{Edits, WorkerEvent};
use agent_answer::DocumentKind;
use std::rc::Rc;
use yew::{Html, Reducible};

/// The condition of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// It is being loaded. The text says so.
    Loading(&'static str),
    /// It answers.
    Ready,
    /// It failed, for this reason.
    Failed(String),
}

/// The part of the page that is visible where there is room for one only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pane {
    /// A document.
    Input(DocumentKind),
    /// The answer.
    #[default]
    Answer,
}

/// A dialog over the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialog {
    /// Its heading.
    pub title: &'static str,
    /// Its content.
    pub body: Html,
}

/// The state of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct State<C: Content> {
    /// The condition of the engine.
    pub engine: Engine,
    /// The worker's description of itself.
    pub about: Rc<C::About>,
    /// The visible area, or the last visible one while another page is visible.
    pub area: Area,
    /// The number of the latest request. It rises with every change that needs a request.
    pub revision: u32,
    /// The revision of the last answer.
    answered: u32,
    /// The first revision after the latest replacement of texts.
    replaced: u32,
    /// The same of the last answer. An editor forgets its marks when its text is replaced.
    pub(crate) marked: u32,
    /// The engine's time for the last decision; 0 before the first.
    pub milliseconds: f64,
    /// The number of edits of each text.
    pub edits: Edits,
    /// The number of times that the user stopped the engine.
    pub(crate) stops: u32,
    /// The part that is visible where there is room for one only.
    pub pane: Pane,
    /// The visible one of the lower documents.
    pub lower: DocumentKind,
    /// The dialog over the page.
    pub dialog: Option<Dialog>,
    /// The notice over the page.
    pub notice: Option<Notice>,
    /// The open example, until one of its texts is edited.
    pub example: Option<&'static Example>,
    /// The step of the tour that is shown, once it has begun.
    pub(crate) tour: Option<usize>,
    /// Whether all texts are those of an example, so that no work is lost with them.
    pub untouched: bool,
    /// The page's own state.
    pub content: C,
}

type Change<C> = dyn FnOnce(&mut State<C>);

/// A change of the state.
pub struct Update<C: Content>(pub(crate) Box<Change<C>>);

impl<C: Content> Reducible for State<C> {
    type Action = Update<C>;

    fn reduce(self: Rc<Self>, Update(update): Update<C>) -> Rc<Self> {
        let mut state = Rc::unwrap_or_clone(self);
        state.change(update);
        Rc::new(state)
    }
}

impl<C: Content> State<C> {
    /// Returns the state in which an area is first visible.
    pub fn new(area: Area) -> Self {
        let layout = C::LAYOUTS.iter().find(|(each, _)| *each == area);
        let (area, documents) = *layout.unwrap_or(&C::LAYOUTS[0]);
        let mut content = C::default();
        content.show_area(area);
        Self {
            engine: Engine::Loading("Loading the engine…"),
            about: Rc::default(),
            area,
            revision: 0,
            answered: 0,
            replaced: 0,
            marked: 0,
            milliseconds: 0.0,
            edits: Edits::default(),
            stops: 0,
            pane: Pane::default(),
            lower: documents[1],
            dialog: None,
            notice: None,
            example: None,
            tour: None,
            untouched: false,
            content,
        }
    }

    /// Returns whether the page shows an answer to earlier texts.
    pub fn stale(&self) -> bool {
        self.answered != self.revision
    }

    /// Returns the document that is always visible, and those below it.
    pub(crate) fn layout(&self) -> (DocumentKind, &'static [DocumentKind]) {
        let documents = C::layout(self.area).unwrap_or(C::LAYOUTS[0].1);
        (documents[0], &documents[1..])
    }

    /// Changes the state. The revision rises with everything that needs a request.
    pub fn change(&mut self, update: impl FnOnce(&mut Self)) {
        let before = (self.edits, self.content.wanted());
        update(self);
        if (self.edits, self.content.wanted()) != before {
            self.revision += 1;
        }
    }

    /// Sends the same request again, after a failure.
    pub(crate) fn ask_again(&mut self) {
        self.revision += 1;
    }

    /// Counts edits of texts.
    pub fn edit(&mut self, kinds: &[DocumentKind]) {
        // Those that pass through the page are no work on its inputs.
        if kinds.iter().any(|kind| C::kinds().any(|it| it == *kind)) {
            self.example = None;
            self.untouched = false;
        }
        for kind in kinds {
            self.edits[*kind as usize] += 1;
        }
    }

    /// Counts texts that replaced those before, such as an example.
    pub fn replace(&mut self, kinds: &[DocumentKind]) {
        self.edit(kinds);
        self.replaced = self.revision + 1;
        self.content.replaced();
    }

    /// Handles an event of the worker.
    pub fn handle(&mut self, event: WorkerEvent<C>) {
        match event {
            WorkerEvent::Loading(message) => self.engine = Engine::Loading(message),
            WorkerEvent::Ready(about) => {
                self.engine = Engine::Ready;
                self.about = Rc::new(about);
            }
            // The answer is about replaced texts. A request about the present ones is under way.
            WorkerEvent::Answered { revision, .. } if revision < self.replaced => {}
            WorkerEvent::Answered {
                revision,
                answer,
                milliseconds,
            } => {
                self.answered = revision;
                self.marked = self.replaced;
                if self.content.answered(answer) {
                    self.milliseconds = milliseconds;
                }
            }
            WorkerEvent::Failed(reason) => self.engine = Engine::Failed(reason),
        }
    }

    /// Shows a document.
    pub fn show_input(&mut self, kind: DocumentKind) {
        self.bring_inputs(&[kind]);
        self.pane = Pane::Input(kind);
    }

    /// Shows documents where there is room for them beside what is visible. The last one stays
    /// visible.
    pub(crate) fn bring_inputs(&mut self, kinds: &[DocumentKind]) {
        for kind in kinds {
            let tab = C::tab(*kind);
            if self.layout().1.contains(&tab) {
                self.lower = tab;
            }
        }
    }

    /// Shows another area of this page. The areas of other pages leave this one as it is.
    pub fn show_area(&mut self, area: Area) {
        if C::layout(area).is_none() || area == self.area {
            return;
        }
        self.area = area;
        self.content.show_area(area);
        let (_, lower) = self.layout();
        if !lower.contains(&self.lower) {
            self.lower = lower[0];
        }
        if let Pane::Input(_) = self.pane {
            self.pane = Pane::Answer;
        }
    }
}
