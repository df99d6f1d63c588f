//! The matrix: requirements × servers, or × tools.
//!
//! Only the rows in sight are on the page; two spacers hold the place of the others. The engine
//! is asked for the window of rows, so that an index of any size costs the page the same.

mod row;

use crate::page::{Page, use_page};
use crate::state::Action;
use agent_protocol::{ExplanationRequest, Filter, Matrix, MatrixRequest, MatrixRow, Requirement};
use agent_ui::words::count;
use row::{Columns, Row, cell_at};
use std::rc::Rc;
use wasm_bindgen::prelude::JsCast as _;
use web_sys::{Element, HtmlElement, HtmlInputElement, HtmlSelectElement, KeyboardEvent};
use yew::prelude::*;

/// The heights of a row in pixels, by zoom. The style sheet has the same.
const ROW: [u32; 3] = [14, 22, 32];

/// How many rows above and below those in sight are on the page as well.
const MARGIN: u32 = 6;

/// How many requirements have a column at a time.
const COLUMNS: u32 = 40;

/// The letters of the checks in a cell, in their order.
const LETTERS: [&str; MatrixRow::CHECKS] = ["C", "S", "A", "L", "R", "D", "U", "F", "P", "E", "H"];

/// The checks that only requirements of categories have.
const OF_CATEGORIES: [&str; 2] = ["MISSING_CATEGORY", "MISSING_SCOPE"];

/// The checks that requirements of both kinds have.
const OF_BOTH: [&str; 3] = [
    "RESIDENCY_MISMATCH",
    "SENSITIVITY_EXCEEDED",
    "UNSIGNED_NOT_ALLOWED",
];

#[component]
pub(crate) fn MatrixView() -> Html {
    let page = use_page();
    let zoom = use_state(|| 2_usize);
    let scroller = use_node_ref();
    // The cell that the keyboard is at, in the whole matrix, and whether it has still to be
    // focused because its row was not on the page.
    let cursor = use_state(|| (0_u32, 0_u32));
    let due = use_mut_ref(|| false);
    {
        let (scroller, cursor, due) = (scroller.clone(), *cursor, due.clone());
        use_effect(move || {
            if *due.borrow() && focus_cell(&scroller, cursor) {
                *due.borrow_mut() = false;
            }
        });
    }
    let Some(ask) = page.state.wanted.matrix.clone() else {
        return html! {};
    };
    let Some(matrix) = page.state.views.matrix.clone() else {
        return html! {
            <p class="quiet">
                { if page.state.stale() { "…" } else { "Nothing is decided: an input has errors." } }
            </p>
        };
    };
    let row = ROW[*zoom];
    let look = {
        let (page, scroller, ask) = (page.clone(), scroller.clone(), ask.clone());
        move || look(&page, &scroller, &ask, row)
    };
    let onscroll = {
        let look = look.clone();
        Callback::from(move |_: Event| look())
    };
    use_effect_with((row, matrix.total), move |_| look());
    let requirements = page.state.verdict.as_ref();
    let requirements = requirements.map_or(&[][..], |verdict| &verdict.requirements);
    // The number of the first requirement that has a column.
    let base = if ask.filter.tools {
        categories(requirements)
    } else {
        0
    };
    let onkeydown = {
        let (cursor, scroller, total) = (cursor.clone(), scroller.clone(), matrix.total);
        let columns = (requirements.len() as u32)
            .saturating_sub(base)
            .min(COLUMNS);
        Callback::from(move |event: KeyboardEvent| {
            let Some(next) = moved(*cursor, &event.key(), columns, total) else {
                return;
            };
            event.prevent_default();
            cursor.set(next);
            if !focus_cell(&scroller, next) {
                *due.borrow_mut() = true;
                if let Some(scroller) = scroller.cast::<Element>() {
                    scroller.set_scroll_top((next.0 * row) as i32);
                }
            }
        })
    };
    let first = match ask
        .filter
        .requirement
        .and_then(|number| number.checked_sub(base))
    {
        Some(number) => base + number - number % COLUMNS,
        None => base,
    };
    let seen = || {
        requirements
            .iter()
            .skip(first as usize)
            .take(COLUMNS as usize)
    };
    let headings = seen().map(|requirement| {
        html! {
            <th scope="col" title={title(requirement)}>
                <span>{ requirement.name() }</span>
            </th>
        }
    });
    let columns = Rc::new(Columns {
        first,
        base,
        names: seen().map(Requirement::name).collect(),
        codes: page
            .state
            .about
            .checks
            .iter()
            .map(|check| check.code.clone())
            .collect(),
    });
    let rows = (matrix.offset..).zip(&matrix.rows).map(|(at, row)| {
        html! {
            <Row
                key={format!("{}@{}/{}", row.server.id, row.server.version, row.tool.as_deref().unwrap_or_default())}
                {at}
                row={row.clone()}
                columns={Rc::clone(&columns)}
                current={(cursor.0 == at).then_some(cursor.1)}
            />
        }
    });
    let onclick = {
        let (page, matrix) = (page.clone(), Rc::clone(&matrix));
        Callback::from(move |event: MouseEvent| {
            let clicked = event.target().and_then(cell_at);
            let row = clicked
                .and_then(|(at, _)| matrix.rows.get(at.checked_sub(matrix.offset)? as usize));
            if let (Some((_, requirement)), Some(row)) = (clicked, row) {
                page.dispatch(Action::TellStory(ExplanationRequest {
                    requirement,
                    server: row.server.clone(),
                    tool: row.tool.clone(),
                }));
            }
        })
    };
    let (noun, heading) = if ask.filter.tools {
        ("tool", "Tool")
    } else {
        ("server", "Server")
    };
    let others = requirements.len() as u32 - base > COLUMNS;
    html! {
        <div class="matrix">
            <Filters {ask} total={matrix.total} {noun} zoom={zoom.clone()} />
            if others {
                <p class="quiet">
                    { format!(
                        "Requirements {} to {} of {}: choose one to see those around it.",
                        first + 1,
                        first + columns.names.len() as u32,
                        requirements.len(),
                    ) }
                </p>
            }
            <div class="scroller" ref={scroller} {onscroll} {onkeydown}>
                <table
                    class={format!("zoom-{}", *zoom)}
                    role="grid"
                    aria-rowcount={(matrix.total + 1).to_string()}
                    aria-label={format!("{heading}s and requirements")}
                >
                    <thead>
                        <tr aria-rowindex="1"><th scope="col">{ heading }</th>{ for headings }</tr>
                    </thead>
                    <tbody {onclick}>
                        { spacer(matrix.offset * row) }
                        { for rows }
                        { spacer(below(&matrix) * row) }
                    </tbody>
                </table>
                if matrix.total == 0 {
                    <p class="quiet">{ format!("No {noun} fits the filter.") }</p>
                }
            </div>
        </div>
    }
}

