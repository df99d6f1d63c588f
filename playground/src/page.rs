//! What every part of the page has at hand.

use crate::editor::{Editors, INPUTS};
use crate::state::{Action, Notice, State};
use agent_protocol::{Edit, Fix, Place};
use gloo_timers::callback::Timeout;
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
    pub(crate) fn dispatch(&self, action: Action) {
        self.dispatcher.dispatch(action);
    }

    /// A callback that has something happen.
    pub(crate) fn on<E>(&self, action: impl Fn() -> Action + 'static) -> Callback<E> {
        let dispatcher = self.dispatcher.clone();
        Callback::from(move |_| dispatcher.dispatch(action()))
    }

    /// Shows a place in its editor, with the cursor at it.
    pub(crate) fn go_to(&self, place: Place) {
        self.dispatch(Action::ShowInput(place.source));
        let editors = Rc::clone(&self.editors);
        // Behind the rendering: an editor that is not seen can't scroll.
        Timeout::new(0, move || editors.reveal(&place, true)).forget();
    }

    /// Carries out a suggested change, and says how to take it back.
    pub(crate) fn apply(&self, fix: &Fix) {
        if let Some(edits) = &fix.edits {
            self.carry_out(&fix.text, edits);
        }
    }

    /// Makes changes, and says how to take them back.
    pub(crate) fn carry_out(&self, what: &str, edits: &[Edit]) {
        self.editors.apply(edits);
        let undo: Vec<_> = INPUTS
            .into_iter()
            .filter(|source| edits.iter().any(|edit| edit.place.source == *source))
            .collect();
        for source in &undo {
            self.dispatch(Action::BringInput(*source));
        }
        self.dispatch(Action::Tell(Notice {
            text: format!("Applied: {what}"),
            alarming: false,
            undo,
        }));
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

/// `1 server`, `2 servers`.
pub(crate) fn count(number: u32, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// `10,000`
pub(crate) fn thousands(number: u32) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::{count, thousands};

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [
            (0, "0"),
            (7, "7"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345, "12,345"),
            (100_000, "100,000"),
            (1_000_000, "1,000,000"),
            (u32::MAX, "4,294,967,295"),
        ] {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(count(0, "server"), "0 servers");
        assert_eq!(count(1, "server"), "1 server");
        assert_eq!(count(10_000, "server"), "10,000 servers");
    }
}
