//! A first minute: a few edits of the first example, each with what it changes.

use crate::content::Content;
use crate::page::Page;
use crate::problems::prose;
use agent_answer::DocumentKind;
use yew::prelude::*;

/// An edit that the user is asked for.
#[derive(Debug)]
pub struct Step {
    /// What to edit.
    pub says: &'static str,
    /// What it changed.
    pub then: &'static str,
    /// The document.
    pub kind: DocumentKind,
    /// A text of it.
    pub before: &'static str,
    /// The text that replaces it. The step is done when the document has it.
    pub after: &'static str,
}

/// Shows the present step, or what begins the first one; `None` if there is no step to show.
pub(crate) fn tour<C: Content>(page: &Page<C>) -> Option<Html> {
    let Some(at) = page.state.tour else {
        let begin = page.on(|state| state.tour = Some(0));
        // Another example has none of the texts.
        let has = |it: &Step| page.editors.text(it.kind).includes(it.before, 0);
        let is_offered = page.state.untouched && !C::TOUR.is_empty() && C::TOUR.iter().all(has);
        return is_offered.then(|| html! { <button onclick={begin}>{ "Three edits" }</button> });
    };
    let step = C::TOUR.get(at)?;
    let text = page.editors.text(step.kind);
    let is_done = text.includes(step.after, 0);
    let go = page.callback(move |page, _| {
        if !is_done {
            page.editors.replace(
                step.kind,
                &String::from(text.replace(step.before, step.after)),
            );
            page.update(|state| state.bring_inputs(&[step.kind]));
            return;
        }
        page.update(move |state| state.tour = Some(at + 1));
    });
    let leave = page.on(|state| state.tour = Some(C::TOUR.len()));
    Some(html! {
        <>
            <span role="status">
                { format!("{} of {}. ", at + 1, C::TOUR.len()) }
                { prose(if is_done { step.then } else { step.says }) }
            </span>
            <button class="primary" onclick={go}>{ if is_done { "Next" } else { "Do it" } }</button>
            <button onclick={leave}>{ "Leave" }</button>
        </>
    })
}
