//! Where the keyboard goes after a step of the session.

use crate::state::Page;
use agent_ui::browser::focus;
use agent_worker_protocol::session::{Event, SessionView};
use yew::prelude::*;

/// The id of the heading of the history.
pub(crate) const PAST: &str = "past";

/// Returns the id of the heading of a question, by its approval.
pub(crate) fn question_id(approval: &str) -> String {
    format!("question-{approval}")
}

/// Returns the id of the heading of a call that waits for its server.
pub(crate) fn open_id(call: u64) -> String {
    format!("open-{call}")
}

/// Moves the keyboard to what begins to wait with the user's step. After an answer, whose button is gone,
/// it goes to the history instead. A heading and not a button gets it: a second Enter must not approve.
#[hook]
pub(crate) fn use_keyboard(page: &Page) {
    let content = page.content();
    let steps = content.steps;
    let last = content.events.last();
    let answers = matches!(last, Some(Event::Answer { .. } | Event::Decide { .. }));
    let waits = content.session().map(waits).unwrap_or_default();
    // The steps that were followed, and what waited then.
    let known = use_mut_ref(|| (steps, waits.clone()));
    use_effect_with(
        (steps, page.state.stale(), waits),
        move |(steps, stale, waits)| {
            if *stale {
                return;
            }
            let (followed, before) = known.replace((*steps, waits.clone()));
            if followed == *steps {
                return;
            }
            let new = waits.iter().find(|it| !before.contains(it));
            match new {
                Some(id) => focus(id),
                None if answers => focus(PAST),
                None => {}
            }
        },
    );
}

fn waits(session: &SessionView) -> Vec<String> {
    let questions = session.questions.iter();
    let questions = questions.map(|it| question_id(&it.approval));
    let open = session.open.iter().map(|it| open_id(it.call));
    questions.chain(open).collect()
}
