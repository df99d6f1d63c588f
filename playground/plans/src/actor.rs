//! What every part of the page has at hand.

use crate::state::{Action, State};
use agent_protocol::{Fix, Place};
use agent_ui::editor::Editors;
use std::ops::Deref;
use std::rc::Rc;
use yew::prelude::*;

/// What can be done. It never changes.
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

    /// Brings places into sight, the first of each input, without moving the cursor.
    pub(crate) fn point_out(&self, places: &[Place]) {
        let mut pointed_out = Vec::new();
        for place in places {
            if !pointed_out.contains(&place.source) {
                pointed_out.push(place.source);
                self.editors.reveal_soon(*place, false);
            }
        }
        // Of several for which there is room for one, the first.
        for source in pointed_out.into_iter().rev() {
            self.dispatch(Action::BringInput(source));
        }
    }

    /// Carries out suggested changes, and says how to take them back.
    pub(crate) fn on_apply(&self) -> Callback<Fix> {
        let actor = self.clone();
        Callback::from(move |fix: Fix| {
            let Some(edits) = &fix.edits else { return };
            let notice = actor.editors.carry_out(&fix.text, edits);
            for source in &notice.undo {
                actor.dispatch(Action::BringInput(*source));
            }
            actor.dispatch(notice);
        })
    }
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