/// How many requirements are of categories, which come first.
fn categories(requirements: &[Requirement]) -> u32 {
    let of_category = |requirement: &&Requirement| requirement.category.is_some();
    requirements.iter().take_while(of_category).count() as u32
}

/// What is required besides the name.
fn title(requirement: &Requirement) -> String {
    let capability = requirement.capability.as_ref();
    capability
        .map_or(&requirement.permissions, |it| &it.constraints)
        .join(", ")
}

/// How many rows follow those on the page.
fn below(matrix: &Matrix) -> u32 {
    matrix
        .total
        .saturating_sub(matrix.offset + matrix.rows.len() as u32)
}

/// Holds the place of rows that are not on the page. A picture, because its height is no style.
fn spacer(height: u32) -> Html {
    html! {
        if height > 0 {
            <tr class="spacer" aria-hidden="true">
                <td><svg width="1" height={height.to_string()} /></td>
            </tr>
        }
    }
}

/// Asks for the rows in sight, unless they are there or asked for.
fn look(page: &Page, scroller: &NodeRef, ask: &MatrixRequest, row: u32) {
    let Some(scroller) = scroller.cast::<Element>() else {
        return;
    };
    let first = scroller.scroll_top().max(0) as u32 / row;
    let seen = scroller.client_height().max(0) as u32 / row + 1;
    let near = first.saturating_sub(MARGIN / 2)..first + seen + MARGIN / 2;
    if near.start >= ask.offset && near.end <= ask.offset + ask.limit {
        return;
    }
    page.dispatch(Action::ShowRows {
        offset: first.saturating_sub(MARGIN),
        limit: seen + 2 * MARGIN,
    });
}

/// Where a key moves the cursor. None: it is no key of the matrix.
fn moved((row, column): (u32, u32), key: &str, columns: u32, rows: u32) -> Option<(u32, u32)> {
    const PAGE: u32 = 10;
    let (last_row, last_column) = (rows.checked_sub(1)?, columns.checked_sub(1)?);
    Some(match key {
        "ArrowUp" => (row.saturating_sub(1), column),
        "ArrowDown" => ((row + 1).min(last_row), column),
        "ArrowLeft" => (row, column.saturating_sub(1)),
        "ArrowRight" => (row, (column + 1).min(last_column)),
        "PageUp" => (row.saturating_sub(PAGE), column),
        "PageDown" => ((row + PAGE).min(last_row), column),
        "Home" => (0, column),
        "End" => (last_row, column),
        _ => return None,
    })
}

/// Whether the cell is on the page, and has the keyboard now.
fn focus_cell(scroller: &NodeRef, (row, column): (u32, u32)) -> bool {
    scroller
        .cast::<Element>()
        .and_then(|scroller| {
            let selector = format!("[data-cell^='{row}-{column}-']");
            scroller.query_selector(&selector).ok().flatten()
        })
        .and_then(|cell| cell.dyn_into::<HtmlElement>().ok())
        .is_some_and(|cell| cell.focus().is_ok())
}

