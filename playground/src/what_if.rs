//! The verdicts under other constraints, before the user edits anything.

use crate::elements::{nothing, server_name, table_head};
use crate::state::Servers;
use agent_answer::{Constraints, ServerName, Supposed, SupposedRequirement};
use agent_ui::answer::Sign;
use agent_ui::browser::value_of;
use agent_ui::names::Lookalikes;
use agent_ui::page::use_page;
use agent_ui::words::thousands;
use yew::prelude::*;

/// The constraints to try, and the changes that they would cause.
#[component]
pub(crate) fn WhatIf() -> Html {
    let page = use_page::<Servers>();
    let content = page.content();
    let verdict = content.verdict.as_ref();
    let Some(verdict) = verdict.filter(|it| it.satisfied.is_some()) else {
        return nothing(&page);
    };
    let present = &verdict.constraints;
    let supposed = content.wanted.supposed.as_ref().unwrap_or(present);
    let suppose = |change: fn(&mut Constraints, String)| {
        let supposed = supposed.clone();
        page.callback(move |page, event: Event| {
            let mut supposed = supposed.clone();
            change(&mut supposed, value_of(&event));
            page.update(|state| state.content.wanted.supposed = Some(supposed));
        })
    };
    let on_signed = suppose(|constraints, _| {
        constraints.require_signed = !constraints.require_signed;
    });
    let changed = supposed != present;
    let about = &page.state.about;
    let comparison = match &content.views.supposed {
        _ if !changed => html! {
            <p class="quiet">
                { "Choose other constraints to see what they would change. Nothing is edited." }
            </p>
        },
        Some(supposed) => comparison(&content.lookalikes, supposed),
        None => html! {},
    };
    html! {
        <div class="what-if">
            <form class="constraints">
                { choice(
                    "residency",
                    &about.residencies,
                    [&supposed.residency, &present.residency],
                    suppose(|constraints, word| constraints.residency = chosen(word)),
                ) }
                { choice(
                    "sensitivity",
                    &about.sensitivities,
                    [&supposed.sensitivity, &present.sensitivity],
                    suppose(|constraints, word| constraints.sensitivity = chosen(word)),
                ) }
                <label class="check">
                    <input type="checkbox" checked={supposed.require_signed} onchange={on_signed} />
                    { "requireSigned" }
                    { badge(supposed.require_signed != present.require_signed) }
                </label>
                <button type="button" disabled={!changed} onclick={page.on(|state| state.content.wanted.supposed = None)}>
                    { "As in agents.md" }
                </button>
            </form>
            { comparison }
        </div>
    }
}

fn badge(changed: bool) -> Html {
    html! { if changed { <span class="badge">{ "changed" }</span> } }
}

/// The word for no constraint.
const NONE: &str = "(none)";

fn chosen(word: String) -> Option<String> {
    (word != NONE).then_some(word)
}

/// Shows a field for one of some words.
fn choice(
    name: &'static str,
    words: &[String],
    values: [&Option<String>; 2],
    onchange: Callback<Event>,
) -> Html {
    let [supposed, present] = values.map(|value| value.as_deref().unwrap_or(NONE));
    let options = [NONE].into_iter().chain(words.iter().map(String::as_str));
    let options = options.map(|word| {
        html! {
            <option selected={word == supposed} value={word.to_owned()}>
                { word }
                if word == present { { " (current)" } }
            </option>
        }
    });
    html! {
        <label>
            { name }
            <select {onchange}>{ for options }</select>
            { badge(supposed != present) }
        </label>
    }
}

fn comparison(lookalikes: &Lookalikes, supposed: &Supposed) -> Html {
    let differs =
        |row: &&SupposedRequirement| (&row.now, &row.now_tool) != (&row.then, &row.then_tool);
    let number = supposed.requirements.iter().filter(differs).count();
    let rows = supposed.requirements.iter().map(|row| {
        let changed = differs(&row);
        html! {
            <tr class={classes!(changed.then_some("changed"))}>
                <th scope="row">{ &row.name }</th>
                <td>{ cell(lookalikes, row, row.now.as_ref(), row.now_tool.as_deref(), row.now_eligible) }</td>
                <td>
                    { cell(lookalikes, row, row.then.as_ref(), row.then_tool.as_deref(), row.then_eligible) }
                    { badge(changed) }
                </td>
            </tr>
        }
    });
    html! {
        <>
            <p role="status">
                { format!("{number} of {} verdicts would change", supposed.requirements.len()) }
            </p>
            <table class="comparison">
                { table_head(["Requirement", "Now", "Then"]) }
                <tbody>{ for rows }</tbody>
            </table>
        </>
    }
}

fn cell(
    lookalikes: &Lookalikes,
    row: &SupposedRequirement,
    server: Option<&ServerName>,
    tool: Option<&str>,
    eligible: u32,
) -> Html {
    let none = if row.tools { "no tool" } else { "no server" };
    match server {
        Some(server) => html! {
            <>
                <span class="yes">{ Sign::yes("").mark() }</span>
                { server_name(lookalikes, server, tool) }
                <span class="quiet">{ format!(" of {} eligible", thousands(eligible)) }</span>
            </>
        },
        None => html! { <span class="no">{ Sign::no("").mark() }{ none }</span> },
    }
}
