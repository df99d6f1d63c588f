//! A row of the matrix.
//!
//! Rows are shown anew only when they change, and a cell has no listener of its own: scrolling
//! through 10,000 servers makes and forgets thousands of cells.

use super::LETTERS;
use crate::verdict::server_name;
use agent_protocol::MatrixRow;
use std::rc::Rc;
use wasm_bindgen::prelude::JsCast as _;
use web_sys::{Element, EventTarget};
use yew::prelude::*;

/// What all rows have in common.
#[derive(PartialEq)]
pub(super) struct Columns {
    /// The number of the first requirement.
    pub(super) first: u32,
    /// The number of the requirement of the first cell of a row.
    pub(super) base: u32,
    /// What each requirement that has a column is known by.
    pub(super) names: Vec<String>,
    /// The code of each check.
    pub(super) codes: Vec<String>,
}

#[derive(Properties, PartialEq)]
pub(super) struct RowProps {
    /// Its number in the whole matrix.
    pub(super) at: u32,
    pub(super) row: MatrixRow,
    pub(super) columns: Rc<Columns>,
    /// The column in which the keyboard is, if it is in this row.
    pub(super) current: Option<u32>,
}

/// A server or a tool, and a cell for each requirement.
#[component]
pub(super) fn Row(props: &RowProps) -> Html {
    let RowProps {
        at, row, columns, ..
    } = props;
    let tool = row.tool.as_deref();
    let slash = tool.map_or_else(String::new, |tool| format!(" / {tool}"));
    let name = format!("{} {}{slash}", row.server.id, row.server.version);
    let cells = row
        .cells
        .iter()
        .skip((columns.first - columns.base) as usize);
    let cells = (0..)
        .zip(cells)
        .zip(&columns.names)
        .map(|((column, bits), required)| {
            let label = format!("{name}, {required}: {}", verdict(*bits, &columns.codes));
            let number = columns.first + column;
            let (class, sign) = sign(*bits);
            html! {
                <td {class}>
                    <button
                        data-cell={format!("{at}-{column}-{number}")}
                        data-sign={sign}
                        tabindex={if props.current == Some(column) { "0" } else { "-1" }}
                        aria-label={label.clone()}
                        title={label}
                    />
                </td>
            }
        });
    html! {
        <tr aria-rowindex={(at + 2).to_string()}>
            <th scope="row" title={name.clone()}>
                { server_name(&row.server, tool) }
            </th>
            { for cells }
        </tr>
    }
}

/// The row, and the number of the requirement, of the cell that an event is about.
pub(super) fn cell_at(target: EventTarget) -> Option<(u32, u32)> {
    let element = target.dyn_into::<Element>().ok()?;
    let cell = element.closest("[data-cell]").ok()??;
    let place = cell.get_attribute("data-cell")?;
    let mut numbers = place.split('-').map(str::parse);
    let row = numbers.next()?.ok()?;
    Some((row, numbers.next_back()?.ok()?))
}

/// The checks that a cell fails, by number.
fn failed(bits: u16) -> impl Iterator<Item = usize> {
    (0..LETTERS.len()).filter(move |check| bits >> check & 1 != 0)
}

/// How a cell looks: its class and its sign.
fn sign(bits: u16) -> (String, String) {
    if bits & MatrixRow::SELECTED != 0 {
        return ("selected".to_owned(), "✓".to_owned());
    }
    let Some(first) = failed(bits).next() else {
        return ("eligible".to_owned(), "○".to_owned());
    };
    let more = match failed(bits).count() - 1 {
        0 => String::new(),
        more => format!("+{more}"),
    };
    (
        format!("failed check-{first}"),
        format!("{}{more}", LETTERS[first]),
    )
}

/// What a cell says in words.
fn verdict(bits: u16, codes: &[String]) -> String {
    if bits & MatrixRow::SELECTED != 0 {
        return "selected".to_owned();
    }
    let codes: Vec<_> = failed(bits)
        .filter_map(|check| codes.get(check).map(String::as_str))
        .collect();
    if codes.is_empty() {
        return "eligible".to_owned();
    }
    format!("rejected: {}", codes.join(", "))
}
