//! The headline and the footer of all answers.

use crate::browser::now;
use crate::content::Content;
use crate::examples::shown_example;
use crate::page::{Page, use_page};
use crate::state::Engine;
use gloo_timers::callback::{Interval, Timeout};
use yew::prelude::*;

/// The version of the engine, which is that of the page.
pub const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// The SHA-256 of the component that the command line embeds, built from the same sources. A build
/// of the page alone has no digest.
const COMPONENT: Option<&str> = option_env!("AGENT_COMPONENT_SHA256");

/// Time after which an answer to earlier inputs is grey, in milliseconds. Most are replaced before.
const OVERDUE: u32 = 400;

/// Returns the classes of an answer. A class for each key would style the whole answer twice a key.
#[hook]
pub fn use_answer_classes(stale: bool) -> Classes {
    let overdue = use_state_eq(|| false);
    {
        let overdue = overdue.clone();
        use_effect_with(stale, move |stale| {
            let timer = stale.then(|| {
                let overdue = overdue.clone();
                Timeout::new(OVERDUE, move || overdue.set(true))
            });
            overdue.set(false);
            move || drop(timer)
        });
    }
    classes!("answer", (stale && *overdue).then_some("stale"))
}

/// The properties of a [`Wait`].
#[derive(Properties, PartialEq)]
pub struct WaitProps {
    /// Whether the engine works.
    pub waiting: bool,
    /// What it does, and what is shown meanwhile.
    pub words: &'static str,
    /// Ends its work.
    pub on_stop: Callback<MouseEvent>,
}

/// Says that the engine works, once that takes a second, and for how long it does. The element is always there, so that
/// screen readers announce its text.
#[component]
pub fn Wait(props: &WaitProps) -> Html {
    let seconds = use_state_eq(|| 0);
    {
        let seconds = seconds.clone();
        use_effect_with(props.waiting, move |waiting| {
            let timer = waiting.then(|| {
                let (begin, seconds) = (now(), seconds.clone());
                Interval::new(1_000, move || seconds.set((now() - begin) / 1_000))
            });
            seconds.set(0);
            move || drop(timer)
        });
    }
    let is_long = props.waiting && *seconds > 0;
    html! {
        <div class="status wait">
            <p aria-live="polite">
                if is_long { { props.words } }
            </p>
            if is_long {
                <span class="quiet" aria-hidden="true">{ format!("{} s", *seconds) }</span>
                <button onclick={props.on_stop.clone()}>{ "Stop" }</button>
            }
        </div>
    }
}

/// Shows why there is no answer to the present inputs, if it takes longer than a moment.
/// `answered` says whether there is one to earlier inputs, which is shown below.
pub fn status<C: Content>(page: &Page<C>, answered: bool) -> Html {
    let stale = page.state.stale();
    let below = (answered && stale).then_some(" Below, in grey, is the answer to earlier inputs.");
    match &page.state.engine {
        Engine::Failed(reason) => html! {
            <div class="status failure" role="alert">
                <p>
                    if stale { <strong>{ "These inputs are undecided" }</strong>{ ": " } }
                    { format!("{reason}. Your inputs are safe; the next change tries again.") }
                    { below }
                </p>
                <button onclick={page.on(|state| state.ask_again())}>{ "Try again" }</button>
            </div>
        },
        Engine::Loading(message) => {
            let class = if answered { "loading" } else { "waiting" };
            html! { <p class={classes!("status", class)} role="status">{ *message }{ below }</p> }
        }
        Engine::Ready => {
            let words = match answered {
                true => "Deciding… Below is the answer to earlier inputs.",
                false => "Deciding…",
            };
            html! { <Wait waiting={stale} {words} on_stop={page.on(|state| state.stops += 1)} /> }
        }
    }
}

/// A yes or a no, and how to show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sign {
    /// The class of the element around it.
    pub class: &'static str,
    /// The character.
    pub mark: &'static str,
    /// The same in words, for screen readers.
    pub words: &'static str,
}

