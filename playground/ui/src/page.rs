//! The state of a page and the actions on it, for every component.

use crate::browser::{self, use_window_event};
use crate::content::{Content, Diversion, Fits};
use crate::editor::Editors;
use crate::keeping::Keeping;
use crate::names::document_name;
use crate::notice::{Notice, Undo};
use crate::state::{State, Update};
use agent_answer::{DocumentKind, Fix, Place};
use gloo_timers::callback::Timeout;
use std::ops::Deref;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Numbers of UTF-16 units of a text that may show its kind. Most show it early, and an edit of a large text should not
/// read all of it. One whose beginning shows nothing is read as a whole: the browser must not keep its secrets.
const BEGINNINGS: [u32; 3] = [4096, 1 << 20, u32::MAX];

/// Returns the function that recognises the texts of a document that belong elsewhere, if it has one. A file of an
/// unknown name has that of the first document.
fn fits(diversion: &Diversion, from: Option<DocumentKind>) -> Option<Fits> {
    let mut from_all = diversion.from.iter();
    let found = from_all.find(|(kind, _)| from.is_none_or(|from| from == *kind));
    found.map(|(_, fits)| *fits)
}

/// The actions on a page. It never changes, so that a component that only acts is not rendered again
/// with each answer.
#[derive(Clone, PartialEq)]
pub struct Actor<C: Content> {
    pub(crate) dispatcher: UseReducerDispatcher<State<C>>,
    /// The editors of the page.
    pub editors: Rc<Editors>,
    /// The place of the inputs among those that the browser keeps.
    pub(crate) keeping: Rc<Keeping<C>>,
}

impl<C: Content> Actor<C> {
    /// Changes the state.
    pub fn update(&self, update: impl FnOnce(&mut State<C>) + 'static) {
        self.dispatcher.dispatch(Update(Box::new(update)));
    }

    /// Returns a callback that changes the state.
    pub fn on<E>(&self, update: impl FnOnce(&mut State<C>) + Clone + 'static) -> Callback<E> {
        self.callback(move |actor, _| actor.update(update.clone()))
    }

    /// Shows a notice.
    pub fn notify(&self, notice: Notice) {
        self.update(|state| state.notice = Some(notice));
    }

    /// Returns a callback that acts on an event.
    pub fn callback<E>(&self, act: impl Fn(&Self, E) + 'static) -> Callback<E> {
        let actor = self.clone();
        Callback::from(move |event| act(&actor, event))
    }

    /// Shows a place in its editor, with the cursor at it.
    pub fn go_to(&self, place: Place) {
        self.update(move |state| state.show_input(place.source));
        self.editors.reveal_soon(place, true);
    }

    /// Scrolls to places, the first of each document, without moving the cursor.
    pub fn point_out(&self, places: impl IntoIterator<Item = Place>) {
        let mut shown = Vec::new();
        for place in places {
            if !shown.contains(&place.source) {
                shown.push(place.source);
                self.editors.reveal_soon(place, false);
            }
        }
        // Of several documents in one place, the first stays visible.
        shown.reverse();
        self.update(move |state| state.bring_inputs(&shown));
    }

    /// Applies the edits of a fix, and offers to undo them.
    pub(crate) fn apply(&self, fix: Fix) {
        let undo = self.editors.apply(&fix.edits);
        self.point_out(fix.edits.iter().map(|edit| edit.place));
        self.notify(Notice {
            undo: Undo::Steps(undo),
            ..Notice::done(format!("Applied: {}", fix.title))
        });
    }

    /// Exchanges the texts of two documents, shows the second, and offers to undo it.
    pub(crate) fn exchange(&self, kinds: [DocumentKind; 2]) {
        let texts = kinds.map(|kind| String::from(self.editors.text(kind)));
        for (kind, text) in kinds.iter().rev().zip(&texts) {
            self.editors.replace(*kind, text);
        }
        let [one, other] = kinds.map(document_name);
        self.update(move |state| state.show_input(kinds[1]));
        self.notify(Notice {
            undo: Undo::Steps(kinds.to_vec()),
            ..Notice::done(format!("Exchanged {one} with {other}"))
        });
    }

