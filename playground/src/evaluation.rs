//! The policy at work: what it was asked, and what each of its rules made of it.

use crate::elements::nothing;
use crate::policy::policy_places;
use crate::state::{Page, Servers};
use agent_answer::{DocumentKind, Requirement};
use agent_ui::browser::value_of;
use agent_ui::editor::Viewer;
use agent_ui::names::name;
use agent_ui::page::use_page;
use agent_ui::problems::places;
use agent_worker_protocol::{Cell, PolicyView, Table, from_bytes};
use std::rc::Rc;
use yew::prelude::*;

/// A small policy to begin with.
const STARTER: &str = include_str!("starter.rego");

/// A button that writes [`STARTER`] into the empty editor of the policy.
pub(crate) fn starter(page: &Page) -> Html {
    let start = page.callback(|page, _| {
        page.editors.replace(DocumentKind::Policy, STARTER);
        page.update(|state| state.show_input(DocumentKind::Policy));
    });
    html! { <button onclick={start}>{ "Start with a small policy" }</button> }
}

/// The evaluation of the policy for one requirement.
#[component]
pub(crate) fn EvaluationView() -> Html {
    let page = use_page::<Servers>();
    let content = page.content();
    if !page.editors.is_filled(DocumentKind::Policy) {
        return html! {
            <>
                <p>{ "A policy in Rego decides which of the matching tools the agent may use. No policy is given." }</p>
                <p>{ starter(&page) }</p>
            </>
        };
    }
    let requirements = content.requirements();
    let asked = content.wanted.policy;
    let asked = asked.and_then(|it| Some((it, requirements.get(it as usize)?)));
    let Some((number, requirement)) = asked.filter(|(_, it)| it.policy_decision.is_some()) else {
        return html! {
            <p class="quiet">
                { "The policy was not asked: no tool passes the checks before it, or an input has errors." }
            </p>
        };
    };
    let onchange = page.callback(|page, event: Event| {
        let number = value_of(&event).parse().ok();
        page.update(move |state| {
            let wanted = &mut state.content.wanted;
            (wanted.policy, wanted.tried) = (number, String::new());
        });
    });
    let options = (0..)
        .zip(requirements)
        .filter(|(_, it)| it.policy_decision.is_some());
    let options = options.map(|(each, requirement): (u32, &Requirement)| {
        html! {
            <option selected={each == number} value={each.to_string()}>{ requirement.name() }</option>
        }
    });
    let view = content.views.policy.as_ref();
    let view = view.and_then(|bytes| from_bytes::<PolicyView>(bytes));
    let view = view.filter(|it| it.requirement == number);
    html! {
        <div class="evaluation">
            <div class="constraints">
                <label>{ "requirement" }<select {onchange}>{ for options }</select></label>
                { for view.iter().map(|view| trial(&page, view)) }
            </div>
            { match &view {
                Some(view) => tables_and_input(requirement, view),
                None => nothing(&page),
            } }
            <p class="quiet">
                { "It also decides calls, by the calls before them and the labels of their data, and what is delivered of a result: the area " }
                <a href="#session">{ "Session" }</a>{ " shows both, and " }<a href="#audit">{ "Audit" }</a>
                { " decides a recorded log under it." }
            </p>
        </div>
    }
}

/// The field for a value of the input that is tried. It proposes those that are there.
fn trial(page: &Page, view: &PolicyView) -> Html {
    let oninput = page.callback(|page, event: InputEvent| {
        let text = value_of(&event);
        page.update(|state| state.content.wanted.tried = text);
    });
    let values = view
        .values
        .iter()
        .map(|it| html! { <option value={it.clone()} /> });
    html! {
        <label>
            { "try" }
            <input
                list="values"
                placeholder={view.values.first().cloned()}
                spellcheck="false"
                value={page.content().wanted.tried.clone()}
                {oninput}
            />
            <datalist id="values">{ for values }</datalist>
        </label>
    }
}

fn tables_and_input(requirement: &Requirement, view: &PolicyView) -> Html {
    let lines = requirement
        .policy_decision
        .iter()
        .flat_map(|it| policy_places(&it.lines));
    let lines: Vec<_> = lines.collect();
    html! {
        <>
            <p>
                if lines.is_empty() {
                    { "No body of a rule held." }
                } else {
                    { "Rules with a body that held, marked in the policy: " }{ places(&lines) }
                }
            </p>
            { for view.tables.iter().map(table) }
            <h3>{ &view.input_title }</h3>
            <Viewer label="input of the policy" text={Rc::<str>::from(&*view.input)} />
        </>
    }
}

fn table(table: &Table) -> Html {
    let head = table.head.iter();
    let head = head.map(|it| html! { <th scope="col">{ it }</th> });
    let rows = table.cells.chunks(table.head.len().max(1)).map(|row| {
        let cells = row.iter().enumerate().map(|(at, it)| match at {
            0 => html! { <th scope="row">{ cell(it) }</th> },
            _ => html! { <td>{ cell(it) }</td> },
        });
        html! { <tr>{ for cells }</tr> }
    });
    html! {
        <>
            <h3>{ &table.title }</h3>
            <table class="comparison">
                <thead><tr>{ for head }</tr></thead>
                <tbody>{ for rows }</tbody>
            </table>
        </>
    }
}

fn cell(cell: &Cell) -> Html {
    let text = name(&cell.text, "");
    html! {
        <>
            if cell.class == "value" {
                <pre tabindex="0">{ text }</pre>
            } else {
                <span class={cell.class.clone()}>{ text }</span>
            }
            if let Some(place) = cell.place { <br />{ places([&place]) } }
        </>
    }
}
