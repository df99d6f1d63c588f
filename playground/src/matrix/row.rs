//! A row of the matrix.
//!
//! A row is rendered again only when it changes, and a cell has no listener: scrolling
//! through 10,000 servers creates and removes thousands of cells.

use super::layout::LETTERS;
use crate::elements::server_name;
use agent_answer::{Code, MatrixRow};
use agent_ui::names::Lookalikes;
use std::rc::Rc;
use wasm_bindgen::prelude::JsCast as _;
use web_sys::{Element, EventTarget};
use yew::prelude::*;

/// The columns of all rows.
#[derive(PartialEq)]
pub(super) struct Columns {
    /// The number of the first requirement.
    pub(super) first: u32,
    /// The number of the requirement of a row's first cell.
    pub(super) base: u32,
    /// The names of the requirements.
    pub(super) names: Vec<String>,
    /// The code of each check.
    pub(super) codes: Vec<Code>,
    /// The names of servers that look like others.
    pub(super) lookalikes: Lookalikes,
}

#[derive(Properties, PartialEq)]
pub(super) struct RowProps {
    /// Its number in the whole matrix.
    pub(super) at: u32,
    pub(super) row: MatrixRow,
    pub(super) columns: Rc<Columns>,
    /// The column of the keyboard, if it is in this row.
    pub(super) current: Option<u32>,
    /// The requirement whose explanation is open, if it is one of this row.
    pub(super) explained: Option<u32>,
}

/// A server or a tool, with a cell for each requirement.
#[component]
pub(super) fn Row(props: &RowProps) -> Html {
    let RowProps {
        at, row, columns, ..
    } = props;
    let tool = row.tool.as_deref();
    let slash = tool.map_or_else(String::new, |tool| format!(" / {tool}"));
    let name = format!("{} {}{slash}", row.server.id, row.server.version);
    let skipped = (columns.first - columns.base) as usize;
    let cells = row.cells.iter().skip(skipped).zip(&columns.names);
    let cells = (0..).zip(cells).map(|(column, (bits, required))| {
        let (class, sign, words) = cell(*bits, &columns.codes);
        let label = format!("{name}, {required}: {words}");
        let number = columns.first + column;
        html! {
            <td {class}>
                <button
                    data-cell={format!("{at}-{column}-{number}")}
                    data-sign={sign}
                    aria-current={(props.explained == Some(number)).then_some("true")}
                    tabindex={if props.current == Some(column) { "0" } else { "-1" }}
                    aria-label={label.clone()}
                    title={label}
                />
            </td>
        }
    });
    html! {
        <tr aria-rowindex={(at + 2).to_string()}>
            <th scope="row" title={name.clone()}>{ server_name(&columns.lookalikes, &row.server, tool) }</th>
            { for cells }
        </tr>
    }
}

/// Returns the row and the number of the requirement of the cell that an event is about.
pub(super) fn cell_at(target: EventTarget) -> Option<(u32, u32)> {
    let element = target.dyn_into::<Element>().ok()?;
    let cell = element.closest("[data-cell]").ok()??;
    let place = cell.get_attribute("data-cell")?;
    let mut numbers = place.split('-').map(str::parse);
    let row = numbers.next()?.ok()?;
    Some((row, numbers.next_back()?.ok()?))
}

/// Returns the class of a cell, its sign, and the same in words.
fn cell(bits: u16, codes: &[Code]) -> (String, String, String) {
    let words = |class: &str, sign: &str| (class.to_owned(), sign.to_owned(), class.to_owned());
    if bits & MatrixRow::SELECTED != 0 {
        return words("selected", "✓");
    }
    let failed = (0..LETTERS.len()).filter(|check| bits >> check & 1 != 0);
    let failed: Vec<_> = failed.collect();
    let [first, others @ ..] = &*failed else {
        return words("eligible", "○");
    };
    let more = match others.len() {
        0 => String::new(),
        more => format!("+{more}"),
    };
    let codes = failed.iter().filter_map(|check| codes.get(*check));
    let codes: Vec<_> = codes.map(|code| code.name()).collect();
    (
        format!("failed check-{first}"),
        format!("{}{more}", LETTERS[*first]),
        format!("rejected: {}", codes.join(", ")),
    )
}
