//! The steps of a plan as a flow: what was checked of each, and what came of it.

use crate::actor::{Page, use_page};
use crate::marks::of_check;
use crate::state::{Action, Told};
use agent_protocol::plans::{Check, Decision, InputFrom, Outcome, Problem, Step};
use agent_ui::fixes::fixes;
use agent_ui::problems::{Code, Place, prose};
use std::rc::Rc;
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub(crate) struct FlowProps {
    pub(crate) decision: Rc<Decision>,
}

/// All steps, one below the other.
#[component]
pub(crate) fn Flow(props: &FlowProps) -> Html {
    let page = use_page();
    let decision = &props.decision;
    let steps = (0..).zip(&decision.steps);
    let steps = steps.map(|(number, step)| item(&page, decision, number, step));
    html! { <ol class="flow" aria-label="Steps">{ for steps }</ol> }
}

/// What came of a check, or of all checks of a step: the class, the sign and the word for it.
fn outcome(outcome: Outcome) -> (&'static str, &'static str, &'static str) {
    match outcome {
        Outcome::Passed => ("yes", "✓", "passed"),
        Outcome::Failed => ("no", "✗", "failed"),
        Outcome::Deferred => ("later", "◔", "checked while it runs"),
        Outcome::Skipped => ("unmade", "–", "not made"),
    }
}

fn item(page: &Page, decision: &Decision, number: u32, step: &Step) -> Html {
    let of_step = |problem: &&Problem| problem.step == Some(number);
    let problems: Vec<_> = decision.problems.iter().filter(of_step).collect();
    let (class, mark, said) = if problems.is_empty() {
        ("yes", "✓", "may run")
    } else {
        ("no", "✗", "may not run")
    };
    let told = page.state.told_check();
    let told = told.filter(|(step, _)| *step == number);
    let told = told.map(|(_, check)| check);
    let name = step.id.as_ref().unwrap_or(&step.tool);
    let checks = (0..).zip(&step.checks);
    let checks = checks.map(|(at, check)| chip(page, (number, at), check, told == Some(at)));
    let open = told.and_then(|at| Some((at, step.checks.get(at as usize)?)));
    let of_none = problems.iter().filter(|problem| problem.check.is_none());
    let of_none: Vec<_> = of_none.map(|problem| tell(page, problem)).collect();
    html! {
        <li class={classes!("step", class)} key={number}>
            <span class="node" aria-hidden="true">{ number + 1 }</span>
            <div class={classes!("card", class)}>
                <div class="card-head">
                    <h3>
                        <span class="mark" aria-hidden="true">{ mark }</span>
                        <span class="visually-hidden">{ said }{ ": " }</span>
                        <bdi>{ name }</bdi>
                    </h3>
                    <Place place={step.place} />
                    if step.obligations.iter().any(|it| it == "approval") {
                        <span class="badge warning">{ "needs the approval of a human" }</span>
                    }
                </div>
                { step.title.as_ref().map(|title| html! { <p><bdi>{ title }</bdi></p> }) }
                <p class="calls">
                    <bdi>{ &step.connector }</bdi>
                    if step.id.is_some() {
                        <span class="slash">{ " / " }</span>
                        <bdi class="tool">{ &step.tool }</bdi>
                    }
                    { step.driver.as_ref().map(|driver| html! {
                        <>{ " " }<code class="scope">{ driver }</code></>
                    }) }
                </p>
                { step.input.as_ref().map(|input| html! {
                    <p class="given"><span class="quiet">{ "with" }</span><code><bdi>{ input }</bdi></code></p>
                }) }
                { step.input_from.as_ref().map(taken) }
                <div class="chips" role="group" aria-label={format!("Checks of {name}")}>
                    { for checks }
                </div>
                { open.map(|(at, check)| {
                    let problems = problems.iter().filter(|problem| problem.check == Some(at));
                    detail(page, (number, at), name, check, problems.copied())
                }) }
                { for of_none }
            </div>
        </li>
    }
}

