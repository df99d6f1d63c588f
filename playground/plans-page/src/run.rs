//! The run of a plan, step by step: the user answers for the host.

mod answer;
mod evidence;
mod lifecycle;

use crate::state::{Page, Plans};
use crate::stepping::Stepping;
use agent_answer::Code;
use agent_ui::answer::Sign;
use agent_ui::browser::{focus, value_of};
use agent_ui::names::name;
use agent_ui::page::use_page;
use agent_ui::problems::{code, prose};
use agent_ui::state::Engine;
use agent_ui::words::{capitalised, count};
use agent_worker_protocol::run::{RunEnd, RunView};
use answer::answer;
use evidence::evidence;
use lifecycle::{lifecycle, past};
use std::rc::Rc;
use yew::prelude::*;

/// The id of the heading, which gets the keyboard when a run begins.
const HEADING: &str = "run";

/// The id of the form for the next answer.
const FORM: &str = "run-answer";

/// The run of the plan, or the button that begins one.
#[component]
pub(crate) fn RunArea() -> Html {
    let page = use_page::<Plans>();
    let body = match &page.content().run {
        Some(run) => running(&page, run),
        None => offer(&page),
    };
    html! {
        <section class="run" aria-labelledby={HEADING}>
            <h3 id={HEADING} tabindex="-1">{ "Run" }</h3>
            { body }
        </section>
    }
}

/// Changes the run of the page, if there is one.
fn change<E: 'static>(page: &Page, change: impl Fn(&mut Stepping, E) + 'static) -> Callback<E> {
    let change = Rc::new(change);
    page.callback(move |page, event| {
        let change = Rc::clone(&change);
        page.update(move |state| {
            if let Some(run) = &mut state.content.run {
                change(run, event);
            }
        });
    })
}

fn offer(page: &Page) -> Html {
    let begin = page.callback(|page, _| {
        page.update(|state| state.content.run = Some(Stepping::default()));
        focus(HEADING);
    });
    html! {
        <>
            <p>
                { "Step through a run of this plan: the engine asks for one effect at a time, and you answer in \
                   place of a host. The browser performs none of them." }
            </p>
            <p class="actions"><button class="primary" onclick={begin}>{ "Step through a run" }</button></p>
        </>
    }
}

fn running(page: &Page, run: &Stepping) -> Html {
    // The buttons keep their place, and the keyboard, whatever comes.
    let view = run.view.as_deref();
    let wanted = view.and_then(|view| view.wanted.as_ref());
    html! {
        <>
            { view.map_or_else(|| waiting(page), headline) }
            { for wanted.map(|wanted| answer(page, run, wanted)) }
            { for view.and_then(|view| view.end.as_ref()).map(end) }
            { buttons(page, run, wanted.is_some()) }
            { for view.map(past) }
            { for view.map(lifecycle) }
            { for view.map(|view| evidence(page, run, view)) }
            { options(page, run) }
        </>
    }
}

fn waiting(page: &Page) -> Html {
    let waits = match page.state.engine {
        Engine::Failed(_) => "There is no run without the engine.",
        Engine::Loading(_) | Engine::Ready => "…",
    };
    html! { <p class="quiet" role="status">{ waits }</p> }
}

/// Says where the run is. Screen readers announce it.
fn headline(view: &RunView) -> Html {
    if let Some(reason) = &view.refused {
        let sign = Sign::no("refused");
        return html! { <p class="answer-line no" role="status">{ sign.before(prose(reason)) }</p> };
    }
    let (sign, words) = match (&view.end, &view.wanted) {
        (Some(end), _) => (
            Sign::of(end.code.is_none(), "completed", "not completed"),
            html! { { format!("The run is {}", end.status) } },
        ),
        (None, Some(wanted)) => (
            Sign {
                class: "later",
                mark: "◔",
                words: "wanted",
            },
            prose(&capitalised(&wanted.title)),
        ),
        (None, None) => return html! {},
    };
    html! {
        <p class={classes!("answer-line", sign.class)} role="status">{ sign.before(words) }</p>
    }
}

fn end(end: &RunEnd) -> Html {
    let found = end.code.as_ref().and_then(|wanted| {
        let mut codes = Code::ALL.iter();
        codes.find(|code| code.name() == wanted)
    });
    html! {
        <div class="card ended">
            <p>{ for found.map(|found| html! { <>{ code(*found) }{ " " }</> }) }{ prose(&end.message) }</p>
            <p class="quiet">
                { "Evidence: " }<code>{ name(&end.directory, "") }</code>
                { if end.evidence_complete { ", complete" } else { ", incomplete" } }
            </p>
            <ul class="outcome">
                { for end.text.lines().map(|line| html! { <li>{ name(line, "") }</li> }) }
            </ul>
        </div>
    }
}

fn buttons(page: &Page, run: &Stepping, is_open: bool) -> Html {
    let has_answers = !run.request.turns.is_empty();
    // A disabled button would lose the keyboard.
    let button = |text: &'static str, can: bool, act: fn(&mut Stepping)| {
        let onclick = change(page, move |run, _: MouseEvent| {
            if can {
                act(run);
            }
        });
        html! { <button type="button" aria-disabled={(!can).to_string()} {onclick}>{ text }</button> }
    };
    let close = page.callback(|page, _| {
        page.update(|state| state.content.run = None);
        focus(HEADING);
    });
    html! {
        <div class="actions" role="group" aria-label="The run">
            <button class="primary" type="submit" form={FORM} aria-disabled={(!is_open).to_string()}>{ "Next" }</button>
            { button("Answer all by example", is_open, Stepping::answer_all) }
            { button("Cancel the run", is_open, Stepping::cancel) }
            { button("Back", has_answers, Stepping::back) }
            { button("Restart", has_answers, Stepping::restart) }
            <button type="button" onclick={close}>{ "Close" }</button>
        </div>
    }
}

/// Shows what a host decides before a run.
fn options(page: &Page, run: &Stepping) -> Html {
    let request = &run.request;
    let elapsed = run.view.as_ref().map_or(0, |view| view.elapsed_ms);
    let field = |label: &'static str, value: String, change: Callback<Event>| {
        html! { <label>{ label }<input type="text" {value} spellcheck="false" onchange={change} /></label> }
    };
    html! {
        <details class="run-options">
            <summary>
                { "Name, clock and random bytes" }
                <span class="quiet">{ format!(" · {elapsed} ms since the start") }</span>
            </summary>
            <p class="quiet">
                { "A run is a function of its documents, of these values and of your answers. A link holds \
                   all of them." }
            </p>
            <div class="fields">
                { field("name of the run", request.run_id.clone(), change(page, |run, event| {
                    run.request.run_id = value_of(&event);
                })) }
                { field("start, in milliseconds since 1970", request.unix_ms.to_string(), change(page, |run, event| {
                    if let Ok(start) = value_of(&event).trim().parse() {
                        run.request.unix_ms = start;
                    }
                })) }
                { field("random bytes, 64 hexadecimal digits", request.random.clone(), change(page, |run, event| {
                    run.request.random = value_of(&event).trim().to_owned();
                })) }
            </div>
        </details>
    }
}

/// Returns the number of bytes in words.
fn bytes(content: &str) -> String {
    count(content.len() as u32, "byte")
}
