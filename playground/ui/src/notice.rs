//! A sentence for the person.

use crate::browser;
use crate::problems::prose;
use agent_protocol::DocumentKind;
use yew::prelude::*;

/// A sentence for the person, until the next one or until it is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The sentence.
    pub text: String,
    /// Whether something went wrong.
    pub alarming: bool,
    /// The texts in which a step can be taken back.
    pub undo: Vec<DocumentKind>,
}

impl Notice {
    /// That something was done.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            alarming: false,
            undo: Vec::new(),
        }
    }

    /// That something went wrong.
    pub fn alarm(text: impl Into<String>) -> Self {
        Self {
            alarming: true,
            ..Self::done(text)
        }
    }
}

/// Copies a text, and says whether it could be done.
pub async fn copied(what: &str, text: &str) -> Notice {
    if browser::copy(text).await {
        Notice::done(format!("Copied {what}"))
    } else {
        Notice::alarm("The browser does not allow copying here")
    }
}

/// What is to be said, and what a person can do about it.
#[derive(Properties, PartialEq)]
pub struct NoticeLineProps {
    /// None: nothing is to be said.
    pub notice: Option<Notice>,
    /// Called with the texts in which a step is to be taken back.
    pub on_undo: Callback<Vec<DocumentKind>>,
    /// Called when it was read.
    pub on_close: Callback<MouseEvent>,
}

/// The last thing that is to be said.
#[component]
pub fn NoticeLine(props: &NoticeLineProps) -> Html {
    let notice = props.notice.as_ref().map(|notice| {
        let undo = {
            let (on_undo, sources) = (props.on_undo.clone(), notice.undo.clone());
            Callback::from(move |_: MouseEvent| on_undo.emit(sources.clone()))
        };
        html! {
            <p class={classes!("notice", notice.alarming.then_some("alarming"))}>
                <span>{ prose(&notice.text) }</span>
                if !notice.undo.is_empty() {
                    <button onclick={undo}>{ "Undo" }</button>
                }
                <button class="close" onclick={props.on_close.clone()} aria-label="Close">
                    { "×" }
                </button>
            </p>
        }
    });
    html! { <div class="notices" role="status" aria-live="polite">{ notice }</div> }
}
