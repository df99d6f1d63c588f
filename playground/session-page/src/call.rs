//! The decision on the call in the editor.

use crate::arguments::arguments;
use crate::events::{asked, happens, tool};
use crate::refusal::{instead, line, raw, refusal};
use crate::state::Page;
use agent_answer::{DocumentKind, visible};
use agent_ui::answer::Sign;
use agent_ui::markdown::InWords;
use agent_ui::names::name;
use agent_ui::problems::prose;
use agent_ui::words::thousands;
use agent_worker_protocol::session::{Decided, Event, SessionView};
use yew::prelude::*;

/// The id of the heading, which gets the keyboard when another call is chosen.
pub(crate) const DRAFT: &str = "draft";

/// Returns a decision as a yes or a no.
pub(crate) const fn decision_sign(decided: &Decided) -> Sign {
    match decided {
        Decided::Forward { .. } => Sign::yes("Passed on"),
        Decided::Answer { .. } => Sign::yes("Answered by the helper"),
        Decided::Refuse(_) => Sign::no("Refused"),
        Decided::Ask { .. } => Sign {
            mark: "?",
            ..Sign::caution("A human must approve it")
        },
        Decided::Error { .. } => Sign::no("An error of the protocol"),
    }
}

/// Returns what is decided about a call, with the reasons of a refusal.
pub(crate) fn in_words(decided: &Decided) -> InWords {
    let lines = match decided {
        Decided::Refuse(it) => it.reasons.iter().map(line).collect(),
        Decided::Ask { text, .. } | Decided::Error { message: text, .. } => {
            vec![visible(text).into_owned()]
        }
        Decided::Forward { .. } | Decided::Answer { .. } => Vec::new(),
    };
    let sign = decision_sign(decided);
    InWords {
        sign,
        sentence: sign.words.to_owned(),
        lines,
    }
}

/// Shows what is decided about the call in the editor, and makes it.
pub(crate) fn draft(page: &Page, session: &SessionView) -> Html {
    let body = match &session.draft {
        Some(decided) => decision(page, session, decided),
        None => html! {
            <p class="quiet">
                { "Write a call into " }<code>{ "tools-call.json" }</code>{ ", or choose a tool below." }
            </p>
        },
    };
    html! {
        <section class="draft" aria-labelledby={DRAFT}>
            <h3 id={DRAFT} tabindex="-1">{ "This call" }</h3>
            { body }
        </section>
    }
}

fn decision(page: &Page, session: &SessionView, decided: &Decided) -> Html {
    let sign = decision_sign(decided);
    let details = match decided {
        Decided::Forward {
            server,
            params,
            timeout_ms,
        } => html! {
            <>
                <p>
                    { "The server " }{ tool(server) }
                    { format!(" gets it, and has {} s to answer.", thousands((timeout_ms / 1_000) as u32)) }
                </p>
                { arguments(&session.draft_arguments, &[]) }
                { raw("What the server gets", params) }
            </>
        },
        Decided::Answer { texts, result } => html! {
            <>
                <p>{ "No server gets it. The model reads:" }</p>
                { for texts.iter().map(|text| html! { <pre class="model">{ name(text, "") }</pre> }) }
                { raw("The result as the client gets it", result) }
            </>
        },
        Decided::Refuse(it) => html! {
            <>
                { refusal(Some((page, session)), it) }
                { arguments(&session.draft_arguments, &it.reasons) }
            </>
        },
        Decided::Ask { text, wait_ms, .. } => html! {
            <>
                { arguments(&session.draft_arguments, &[]) }
                { asked(text) }
                <p class="quiet">
                    { format!("The call waits for up to {} s. Once approved, the same call passes once.",
                        thousands((wait_ms / 1_000) as u32)) }
                </p>
            </>
        },
        Decided::Error {
            code,
            message,
            instead: names,
        } => html! {
            <>
                <p>{ prose(message) }<span class="quiet">{ format!(" · JSON-RPC {code}") }</span></p>
                { instead(Some((page, session)), names) }
            </>
        },
    };
    let make = {
        let editors = page.editors.clone();
        happens(page, move || {
            Event::Call(String::from(editors.text(DocumentKind::StepInput)))
        })
    };
    // One next action: what waits comes first.
    let is_next = session.questions.is_empty() && session.open.is_empty();
    let class = is_next.then_some("primary");
    let full = (!page.content().has_room()).then_some("true");
    html! {
        <div class={classes!("card", "decision", sign.class)}>
            <p class={classes!("answer-line", sign.class)} role="status">{ sign.mark() }{ sign.words }</p>
            { taken_for(session) }
            { details }
            <p class="actions">
                <button {class} aria-disabled={full} onclick={make}>{ "Make this call" }</button>
            </p>
        </div>
    }
}

/// Shows what rules about earlier calls take the call for.
fn taken_for(session: &SessionView) -> Html {
    let words = session.history.iter().flat_map(|it| &it.draft);
    let words: Vec<_> = words.cloned().collect();
    html! {
        if !words.is_empty() {
            <p class="facts">{ prose(&format!("It {}", words.join(", "))) }</p>
        }
    }
}
