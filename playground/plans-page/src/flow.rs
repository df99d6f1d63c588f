//! The steps of a plan: the checks of each, and their outcomes.

use crate::marks::of_check;
use crate::state::{Expanded, Page};
use agent_answer::{InputFrom, PlanDecision, PlanProblem, Step, StepCheck, StepOutcome};
use agent_ui::answer::Sign;
use agent_ui::names::name;
use agent_ui::problems::{Place, cause, code, details, places, prose};
use yew::prelude::*;

/// Shows all steps, one below the other.
pub(crate) fn flow(page: &Page, decision: &PlanDecision) -> Html {
    let steps = (0..).zip(&decision.steps);
    let steps = steps.map(|(number, step)| item(page, decision, number, step));
    html! { <ol class="flow" aria-label="Steps">{ for steps }</ol> }
}

/// Returns the sign of an outcome.
fn sign(outcome: StepOutcome) -> Sign {
    let (class, mark, words) = match outcome {
        StepOutcome::Passed => ("yes", "✓", "passed"),
        StepOutcome::Failed => ("no", "✗", "failed"),
        StepOutcome::Deferred => ("later", "◔", "deferred"),
        StepOutcome::Skipped => ("unmade", "–", "skipped"),
    };
    Sign { class, mark, words }
}

fn item(page: &Page, decision: &PlanDecision, number: u32, step: &Step) -> Html {
    let of_step = |problem: &&PlanProblem| problem.diagnostic.step == Some(number as usize);
    let problems: Vec<_> = decision.problems.iter().filter(of_step).collect();
    let sign = Sign::of(problems.is_empty(), "may run", "may not run");
    let id = step.id.as_ref().unwrap_or(&step.tool);
    let expanded = page.content().expanded_check();
    let expanded = expanded.and_then(|(step, at)| (step == number).then_some(at));
    let checks = (0..).zip(&step.checks);
    let checks = checks.map(|(at, check)| chip(page, (number, at), check, expanded == Some(at)));
    let expanded = expanded.and_then(|at| Some((at, step.checks.get(at as usize)?)));
    let of_no_check = problems.iter().filter(|it| it.check.is_none());
    html! {
        <li class={classes!("step", sign.class)} key={number}>
            <span class="node" aria-hidden="true">{ number + 1 }</span>
            <div class={classes!("card", sign.class)}>
                <div class="card-head">
                    <h3>{ sign.before(name(id, "")) }</h3>
                    <Place place={step.place} />
                    if step.obligations.iter().any(|it| it == "approval") {
                        <span class="badge warning">{ "needs human approval" }</span>
                    }
                </div>
                { for step.title.as_ref().map(|title| html! { <p><bdi>{ title }</bdi></p> }) }
                <p class="calls">
                    { name(&step.connector, "") }
                    if step.id.is_some() {
                        <span class="slash">{ " / " }</span>
                        { name(&step.tool, "tool") }
                    }
                    { for step.driver.as_ref().map(|driver| html! {
                        <>{ " " }<code class="scope">{ driver }</code></>
                    }) }
                </p>
                { for step.input.as_ref().map(|input| html! {
                    <p class="given"><span class="quiet">{ "with" }</span><code><bdi>{ input }</bdi></code></p>
                }) }
                { for step.input_from.as_ref().map(input_from) }
                <div class="chips" role="group" aria-label={format!("Checks of {id}")}>
                    { for checks }
                </div>
                { for expanded.map(|(at, check)| {
                    let problems = problems.iter().filter(|it| it.check == Some(at));
                    detail((number, at), id, check, problems.copied())
                }) }
                { for of_no_check.map(|it| problem(it)) }
            </div>
        </li>
    }
}

/// Shows the earlier step whose output a step takes.
fn input_from(from: &InputFrom) -> Html {
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
                { name(&from.id, "") }
                { for from.step.map(|step| html! {
                    <span class="quiet">{ format!(", step {}", step + 1) }</span>
                }) }
            </span>
            <Place place={from.place} />
        </p>
    }
}

/// Returns the id of the details of a check.
fn detail_id((step, check): (u32, u32)) -> String {
    format!("check-{step}-{check}")
}

/// Shows a check as a button that opens or closes its details.
fn chip(page: &Page, at: (u32, u32), check: &StepCheck, open: bool) -> Html {
    let sign = sign(check.outcome);
    let onclick = page.callback(move |page, _| {
        if open {
            return page.update(|state| state.content.expanded = Expanded::Nothing);
        }
        let (step, check) = at;
        page.update(move |state| state.content.expanded = Expanded::Check { step, check });
        let marks = page.content().decision().map(|it| of_check(it, at));
        page.point_out(marks.into_iter().flatten().map(|(place, _)| place));
    });
    html! {
        <button
            key={at.1}
            class={classes!("chip", sign.class)}
            aria-expanded={open.to_string()}
            aria-controls={open.then(|| detail_id(at))}
            {onclick}
        >
            <span class="sign" aria-hidden="true">{ sign.mark }</span>
            { &check.name }
            <span class="visually-hidden">{ ", " }{ sign.words }</span>
        </button>
    }
}

/// Shows the compared values of a check, its problems and their fixes.
fn detail<'p>(
    at: (u32, u32),
    step: &str,
    check: &StepCheck,
    problems: impl Iterator<Item = &'p PlanProblem>,
) -> Html {
    let facts = check.facts.iter().map(|fact| {
        html! { <li>{ prose(&fact.text) }{ places(&fact.place) }</li> }
    });
    html! {
        <section
            id={detail_id(at)}
            class={classes!("detail", sign(check.outcome).class)}
            aria-label={format!("{step}: {}", check.name)}
        >
            if !check.facts.is_empty() { <ul class="compared">{ for facts }</ul> }
            { for problems.map(problem) }
        </section>
    }
}

/// Shows a problem with everything that is known of it.
pub(crate) fn problem(problem: &PlanProblem) -> Html {
    let found = &problem.diagnostic;
    let pointer = found
        .labels
        .first()
        .and_then(|label| label.pointer.as_ref());
    html! {
        <div class="against">
            <p>
                { for found.reason.map(|_| html! {
                    <><strong class="code">{ found.code.name() }</strong>{ " " }</>
                }) }
                { code(found.reason.unwrap_or(found.code)) }{ " " }
                { prose(&found.message) }
                { found.labels.first().map(cause).unwrap_or_default() }
                { places(found.place()) }
            </p>
            if pointer.is_some() || found.rule.is_some() {
                <p class="decided">
                    { for pointer.map(|pointer| html! {
                        <><span class="quiet">{ "at " }</span><code><bdi>{ pointer }</bdi></code>{ " " }</>
                    }) }
                    { for found.rule.as_ref().map(|rule| html! {
                        <><span class="quiet">{ "by " }</span>{ prose(rule) }</>
                    }) }
                </p>
            }
            { details(found) }
        </div>
    }
}
