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
use agent_ui::words::count;
use agent_worker_protocol::{Cell, PolicyView, Table};
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
            (wanted.policy, wanted.tried) = (number, None);
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
    let view = view.filter(|it| it.requirement == number);
    html! {
        <div class="evaluation">
            <div class="constraints">
                <label>{ "requirement" }<select {onchange}>{ for options }</select></label>
                { for view.map(|view| edit(&page, view)) }
            </div>
            { match view {
                Some(view) => tables_and_input(requirement, view),
                None => nothing(&page),
            } }
        </div>
    }
}

/// Shows the fields that edit one value of the input.
fn edit(page: &Page, view: &PolicyView) -> Html {
    let tried = page.content().wanted.tried.as_ref();
    let is_tried = |pointer: &str| tried.is_some_and(|it| it.0 == pointer);
    let values = view.values.clone();
    let choose = page.callback(move |page, event: Event| {
        let pointer = value_of(&event);
        let chosen = values.iter().find(|it| it.0 == pointer).cloned();
        page.update(|state| state.content.wanted.tried = chosen);
    });
    let write = page.callback(|page, event: InputEvent| {
        let text = value_of(&event);
        page.update(|state| {
            if let Some(tried) = &mut state.content.wanted.tried {
                tried.1 = text;
            }
        });
    });
    let options = view.values.iter().map(|(pointer, _)| {
        html! { <option selected={is_tried(pointer)}>{ pointer }</option> }
    });
    html! {
        <>
            <label>{ "try" }<select onchange={choose}><option>{ "the input as it is" }</option>{ for options }</select></label>
            if let Some((_, text)) = tried {
                <label>{ "value" }<input spellcheck="false" value={text.clone()} oninput={write} /></label>
            }
        </>
    }
}

fn tables_and_input(requirement: &Requirement, view: &PolicyView) -> Html {
    let lines = requirement
        .policy_decision
        .iter()
        .flat_map(|it| policy_places(&it.lines));
    let lines: Vec<_> = lines.collect();
    let shown = view.input.len() as u32;
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
            <h3>{ "input" }</h3>
            if shown < view.input_bytes {
                <p class="quiet">
                    { format!("The first {} of {}", count(shown, "byte"), count(view.input_bytes, "byte")) }
                </p>
            }
            <Viewer label="input of the policy" text={Rc::<str>::from(&*view.input)} />
        </>
    }
}

fn table(table: &Table) -> Html {
    let head = table.head.iter();
    let head = head.map(|it| html! { <th scope="col">{ it }</th> });
    let rows = table.rows.iter().map(|row| {
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