/// What an earlier step gives.
fn taken(from: &InputFrom) -> Html {
    html! {
        <p class="given">
            <span class="quiet">{ "takes" }</span>
            if from.pointer.is_empty() {
                <span>{ "all" }</span>
            } else {
                <code><bdi>{ &from.pointer }</bdi></code>
            }
            <span class="quiet">{ "of" }</span>
            <span>
                <bdi>{ &from.id }</bdi>
                { from.step.map(|step| html! {
                    <span class="quiet">{ format!(", step {}", step + 1) }</span>
                }) }
            </span>
            <Place place={from.place} />
        </p>
    }
}

/// Where a check is told in full.
fn detail_id((step, check): (u32, u32)) -> String {
    format!("told-{step}-{check}")
}

/// A check; a click tells it in full, or closes it.
fn chip(page: &Page, at: (u32, u32), check: &Check, open: bool) -> Html {
    let (class, mark, said) = outcome(check.outcome);
    let onclick = {
        let page = page.clone();
        Callback::from(move |_: MouseEvent| {
            if open {
                return page.dispatch(Action::Tell(Told::Nothing));
            }
            let (step, check) = at;
            page.dispatch(Action::Tell(Told::Check { step, check }));
            let places = page.state.decision().map(|decision| of_check(decision, at));
            let places = places.into_iter().flatten().map(|(place, _)| place);
            page.point_out(&places.collect::<Vec<_>>());
        })
    };
    html! {
        <button
            key={at.1}
            class={classes!("chip", class)}
            aria-expanded={open.to_string()}
            aria-controls={open.then(|| detail_id(at))}
            {onclick}
        >
            <span class="sign" aria-hidden="true">{ mark }</span>
            { &check.name }
            <span class="visually-hidden">{ format!(", {said}") }</span>
        </button>
    }
}

/// A check in full: what was compared, what speaks against it, and what would make it a yes.
fn detail<'p>(
    page: &Page,
    at: (u32, u32),
    step: &str,
    check: &Check,
    problems: impl Iterator<Item = &'p Problem>,
) -> Html {
    let (class, ..) = outcome(check.outcome);
    let facts = check.facts.iter().map(|fact| {
        html! {
            <li>
                { prose(&fact.text) }
                { fact.place.map(|place| html! { <>{ " " }<Place {place} /></> }) }
            </li>
        }
    });
    html! {
        <section
            id={detail_id(at)}
            class={classes!("told", class)}
            aria-label={format!("{step}: {}", check.name)}
        >
            if !check.facts.is_empty() { <ul class="compared">{ for facts }</ul> }
            { for problems.map(|problem| tell(page, problem)) }
        </section>
    }
}

/// A problem in full.
pub(crate) fn tell(page: &Page, problem: &Problem) -> Html {
    let help = problem.help.iter().map(|help| match help.split_once('\n') {
        Some((lead, snippet)) => html! { <li>{ prose(lead) }<pre>{ snippet }</pre></li> },
        None => html! { <li>{ prose(help) }</li> },
    });
    let also = problem.also.iter().map(|label| {
        html! { <li><Place place={label.place} />{ " " }{ &label.text }</li> }
    });
    html! {
        <div class="against">
            <p>
                { problem.code.as_ref().map(|code| html! { <><strong class="code">{ code }</strong>{ " " }</> }) }
                { problem.reason.as_ref().map(|code| html! { <><Code code={code.clone()} />{ " " }</> }) }
                { prose(&problem.message) }{ " " }
                <Place place={problem.place} />
            </p>
            if problem.pointer.is_some() || problem.rule.is_some() {
                <p class="decided">
                    { problem.pointer.as_ref().map(|pointer| html! {
                        <><span class="quiet">{ "at " }</span><code><bdi>{ pointer }</bdi></code>{ " " }</>
                    }) }
                    { problem.rule.as_ref().map(|rule| html! {
                        <><span class="quiet">{ "by " }</span>{ prose(rule) }</>
                    }) }
                </p>
            }
            if !problem.also.is_empty() { <ul class="also">{ for also }</ul> }
            if !problem.help.is_empty() { <ul class="help">{ for help }</ul> }
            if !problem.fixes.is_empty() {
                <h4>{ "What would make it a yes" }</h4>
                { fixes(&problem.fixes, &page.on_apply()) }
            }
        </div>
    }
}
