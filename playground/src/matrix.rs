//! The matrix: requirements × servers, or × tools.
//!
//! Only the rows in sight are on the page, between two spacers. The engine returns one window of rows,
//! so that an index of any size costs the page the same.

mod filters;
mod layout;
mod row;

use crate::elements::{nothing, tags};
use crate::explanation::ExplanationPanel;
use crate::state::{Page, Servers, explain};
use agent_ui::page::use_page;
use agent_worker_protocol::ExplanationRequest;
use filters::filters;
use layout::{ROW, categories};
use row::{Columns, Row, cell_at};
use std::rc::Rc;
use wasm_bindgen::prelude::JsCast as _;
use web_sys::{Element, HtmlElement, KeyboardEvent};
use yew::prelude::*;

/// Number of rows on the page above and below those in sight.
const MARGIN: u32 = 6;

/// Maximum number of requirements with a column.
const COLUMNS: u32 = 40;

/// The matrix, its filters and its legend.
#[component]
pub(crate) fn MatrixView() -> Html {
    let page = use_page::<Servers>();
    let zoom = use_state(|| ROW.len() - 1);
    let scroller = use_node_ref();
    // The cell with the keyboard, in the whole matrix, and whether it waits for its row.
    let cursor = use_state(|| (0_u32, 0_u32));
    let due = use_mut_ref(|| false);
    {
        let (scroller, cursor, due) = (scroller.clone(), *cursor, due.clone());
        use_effect(move || {
            if *due.borrow() && focus_cell(&scroller, cursor) {
                due.replace(false);
            }
        });
    }
    let content = page.content();
    let Some((request, matrix)) = content
        .wanted
        .matrix
        .as_ref()
        .zip(content.views.matrix.as_ref())
    else {
        return nothing(&page);
    };
    let height = ROW[*zoom];
    let look = {
        let (page, scroller) = (page.clone(), scroller.clone());
        move || look(&page, &scroller, height)
    };
    let onscroll = {
        let look = look.clone();
        move |_| look()
    };
    use_effect_with((height, matrix.total), move |_| look());
    let requirements = content.requirements();
    // The number of the first requirement that has cells.
    let base = if request.filter.tools {
        categories(requirements)
    } else {
        0
    };
    let all = requirements.len() as u32 - base;
    let onkeydown = {
        let (cursor, scroller, total) = (cursor.clone(), scroller.clone(), matrix.total);
        move |event: KeyboardEvent| {
            let Some(next) = moved(*cursor, &event.key(), all.min(COLUMNS), total) else {
                return;
            };
            event.prevent_default();
            cursor.set(next);
            if !focus_cell(&scroller, next) {
                due.replace(true);
                if let Some(scroller) = scroller.cast::<Element>() {
                    scroller.set_scroll_top((next.0 * height) as i32);
                }
            }
        }
    };
    let chosen = request
        .filter
        .requirement
        .and_then(|it| it.checked_sub(base));
    let first = base + chosen.map_or(0, |number| number - number % COLUMNS);
    let seen = requirements.iter().skip(first as usize);
    let seen: Vec<_> = seen.take(COLUMNS as usize).collect();
    let headings = seen.iter().map(|requirement| {
        html! {
            <th scope="col" title={tags(requirement).join(", ")}><span>{ requirement.name() }</span></th>
        }
    });
    let columns = Rc::new(Columns {
        first,
        base,
        names: seen.iter().map(|it| it.name()).collect(),
        codes: page.state.about.checks.clone(),
        lookalikes: content.lookalikes.clone(),
    });
    let rows = (matrix.offset..).zip(&matrix.rows).map(|(at, row)| {
        let tool = row.tool.as_deref().unwrap_or_default();
        let explained = content.wanted.explanation.as_ref();
        // The row of a server explains its best tool, and then perhaps another one.
        let explained = explained
            .filter(|it| it.server == row.server && (row.tool.is_none() || it.tool == row.tool));
        html! {
            <Row
                key={format!("{}@{}/{tool}", row.server.id, row.server.version)}
                explained={explained.map(|it| it.requirement)}
                {at}
                row={row.clone()}
                columns={Rc::clone(&columns)}
                current={(cursor.0 == at).then_some(cursor.1)}
            />
        }
    });
    let cell_cursor = cursor.setter();
    let onclick = page.callback(move |page, event: MouseEvent| {
        let matrix = page.content().views.matrix.as_ref();
        if let Some((at, requirement)) = event.target().and_then(cell_at)
            && let Some(matrix) = matrix
            && let Some(row) = at.checked_sub(matrix.offset)
            && let Some(row) = matrix.rows.get(row as usize)
        {
            let request = ExplanationRequest {
                requirement,
                server: row.server.clone(),
                tool: row.tool.clone(),
            };
            cell_cursor.set((at, requirement.saturating_sub(first)));
            page.update(|state| explain(state, request));
        }
    });
    let shown = matrix.offset + matrix.rows.len() as u32;
    let below = matrix.total.saturating_sub(shown);
    let (noun, heading) = if request.filter.tools {
        ("tool", "Tool")
    } else {
        ("server", "Server")
    };
    html! {
        <div class="matrix">
            { filters(&page, &request.filter, matrix.total, noun, &zoom) }
            if all > COLUMNS {
                <p class="quiet">
                    { format!(
                        "Requirements {} to {} of {}: choose one to see those around it.",
                        first + 1,
                        first + seen.len() as u32,
                        requirements.len(),
                    ) }
                </p>
            }
            <div class="beside">
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
                        { spacer(matrix.offset * height) }
                        { for rows }
                        { spacer(below * height) }
                    </tbody>
                </table>
                if matrix.total == 0 {
                    <p class="quiet">{ format!("No {noun} fits the filter.") }</p>
                }
            </div>
            <ExplanationPanel />
            </div>
        </div>
    }
}

/// Shows a spacer instead of rows. It is a picture, because the page's policy allows no style
/// attribute for the height.
fn spacer(height: u32) -> Html {
    html! {
        if height > 0 {
            <tr class="spacer" aria-hidden="true">
                <td><svg width="1" height={height.to_string()} /></td>
            </tr>
        }
    }
}

/// Requests the rows in sight, unless the last request has them.
fn look(page: &Page, scroller: &NodeRef, height: u32) {
    let request = page.content().wanted.matrix.as_ref();
    let Some((request, scroller)) = request.zip(scroller.cast::<Element>()) else {
        return;
    };
    let first = scroller.scroll_top().max(0) as u32 / height;
    let seen = scroller.client_height().max(0) as u32 / height + 1;
    let near = first.saturating_sub(MARGIN / 2)..first + seen + MARGIN / 2;
    if near.start < request.offset || near.end > request.offset + request.limit {
        let (offset, limit) = (first.saturating_sub(MARGIN), seen + 2 * MARGIN);
        page.update(move |state| state.content.show_rows(offset, limit));
    }
}

/// Returns where a key moves the cursor. Returns `None` for keys that do not move it.
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

/// Moves the keyboard to a cell. Returns false if its row is not on the page.
fn focus_cell(scroller: &NodeRef, (row, column): (u32, u32)) -> bool {
    let selector = format!("[data-cell^='{row}-{column}-']");
    let scroller = scroller.cast::<Element>();
    let cell = scroller.and_then(|it| it.query_selector(&selector).ok().flatten());
    let cell = cell.and_then(|cell| cell.dyn_into::<HtmlElement>().ok());
    cell.is_some_and(|cell| cell.focus().is_ok())
}
