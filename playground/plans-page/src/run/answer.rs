//! The present action, and the form for its outcome.

use super::{FORM, change};
use crate::state::Page;
use crate::stepping::Stepping;
use agent_ui::browser::value_of;
use agent_ui::names::name;
use agent_ui::problems::prose;
use agent_ui::words::capitalised;
use agent_worker_protocol::run::{Field, FieldInput, WantedAction};
use yew::prelude::*;

/// Shows the action that the run wants, with its facts, and asks for the outcome.
pub(super) fn answer(page: &Page, run: &Stepping, wanted: &WantedAction) -> Html {
    let Some((chosen, form)) = run.form() else {
        return html! {};
    };
    let onsubmit = {
        let next = change(page, |run, ()| run.next());
        let page = page.clone();
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            // A second key press must not answer the next action.
            if !page.state.stale() {
                next.emit(());
            }
        })
    };
    let facts = wanted.facts.iter().map(|(name_of_fact, value)| {
        html! { <><dt>{ name_of_fact }</dt><dd>{ name(value, "") }</dd></> }
    });
    let examples = wanted.forms.iter().enumerate().map(|(number, form)| {
        let selected = number == chosen;
        html! { <option value={number.to_string()} {selected}>{ capitalised(&form.title) }</option> }
    });
    let choose = change(page, |run, event: Event| {
        run.choose(value_of(&event).parse().unwrap_or_default());
    });
    let values = run.fields();
    let fields = form.fields.iter().zip(values).enumerate();
    let take = change(page, |run, event: InputEvent| run.take(value_of(&event)));
    let mistake = run.view.as_ref().and_then(|view| view.mistake.as_ref());
    html! {
        <form id={FORM} class="card wanted" {onsubmit}>
            if !wanted.facts.is_empty() { <dl class="facts-list">{ for facts }</dl> }
            <div class="fields">
                <label>
                    { "Result of the action" }
                    <select onchange={choose}>{ for examples }</select>
                </label>
                { for fields.map(|(number, (each, value))| field(page, number, each, value)) }
                <label class="short">
                    { "it took, in ms" }
                    <input type="number" min="0" value={run.took()} oninput={take} />
                </label>
            </div>
            { for mistake.map(|mistake| html! { <p class="mistake" role="alert">{ prose(mistake) }</p> }) }
        </form>
    }
}

fn field(page: &Page, number: usize, field: &Field, value: String) -> Html {
    let edit = change(page, move |run, event: InputEvent| {
        run.edit(number, value_of(&event));
    });
    let input = match &field.input {
        FieldInput::Line => {
            html! { <input type="text" {value} spellcheck="false" oninput={edit} /> }
        }
        FieldInput::Text => {
            let rows = value.lines().count().clamp(1, 8).to_string();
            html! { <textarea {rows} {value} spellcheck="false" oninput={edit} /> }
        }
        FieldInput::Choice(among) => {
            let options = among.iter().map(|it| {
                html! { <option value={it.clone()} selected={*it == value}>{ it }</option> }
            });
            let edit = change(page, move |run, event: Event| {
                run.edit(number, value_of(&event));
            });
            html! { <select onchange={edit}>{ for options }</select> }
        }
    };
    html! { <label key={number}>{ &field.label }{ input }</label> }
}
