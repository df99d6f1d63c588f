//! A short message for the user.

use crate::content::Content;
use crate::dialog::close;
use crate::page::Page;
use crate::problems::prose;
use agent_answer::DocumentKind;
use yew::prelude::*;

/// A message that stays until the next one, or until the user closes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The message.
    pub text: String,
    /// Whether something went wrong.
    pub alarming: bool,
    /// The documents in which the user can undo the change.
    pub undo: Vec<DocumentKind>,
}

impl Notice {
    /// Reports a success.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            alarming: false,
            undo: Vec::new(),
        }
    }

    /// Reports a failure.
    pub fn alarm(text: impl Into<String>) -> Self {
        Self {
            alarming: true,
            ..Self::done(text)
        }
    }
}

/// Shows the notice of a page.
pub(crate) fn notice<C: Content>(page: &Page<C>) -> Html {
    let notice = page.state.notice.as_ref().map(|notice| {
        let kinds = notice.undo.clone();
        let undo = page.callback(move |page, _| {
            for kind in &kinds {
                page.editors.undo(*kind);
            }
            page.update(|state| state.notice = None);
        });
        html! {
            <p class={classes!("notice", notice.alarming.then_some("alarming"))}>
                <span>{ prose(&notice.text) }</span>
                if !notice.undo.is_empty() {
                    <button onclick={undo}>{ "Undo" }</button>
                }
                { close("Close", page.on(|state| state.notice = None)) }
            </p>
        }
    });
    html! { <div class="notices" role="status" aria-live="polite">{ notice }</div> }
}
