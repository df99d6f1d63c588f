//! What happened in the session, and what may happen next.

use crate::arguments::{arguments, folded};
use crate::call::decision_sign;
use crate::keyboard::{PAST, open_id, question_id};
use crate::refusal::{raw, refusal};
use crate::state::{Page, State};
use agent_ui::answer::Sign;
use agent_ui::browser::value_of;
use agent_ui::names::name;
use agent_ui::problems::prose;
use agent_ui::words::{count, thousands};
use agent_worker_protocol::session::{
    Decided, Delivered, EVENTS_MAX, Event, OpenCall, Past, Question, SessionView,
};
use yew::prelude::*;

/// How long one button waits, in milliseconds: the window of a rate limit, and more than the time of an
/// approval.
const WAIT_MS: u64 = 60_000;

/// Returns a callback that adds an event, unless an answer is under way: a second click must not happen twice.
pub(crate) fn happens<E>(page: &Page, event: impl Fn() -> Event + 'static) -> Callback<E> {
    let stale = page.state.stale();
    page.callback(move |page, _| {
        if !stale {
            let event = event();
            page.update(move |state: &mut State| state.content.happen(event));
        }
    })
}

/// Shows the questions that wait for a human, and the calls that wait for a server.
pub(crate) fn waiting(page: &Page, session: &SessionView) -> Html {
    let questions = session.questions.iter().map(|it| question(page, it));
    let open = session.open.iter().map(|it| open_call(page, it));
    html! {
        <>
            // The element is always there, so that screen readers announce its text.
            <p class="visually-hidden" role="status">{ announcement(session) }</p>
            if !session.questions.is_empty() || !session.open.is_empty() {
                <section class="waits" aria-labelledby="waits">
                    <h3 id="waits">{ "What waits" }</h3>
                    { for questions }
                    { for open }
                </section>
            }
        </>
    }
}

fn announcement(session: &SessionView) -> String {
    match &*session.questions {
        [] => String::new(),
        [question] => format!("A call of {} waits for a human.", question.arguments.tool),
        questions => format!(
            "{} wait for a human.",
            count(questions.len() as u32, "call")
        ),
    }
}

fn question(page: &Page, question: &Question) -> Html {
    let decide = |yes: bool| {
        let approval = question.approval.clone();
        happens(page, move || Event::Decide {
            approval: approval.clone(),
            yes,
        })
    };
    html! {
        <div class="card waits-for" key={question.approval.clone()}>
            <h4 id={question_id(&question.approval)} tabindex="-1">
                { "May the agent call " }{ tool(&question.arguments.tool) }{ "?" }
            </h4>
            { arguments(&question.arguments, &[]) }
            { asked(&question.text) }
            <p class="quiet">{ seconds("The call still waits", question.wait_ms) }</p>
            <p class="actions">
                <button class="primary" onclick={decide(true)}>{ "Approve" }</button>
                <button class="primary deny" onclick={decide(false)}>{ "Deny" }</button>
            </p>
        </div>
    }
}

/// Shows the question of a call in the words that a human gets, closed at first.
pub(crate) fn asked(text: &str) -> Html {
    html! {
        <details class="folded">
            <summary>{ "The question as the human gets it" }</summary>
            <blockquote class="question">{ prose(text) }</blockquote>
        </details>
    }
}

fn open_call(page: &Page, open: &OpenCall) -> Html {
    let call = open.call;
    let text = page.content().result(call, &open.example).to_owned();
    let rows = text.lines().count().clamp(2, 10).to_string();
    let edit = page.callback(move |page, event: InputEvent| {
        let text = value_of(&event);
        page.update(move |state: &mut State| state.content.edit_result(call, text));
    });
    let answered = text.clone();
    let answer = happens(page, move || Event::Answer {
        call,
        result: answered.clone(),
    });
    let class = (!page.content().asks()).then_some("primary");
    html! {
        <div class="card waits-for" key={call.to_string()}>
            <h4 id={open_id(call)} tabindex="-1">
                { format!("Call {call} waits for its server: ") }
                { tool(&open.tool) }{ " of " }{ tool(&open.server) }
            </h4>
            { arguments(&open.arguments, &[]) }
            <label class="result">
                { "The server answers" }
                <textarea {rows} value={text} spellcheck="false" oninput={edit} />
            </label>
            <p class="actions"><button {class} onclick={answer}>{ "Answer" }</button></p>
        </div>
    }
}