#[derive(Properties, PartialEq)]
struct FiltersProps {
    ask: MatrixRequest,
    total: u32,
    /// What a row is of.
    noun: &'static str,
    zoom: UseStateHandle<usize>,
}

/// Which rows are shown, and how large; the legend at the same time.
#[component]
fn Filters(props: &FiltersProps) -> Html {
    let page = use_page();
    let FiltersProps {
        ask,
        total,
        noun,
        zoom,
    } = props;
    let filter = ask.filter.clone();
    let change = |change: Box<dyn Fn(&mut Filter)>| {
        let mut filter = filter.clone();
        change(&mut filter);
        Action::FilterRows(filter)
    };
    let chip = |bit: u16, sign: &str, name: String, class: String| {
        let action = change(Box::new(move |filter| filter.bits ^= bit));
        html! {
            <button
                class={classes!("chip", class)}
                aria-pressed={(filter.bits & bit != 0).to_string()}
                onclick={page.on(move || action.clone())}
            >
                <span class="sign" aria-hidden="true">{ sign.to_owned() }</span>{ name }
            </button>
        }
    };
    let requirements = page.state.verdict.as_ref();
    let requirements = requirements.map_or(&[][..], |verdict| &verdict.requirements);
    let first = categories(requirements);
    let capabilities = requirements.len() as u32 > first;
    let base = if filter.tools { first } else { 0 };
    let ruled = requirements.iter().any(|it| it.ruling.is_some());
    let asked = |code: &str| {
        if code.starts_with("POLICY_") {
            ruled
        } else if OF_CATEGORIES.contains(&code) {
            base < first
        } else {
            OF_BOTH.contains(&code) || capabilities
        }
    };
    let checks = (0..)
        .zip(LETTERS)
        .zip(&page.state.about.checks)
        .filter(|(_, name)| asked(&name.code))
        .map(|((check, letter), name)| {
            chip(
                1 << check,
                letter,
                name.code.clone(),
                format!("check-{check}"),
            )
        });
    let search = {
        let (page, filter) = (page.clone(), filter.clone());
        Callback::from(move |event: InputEvent| {
            if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                page.dispatch(Action::FilterRows(Filter {
                    id: input.value(),
                    ..filter.clone()
                }));
            }
        })
    };
    let choose = {
        let (page, filter) = (page.clone(), filter.clone());
        Callback::from(move |event: Event| {
            if let Some(select) = event.target_dyn_into::<HtmlSelectElement>() {
                page.dispatch(Action::FilterRows(Filter {
                    requirement: select.value().parse().ok(),
                    ..filter.clone()
                }));
            }
        })
    };
    let options = (0_u32..)
        .zip(requirements)
        .skip(base as usize)
        .map(|(number, requirement)| {
            html! {
                <option value={number.to_string()} selected={filter.requirement == Some(number)}>
                    { requirement.name() }
                </option>
            }
        });
    let of_what = |tools: bool, label: &'static str| {
        // What the other rows were held back by is not what these are.
        let action = Action::FilterRows(Filter {
            id: filter.id.clone(),
            tools,
            ..Filter::default()
        });
        html! {
            <button
                aria-pressed={(filter.tools == tools).to_string()}
                onclick={page.on(move || action.clone())}
            >
                { label }
            </button>
        }
    };
    let zoomed = |step: usize, label: &'static str, sign: &'static str| {
        let (zoom, next) = (zoom.clone(), step);
        html! {
            <button
                aria-label={label}
                disabled={next >= ROW.len()}
                onclick={Callback::from(move |_: MouseEvent| zoom.set(next))}
            >
                { sign }
            </button>
        }
    };
    let part = if filter.tools {
        "Part of an id or a tool"
    } else {
        "Part of an id"
    };
    html! {
        <div class="filters">
            <div class="chips" role="group" aria-label={format!("Show {noun}s with a cell that is")}>
                { chip(MatrixRow::SELECTED, "✓", "selected".to_owned(), "selected".to_owned()) }
                { chip(MatrixRow::ELIGIBLE, "○", "eligible".to_owned(), "eligible".to_owned()) }
                { for checks }
            </div>
            <div class="bar">
                if capabilities {
                    <span class="choice" role="group" aria-label="A row for each">
                        { of_what(false, "Servers") }
                        { of_what(true, "Tools") }
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
                <span class="quiet" role="status">{ count(*total, noun) }</span>
                <span class="actions">
                    { zoomed(zoom.wrapping_sub(1), "Zoom out", "−") }
                    { zoomed(**zoom + 1, "Zoom in", "+") }
                </span>
            </div>
        </div>
    }
}
