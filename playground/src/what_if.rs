//! What if: other constraints, before anything is edited.

use crate::page::{Page, use_page};
use crate::state::Action;
use crate::verdict::server_name;
use agent_protocol::{Constraints, ServerName, SupposedRequirement};
use agent_ui::words::thousands;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

/// The constraints to try, and what they would change.
#[component]
pub(crate) fn WhatIf() -> Html {
    let page = use_page();
    let Some(verdict) = page.state.verdict.clone().filter(|v| v.satisfied.is_some()) else {
        return html! { <p class="quiet">{ "Nothing is decided: an input has errors." }</p> };
    };
    let present = verdict.constraints.clone();
    let supposed = page
        .state
        .wanted
        .supposed
        .clone()
        .unwrap_or_else(|| present.clone());
    let suppose = |change: fn(&mut Constraints, String)| {
        let (page, supposed) = (page.clone(), supposed.clone());
        Callback::from(move |event: Event| {
            let Some(select) = event.target_dyn_into::<HtmlSelectElement>() else {
                return;
            };
            let mut constraints = supposed.clone();
            change(&mut constraints, select.value());
            page.dispatch(Action::Suppose(Some(constraints)));
        })
    };
    let on_residency = suppose(|constraints, word| constraints.residency = chosen(word));
    let on_sensitivity = suppose(|constraints, word| constraints.sensitivity = chosen(word));
    let on_signed = {
        let (page, supposed) = (page.clone(), supposed.clone());
        Callback::from(move |event: Event| {
            let Some(input) = event.target_dyn_into::<HtmlInputElement>() else {
                return;
            };
            page.dispatch(Action::Suppose(Some(Constraints {
                require_signed: input.checked(),
                ..supposed.clone()
            })));
        })
    };
    let changed = supposed != present;
    html! {
        <div class="what-if">
            <form class="constraints">
                { choice(
                    "residency",
                    &page.state.about.residencies,
                    supposed.residency.as_deref(),
                    present.residency.as_deref(),
                    on_residency,
                ) }
                { choice(
                    "sensitivity",
                    &page.state.about.sensitivities,
                    supposed.sensitivity.as_deref(),
                    present.sensitivity.as_deref(),
                    on_sensitivity,
                ) }
                <label class="check">
                    <input type="checkbox" checked={supposed.require_signed} onchange={on_signed} />
                    { "requireSigned" }
                    if supposed.require_signed != present.require_signed {
                        <span class="badge">{ "changed" }</span>
                    }
                </label>
                <button
                    type="button"
                    disabled={!changed}
                    onclick={page.on(|| Action::Suppose(None))}
                >
                    { "As in agents.md" }
                </button>
            </form>
            { comparison(&page, changed) }
        </div>
    }
}

/// The word for no constraint.
const NONE: &str = "(none)";

fn chosen(word: String) -> Option<String> {
    (word != NONE).then_some(word)
}

fn choice(
    name: &'static str,
    words: &[String],
    supposed: Option<&str>,
    present: Option<&str>,
    onchange: Callback<Event>,
) -> Html {
    let options = [NONE]
        .into_iter()
        .chain(words.iter().map(String::as_str))
        .map(|word| {
            html! {
                <option selected={word == supposed.unwrap_or(NONE)} value={word.to_owned()}>
                    { word }
                    if word == present.unwrap_or(NONE) { { " (as it is)" } }
                </option>
            }
        });
    html! {
        <label>
            { name }
            <select {onchange}>{ for options }</select>
            if supposed != present { <span class="badge">{ "changed" }</span> }
        </label>
    }
}

fn comparison(page: &Page, changed: bool) -> Html {
    if !changed {
        return html! {
            <p class="quiet">
                { "Choose other constraints to see what they would change. Nothing is edited." }
            </p>
        };
    }
    let Some(supposed) = &page.state.views.supposed else {
        return html! {};
    };
    let different =
        |row: &&SupposedRequirement| (&row.now, &row.now_tool) != (&row.then, &row.then_tool);
    let number = supposed.requirements.iter().filter(different).count();
    let rows = supposed.requirements.iter().map(|row| {
        let differs = different(&row);
        html! {
            <tr class={classes!(differs.then_some("changed"))}>
                <th scope="row">{ &row.name }</th>
                <td>{ cell(row, row.now.as_ref(), row.now_tool.as_deref(), row.now_eligible) }</td>
                <td>
                    { cell(row, row.then.as_ref(), row.then_tool.as_deref(), row.then_eligible) }
                    if differs { <span class="badge">{ "changed" }</span> }
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
                <thead>
                    <tr>
                        <th scope="col">{ "Requirement" }</th>
                        <th scope="col">{ "Now" }</th>
                        <th scope="col">{ "Then" }</th>
                    </tr>
                </thead>
                <tbody>{ for rows }</tbody>
            </table>
        </>
    }
}

fn cell(
    row: &SupposedRequirement,
    server: Option<&ServerName>,
    tool: Option<&str>,
    eligible: u32,
) -> Html {
    let none = if row.tools { "no tool" } else { "no server" };
    match server {
        Some(server) => html! {
            <>
                <span class="yes"><span class="mark" aria-hidden="true">{ "✓" }</span></span>
                { server_name(server, tool) }
                <span class="quiet">{ format!(" of {} eligible", thousands(eligible)) }</span>
            </>
        },
        None => html! {
            <span class="no"><span class="mark" aria-hidden="true">{ "✗" }</span>{ none }</span>
        },
    }
}
