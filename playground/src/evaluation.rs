//! The policy at work: what it was asked, and what each of its rules made of it.

use crate::elements::nothing;
use crate::policy::policy_places;
use crate::state::{Page, Servers};
use agent_answer::{DocumentKind, PolicyEvaluation, PolicyRule, Requirement};
use agent_ui::browser::value_of;
use agent_ui::editor::Viewer;
use agent_ui::names::name;
use agent_ui::page::use_page;
use agent_ui::problems::{places, prose};
use agent_ui::words::count;
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
        page.update(move |state| state.content.wanted.policy = number);
    });
    let options = (0..)
        .zip(requirements)
        .filter(|(_, it)| it.policy_decision.is_some());
    let options = options.map(|(each, requirement): (u32, &Requirement)| {
        html! {
            <option selected={each == number} value={each.to_string()}>{ requirement.name() }</option>
        }
    });
    let evaluation = content.views.policy.as_ref();
    let evaluation = evaluation.filter(|it| it.requirement == number);
    html! {
        <div class="evaluation">
            <form class="constraints">
                <label>{ "requirement" }<select {onchange}>{ for options }</select></label>
            </form>
            { match evaluation {
                Some(evaluation) => rules_and_input(requirement, evaluation),
                None => nothing(&page),
            } }
        </div>
    }
}

fn rules_and_input(requirement: &Requirement, evaluation: &PolicyEvaluation) -> Html {
    let lines = requirement
        .policy_decision
        .iter()
        .flat_map(|it| policy_places(&it.lines));
    let lines: Vec<_> = lines.collect();
    let shown = evaluation.input.len() as u32;
    html! {
        <>
            <table class="comparison">
                <thead><tr><th scope="col">{ "Rule" }</th><th scope="col">{ "Value" }</th></tr></thead>
                <tbody>{ for evaluation.rules.iter().map(rule) }</tbody>
            </table>
            <p>
                if lines.is_empty() {
                    { "No body of a rule held." }
                } else {
                    { "Rules with a body that held, marked in the policy: " }{ places(&lines) }
                }
            </p>
            <h3>{ "input" }</h3>
            if shown < evaluation.input_bytes {
                <p class="quiet">
                    { format!("The first {} of {}", count(shown, "byte"), count(evaluation.input_bytes, "byte")) }
                </p>
            }
            <Viewer label="input of the policy" text={Rc::<str>::from(&*evaluation.input)} />
        </>
    }
}

fn rule(rule: &PolicyRule) -> Html {
    let value = match (&rule.value, &rule.error) {
        (_, Some(error)) => html! { <span class="no">{ prose(error) }</span> },
        (Some(value), None) => html! { <pre tabindex="0">{ name(value, "") }</pre> },
        (None, None) => html! { <span class="quiet">{ "undefined" }</span> },
    };
    html! {
        <tr>
            <th scope="row"><code>{ &rule.name }</code><br />{ places([&rule.place]) }</th>
            <td>{ value }</td>
        </tr>
    }
}