impl Sign {
    /// Returns the sign of a yes.
    pub const fn yes(words: &'static str) -> Self {
        Self {
            class: "yes",
            mark: "✓",
            words,
        }
    }

    /// Returns the sign of a no.
    pub const fn no(words: &'static str) -> Self {
        Self {
            class: "no",
            mark: "✗",
            words,
        }
    }

    /// Returns the sign of a yes with reservations.
    pub const fn caution(words: &'static str) -> Self {
        Self {
            class: "caution",
            mark: "!",
            words,
        }
    }

    /// Returns the sign of a difference, which is neither good nor bad.
    pub const fn neutral(words: &'static str) -> Self {
        Self {
            class: "neutral",
            mark: "≠",
            words,
        }
    }

    /// Returns one of two signs.
    pub const fn of(yes: bool, yes_words: &'static str, no_words: &'static str) -> Self {
        if yes {
            Self::yes(yes_words)
        } else {
            Self::no(no_words)
        }
    }

    /// Shows the character.
    pub fn mark(&self) -> Html {
        html! { <span class="mark" aria-hidden="true">{ self.mark }</span> }
    }

    /// Shows the character, with its words for screen readers, in front of a name.
    pub fn before(&self, name: Html) -> Html {
        html! {
            <>
                { self.mark() }
                <span class="visually-hidden">{ self.words }{ ": " }</span>
                { name }
            </>
        }
    }
}

/// Shows an answer in a sentence, and some facts about it. Screen readers announce the sentence alone.
pub fn headline(sign: Sign, sentence: &str, facts: &[String]) -> Html {
    reasoned_headline(sign, sentence.into(), None, facts)
}

/// Shows an answer in a sentence with the reason for it, and some facts.
pub fn reasoned_headline(
    sign: Sign,
    sentence: Html,
    reason: Option<&str>,
    facts: &[String],
) -> Html {
    html! {
        <div class="headline">
            <p class={classes!("answer-line", sign.class)} role="status">
                { sign.mark() }{ sentence }
            </p>
            if let Some(reason) = reason { <p class="reason">{ reason }</p> }
            if !facts.is_empty() { <p class="facts"><bdi>{ facts.join(" · ") }</bdi></p> }
        </div>
    }
}

/// The properties of an [`AnswerPanel`].
#[derive(Properties, PartialEq)]
pub struct AnswerPanelProps {
    /// The id of the element that scrolls.
    pub id: &'static str,
    /// Its name for screen readers.
    pub label: &'static str,
    /// The number of the texts that were replaced so far. An answer to other texts begins at its top.
    #[prop_or_default]
    pub top: u32,
    /// The answer.
    pub children: Html,
}

/// The answer of an area without tabs.
#[component]
pub fn AnswerPanel<C: Content>(props: &AnswerPanelProps) -> Html {
    let page = use_page::<C>();
    let stale = page.state.stale();
    let classes = use_answer_classes(stale);
    html! {
        <section class={classes} aria-label="Answer">
            <h2 class="visually-hidden">{ "Answer" }</h2>
            { shown_example(&page) }
            <div
                key={props.top}
                class="panel"
                id={props.id}
                tabindex="0"
                role="region"
                aria-label={props.label}
                aria-busy={stale.to_string()}
            >
                { props.children.clone() }
            </div>
        </section>
    }
}

/// Shows the footer of a page: the version of the engine, and its time for the last decision.
pub(crate) fn footer(milliseconds: f64) -> Html {
    let tenths = (milliseconds * 10.0 + 0.5) as u32;
    html! {
        <footer class="foot">
            <span>{ "engine " }{ ENGINE }</span>
            if milliseconds > 0.0 {
                <span class="time">{ format!("decided in {}.{} ms", tenths / 10, tenths % 10) }</span>
            }
            if let Some(digest) = COMPONENT {
                <span class="digest" title="SHA-256 of the component that the command line embeds">
                    { "component sha256 " }<code>{ digest }</code>
                </span>
            }
            <a href="https://github.com/agent-engine/agent">{ "source" }</a>
        </footer>
    }
}