    /// Puts a text that arrives in a document, or as a file of an unknown name, into the one that it belongs
    /// in. Returns that document, or `None` if it may stay.
    pub(crate) fn divert(&self, from: Option<DocumentKind>, text: &str) -> Option<DocumentKind> {
        let diversion = C::DIVERSION?;
        let to = diversion.to;
        // A whole document that is pasted where it belongs arrives too.
        let is_there = from == Some(to) && !self.editors.is_filled(to);
        if !is_there && fits(&diversion, from)?(text) != Some(true) {
            return None;
        }
        self.editors.replace(to, text);
        self.update(move |state| {
            state.show_input(to);
            if state.untouched {
                state.content.arrived();
            }
        });
        self.editors.focus_soon(to);
        Some(to)
    }

    /// Diverts the whole text of a document, after an edit. What the editor had before comes back.
    pub(crate) fn divert_all(&self, kind: DocumentKind) {
        if !self.is_diverted(kind) {
            return;
        }
        let actor = self.clone();
        // An editor that reports an edit can't take another one.
        let divert = move || {
            let text = String::from(actor.editors.text(kind));
            if actor.divert(Some(kind), &text).is_some() && !actor.editors.undo(kind) {
                actor.load([kind].into_iter(), |_| "");
            }
        };
        Timeout::new(0, divert).forget();
    }

    /// Returns whether a document has a text that belongs in another one.
    pub(crate) fn is_diverted(&self, kind: DocumentKind) -> bool {
        let fits = C::DIVERSION.and_then(|it| fits(&it, Some(kind)));
        fits.is_some_and(|fits| {
            let text = self.editors.text(kind);
            let found = BEGINNINGS
                .into_iter()
                .find_map(|length| fits(&String::from(text.slice(0, length))));
            found == Some(true)
        })
    }

    /// Loads texts into editors and replaces those before.
    pub fn load<'t>(
        &self,
        kinds: impl Iterator<Item = DocumentKind>,
        text: impl Fn(DocumentKind) -> &'t str,
    ) {
        let kinds: Vec<_> = kinds.collect();
        for kind in &kinds {
            self.editors.load(*kind, text(*kind));
        }
        self.update(move |state| state.replace(&kinds));
    }

    /// Copies a text to the clipboard, and says so. `what` names the text.
    pub fn copy(&self, what: &'static str, text: String) {
        let actor = self.clone();
        spawn_local(async move {
            actor.notify(if browser::copy(&text).await {
                Notice::done(format!("Copied {what}"))
            } else {
                Notice::alarm("The browser does not allow copying here")
            });
        });
    }
}

/// The state of the page, and the actions on it.
#[derive(Clone, PartialEq)]
pub struct Page<C: Content> {
    /// The state.
    pub state: UseReducerHandle<State<C>>,
    /// The actions.
    pub actor: Actor<C>,
}

impl<C: Content> Page<C> {
    /// Returns the page's own state.
    pub fn content(&self) -> &C {
        &self.state.content
    }

    /// Replaces all inputs, and offers to undo it.
    pub fn replace_inputs<'t>(&self, text: impl Fn(DocumentKind) -> &'t str, done: &str) {
        let before = self.keeping.set_aside(self);
        self.load(C::kinds(), text);
        self.notify(Notice::replaced(done, before));
    }

    /// Undoes what a notice offers to undo.
    pub(crate) fn undo(&self, undo: &Undo) {
        match undo {
            Undo::Nothing => {}
            Undo::Steps(kinds) => kinds.iter().for_each(|kind| {
                self.editors.undo(*kind);
            }),
            Undo::Inputs(before) => self.keeping.restore(self, before),
        }
        self.update(|state| state.notice = None);
    }

    /// Returns a callback that acts on an event, in the latest state.
    pub fn callback<E>(&self, act: impl Fn(&Self, E) + 'static) -> Callback<E> {
        let page = self.clone();
        Callback::from(move |event| act(&page, event))
    }
}

impl<C: Content> Deref for Page<C> {
    type Target = Actor<C>;

    fn deref(&self) -> &Actor<C> {
        &self.actor
    }
}

/// Returns the state and the actions.
#[hook]
pub fn use_page<C: Content>() -> Page<C> {
    use_context().expect("`App` is around every component")
}

/// Acts on an event of the window, in the latest state.
#[hook]
pub(crate) fn use_page_event<C: Content>(
    name: &'static str,
    page: &Page<C>,
    act: impl Fn(&Page<C>) + 'static,
) {
    let latest = use_mut_ref(|| page.clone());
    latest.replace(page.clone());
    use_window_event(name, move |_| {
        let page = latest.borrow().clone();
        act(&page);
    });
}
