//! The filters of the matrix, which are its legend at the same time.

use super::layout::{LETTERS, ROW, categories};
use crate::state::Page;
use agent_answer::{Code, Filter, MatrixRow};
use agent_ui::browser::value_of;
use agent_ui::words::count;
use yew::prelude::*;

/// The checks that all requirements of categories have, and no others.
const OF_CATEGORIES: [Code; 2] = [Code::MissingCategory, Code::MissingScope];

/// The checks that requirements of both kinds have.
const OF_BOTH: [Code; 3] = [
    Code::ResidencyMismatch,
    Code::SensitivityExceeded,
    Code::UnsignedNotAllowed,
];

/// Shows the filters of the rows, and their zoom. `noun`: `server` or `tool`, for a row.
pub(super) fn filters(
    page: &Page,
    filter: &Filter,
    total: u32,
    noun: &'static str,
    zoom: &UseStateHandle<usize>,
) -> Html {
    let chip = |bit: u16, sign: &'static str, name: &'static str, class: String| {
        let bits = filter.bits ^ bit;
        let label = html! { <><span class="sign" aria-hidden="true">{ sign }</span>{ name }</> };
        let next = Filter {
            bits,
            ..filter.clone()
        };
        button(
            page,
            label,
            classes!("chip", class),
            filter.bits & bit != 0,
            next,
        )
    };
    let requirements = page.content().requirements();
    let first = categories(requirements);
    let capabilities = requirements.len() as u32 > first;
    let base = if filter.tools { first } else { 0 };
    let ruled = requirements.iter().any(|it| it.policy_decision.is_some());
    let applies = |code: &Code| {
        if matches!(code, Code::PolicyDenied | Code::PolicyError) {
            ruled
        } else if *code == Code::ToolMissing {
            base < first && requirements.iter().any(|it| !it.only.is_empty())
        } else if OF_CATEGORIES.contains(code) {
            base < first
        } else {
            OF_BOTH.contains(code) || capabilities
        }
    };
    let checks = (0..).zip(LETTERS).zip(&page.state.about.checks);
    let checks = checks.filter(|(_, code)| applies(code));
    let checks = checks.map(|((number, letter), code)| {
        let class = format!("check-{number}");
        chip(1 << number, letter, code.name(), class)
    });
    let options = (0_u32..).zip(requirements).skip(base as usize);
    let options = options.map(|(number, requirement)| {
        html! {
            <option value={number.to_string()} selected={filter.requirement == Some(number)}>
                { requirement.name() }
            </option>
        }
    });
    let rows_of = |tools: bool, label: &'static str| {
        // The checks and requirements of the other rows do not fit these.
        let next = Filter {
            id: filter.id.clone(),
            tools,
            by_name: filter.by_name,
            ..Filter::default()
        };
        button(
            page,
            label.into(),
            Classes::new(),
            filter.tools == tools,
            next,
        )
    };
    let ordered = |by_name: bool, label: &'static str| {
        let next = Filter {
            by_name,
            ..filter.clone()
        };
        let pressed = filter.by_name == by_name;
        button(page, label.into(), Classes::new(), pressed, next)
    };
    let zoomed = |step: usize, label: &'static str, sign: &'static str| {
        let zoom = zoom.setter();
        html! {
            <button
                aria-label={label}
                disabled={step >= ROW.len()}
                onclick={move |_| zoom.set(step)}
            >
                { sign }
            </button>
        }
    };
    let search = change(page, filter, |filter, event: &InputEvent| {
        filter.id = value_of(event);
    });
    let choose = change(page, filter, |filter, event: &Event| {
        filter.requirement = value_of(event).parse().ok();
    });
    let part = if filter.tools {
        "Part of an id or a tool"
    } else {
        "Part of an id"
    };
    html! {
        <div class="filters">
            <div class="chips" role="group" aria-label={format!("Show {noun}s with a cell that is")}>
                { chip(MatrixRow::SELECTED, "✓", "selected", "selected".to_owned()) }
                { chip(MatrixRow::ELIGIBLE, "○", "eligible", "eligible".to_owned()) }
                { for checks }
            </div>
            <div class="bar">
                if capabilities {
                    <span class="choice" role="group" aria-label="A row for each">
                        { rows_of(false, "Servers") }
                        { rows_of(true, "Tools") }
                    </span>
                }
                <input
                    type="search"
                    placeholder={part}
                    aria-label={part}
                    value={filter.id.clone()}
                    oninput={search}
                />
                <select aria-label="Of which requirement" onchange={choose}>
                    <option value="" selected={filter.requirement.is_none()}>{ "any requirement" }</option>
                    { for options }
                </select>
                <span class="choice" role="group" aria-label="Order of the rows">
                    { ordered(false, "Nearest first") }
                    { ordered(true, "By name") }
                </span>
                <span class="quiet" role="status">{ count(total, noun) }</span>
                <span class="actions">
                    { zoomed(zoom.wrapping_sub(1), "Zoom out", "−") }
                    { zoomed(**zoom + 1, "Zoom in", "+") }
                </span>
            </div>
        </div>
    }
}

/// Shows a button that replaces the filter by another.
fn button(page: &Page, label: Html, class: Classes, pressed: bool, next: Filter) -> Html {
    let onclick = page.on(|state| state.content.filter_rows(next));
    html! { <button {class} aria-pressed={pressed.to_string()} {onclick}>{ label }</button> }
}

/// Returns a callback that changes the filter.
fn change<E>(
    page: &Page,
    filter: &Filter,
    change: impl Fn(&mut Filter, &E) + 'static,
) -> Callback<E> {
    let filter = filter.clone();
    page.callback(move |page, event| {
        let mut filter = filter.clone();
        change(&mut filter, &event);
        page.update(|state| state.content.filter_rows(filter));
    })
}
