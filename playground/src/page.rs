//! What every part of the page has at hand.

use crate::state::{Action, State};
use agent_protocol::{Edit, Fix, Place};
use agent_ui::editor::Editors;
use std::ops::Deref;
use std::rc::Rc;
use yew::prelude::*;

/// What can be done. It never changes, so that what only acts is not shown anew with each answer.
#[derive(Clone, PartialEq)]
pub(crate) struct Actor {
    pub(crate) dispatcher: UseReducerDispatcher<State>,
    pub(crate) editors: Rc<Editors>,
}

impl Actor {
    /// Has something happen.
    pub(crate) fn dispatch(&self, action: impl Into<Action>) {
        self.dispatcher.dispatch(action.into());
    }

    /// A callback that has something happen.
    pub(crate) fn on<E>(&self, action: impl Fn() -> Action + 'static) -> Callback<E> {
        let dispatcher = self.dispatcher.clone();
        Callback::from(move |_| dispatcher.dispatch(action()))
    }

    /// Shows a place in its editor, with the cursor at it.
    pub(crate) fn go_to(&self, place: Place) {
        self.dispatch(Action::ShowInput(place.source));
        self.editors.reveal_soon(place, true);
    }

    /// Carries out suggested changes, and says how to take them back.
    pub(crate) fn on_apply(&self) -> Callback<Fix> {
        let actor = self.clone();
        Callback::from(move |fix: Fix| {
            if let Some(edits) = &fix.edits {
                actor.carry_out(&fix.text, edits);
            }
        })
    }

    /// Makes changes, and says how to take them back.
    pub(crate) fn carry_out(&self, what: &str, edits: &[Edit]) {
        let notice = self.editors.carry_out(what, edits);
        for source in &notice.undo {
            self.dispatch(Action::BringInput(*source));
        }
        self.dispatch(notice);
    }
}

/// What can be done, for a component.
#[hook]
pub(crate) fn use_actor() -> Actor {
    use_context().expect("the page is around every component")
}

/// The state, and what can be done.
#[derive(Clone, PartialEq)]
pub(crate) struct Page {
    pub(crate) state: UseReducerHandle<State>,
    pub(crate) actor: Actor,
}

impl Deref for Page {
    type Target = Actor;

    fn deref(&self) -> &Actor {
        &self.actor
    }
}

/// The page, for a component.
#[hook]
pub(crate) fn use_page() -> Page {
    use_context().expect("the page is around every component")
}