/// Shows what happened, and the buttons that take it back.
pub(crate) fn past(page: &Page, session: &SessionView) -> Html {
    let items = session
        .past
        .iter()
        .map(|it| html! { <li>{ happened(it) }</li> });
    let has_past = !session.past.is_empty();
    let back = |all: bool| {
        page.callback(move |page, _: MouseEvent| {
            page.update(move |state: &mut State| {
                let events = &mut state.content.events;
                let left = if all {
                    0
                } else {
                    events.len().saturating_sub(1)
                };
                events.truncate(left);
            });
        })
    };
    let wait = happens(page, || Event::Wait(WAIT_MS));
    let disabled = (!has_past).then_some("true");
    html! {
        <section class="past" aria-labelledby={PAST}>
            <h3 id={PAST} tabindex="-1">
                { "What happened" }
                <span class="quiet">{ format!(" · {} s since the start", thousands((session.elapsed_ms / 1_000) as u32)) }</span>
            </h3>
            if has_past {
                <ol>{ for items }</ol>
            } else {
                <p class="quiet">{ "The servers run and listed their tools. No call was made yet." }</p>
            }
            if !page.content().has_room() {
                <p class="quiet">{ format!("A session has at most {EVENTS_MAX} steps here.") }</p>
            }
            <p class="actions" role="group" aria-label="The session">
                <button onclick={wait}>{ "Wait a minute" }</button>
                <button aria-disabled={disabled} onclick={back(false)}>{ "Back" }</button>
                <button aria-disabled={disabled} onclick={back(true)}>{ "Restart" }</button>
            </p>
        </section>
    }
}

fn happened(past: &Past) -> Html {
    match past {
        Past::Called {
            call,
            tool: called,
            arguments,
            decided,
        } => {
            let reasons = match decided {
                Decided::Refuse(refusal) => &*refusal.reasons,
                _ => &[],
            };
            html! {
                <>
                    { format!("Call {call} of ") }{ tool(called) }{ ": " }{ outcome(decided) }
                    { folded(arguments, reasons) }
                </>
            }
        }
        Past::Answered { call, delivered } => html! {
            <>{ format!("The server answered call {call}: ") }{ delivery(delivered) }</>
        },
        Past::Decided {
            yes,
            is_known,
            again,
        } => html! {
            <>
                { match (is_known, yes) {
                    (false, _) => "A human answered a question that is no longer open",
                    (true, true) => "A human approved",
                    (true, false) => "A human denied",
                } }
                { for again.iter().map(|(call, decided)| html! {
                    <>{ format!(", and the call was made again as call {call}: ") }{ outcome(decided) }</>
                }) }
            </>
        },
        Past::Waited(ms, ended) => html! {
            <>
                { seconds("Time passed", *ms) }
                { for ended.iter().map(|call| html! {
                    <>{ " " }{ Sign::no("refused").before(html! { { format!("No human approved call {call} in time.") } }) }</>
                }) }
            </>
        },
        Past::Exited(server) => html! { <>{ "The server " }{ tool(server) }{ " ended" }</> },
        Past::Started(server) => html! {
            <>{ "The server " }{ tool(server) }{ " started again, and listed its tools" }</>
        },
    }
}

/// Shows a decision in a few words, with its details below.
fn outcome(decided: &Decided) -> Html {
    let sign = decision_sign(decided);
    let words = html! { { sign.words.to_lowercase() } };
    let line = html! { <span class={sign.class}>{ sign.mark() }{ words }</span> };
    match decided {
        Decided::Forward { params, .. } => {
            html! { <>{ line }{ raw("What the server gets", params) }</> }
        }
        Decided::Answer { texts, result } => html! {
            <>
                { line }
                { for texts.iter().map(|text| html! { <pre class="model">{ name(text, "") }</pre> }) }
                { raw("The result as the client gets it", result) }
            </>
        },
        Decided::Refuse(it) => html! { <>{ line }{ refusal(None, it) }</> },
        Decided::Ask { .. } => line,
        Decided::Error { message, .. } => html! { <>{ line }{ " · " }{ prose(message) }</> },
    }
}

fn delivery(delivered: &Delivered) -> Html {
    match delivered {
        Delivered::AsReceived => {
            let sign = Sign::yes("passed on");
            html! { <span class="yes">{ sign.mark() }{ "the client gets the result as it is" }</span> }
        }
        Delivered::Changed { result, redacted } => html! {
            <>
                <span class="caution">{ Sign::caution("changed").mark() }{ "the client gets another result" }</span>
                if !redacted.is_empty() {
                    <p>{ prose(&format!("The policy redacted `{}`.", redacted.join("`, `"))) }</p>
                }
                { raw("The result as the client gets it", result) }
            </>
        },
        Delivered::Refused(it) => html! {
            <>
                <span class="no">{ Sign::no("withheld").mark() }{ "the result is withheld" }</span>
                { refusal(None, it) }
            </>
        },
        Delivered::Repeated { call, decided } => html! {
            <>{ format!("it wants the call repeated, which was made as call {call}: ") }{ outcome(decided) }</>
        },
        Delivered::Nothing => html! { <span class="quiet">{ "no such call is open" }</span> },
    }
}

/// Shows the name of a tool or of a server.
pub(crate) fn tool(text: &str) -> Html {
    html! { <code>{ name(text, "") }</code> }
}

fn seconds(what: &str, ms: u64) -> String {
    format!("{what}: {} s", thousands(ms.div_ceil(1_000) as u32))
}
