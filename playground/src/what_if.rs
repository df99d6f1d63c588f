//! The verdicts under other constraints, before the user edits anything.

use crate::elements::{nothing, server_name};
use crate::state::Page;
use agent_answer::{
    Applicability, Constraints, Fix, NearMiss, ServerName, Supposed, SupposedRequirement,
};
use agent_ui::answer::Sign;
use agent_ui::browser::value_of;
use agent_ui::names::Lookalikes;
use agent_ui::problems::{fixes, reasons};
use agent_ui::words::{count, thousands};
use yew::prelude::*;

/// Shows the constraints to try, and the changes that they would cause.
pub(crate) fn what_if(page: &Page) -> Html {
    let content = page.content();
    let verdict = content.verdict.as_ref();
    let Some(verdict) = verdict.filter(|it| it.satisfied.is_some()) else {
        return nothing(page);
    };
    let present = &verdict.constraints;
    let supposed = content.wanted.supposed.as_ref().unwrap_or(present);
    let suppose = |change: fn(&mut Constraints, String)| {
        let supposed = supposed.clone();
        page.callback(move |page, event: Event| {
            let mut supposed = supposed.clone();
            change(&mut supposed, value_of(&event));
            page.update(|state| state.content.wanted.supposed = Some(supposed));
        })
    };
    let on_signed = suppose(|constraints, _| {
        constraints.require_signed = !constraints.require_signed;
    });
    let changed = supposed != present;
    let about = &page.state.about;
    let comparison = match &content.views.supposed {
        _ if !changed => html! {
            <p class="quiet">
                { "Choose other constraints, or a cell below, to see what they would change. Nothing is \
                   edited before you adopt them." }
            </p>
        },
        Some(supposed) => html! {
            <>
                { comparison(&content.lookalikes, supposed) }
                { adoption(supposed.adopt.as_ref(), page.state.stale() || !about.policies) }
            </>
        },
        None => html! {},
    };
    let counts = match &content.views.counts {
        Some(counts) => grid(page, counts, [supposed, present]),
        None if page.state.stale() => html! {},
        None => html! {
            <p class="quiet">
                { "The policy would be asked about too many tools to count what every residency and \
                   sensitivity would satisfy." }
            </p>
        },
    };
    html! {
        <div class="what-if">
            <form class="constraints">
                { choice(
                    "residency",
                    &about.residencies,
                    [&supposed.residency, &present.residency],
                    suppose(|constraints, word| constraints.residency = chosen(word)),
                ) }
                { choice(
                    "sensitivity",
                    &about.sensitivities,
                    [&supposed.sensitivity, &present.sensitivity],
                    suppose(|constraints, word| constraints.sensitivity = chosen(word)),
                ) }
                <label class="check">
                    <input type="checkbox" checked={supposed.require_signed} onchange={on_signed} />
                    { "requireSigned" }
                    { badge(supposed.require_signed != present.require_signed) }
                </label>
                <button type="button" disabled={!changed} onclick={page.on(|state| state.content.wanted.supposed = None)}>
                    { "As in agents.md" }
                </button>
            </form>
            { comparison }
            { counts }
        </div>
    }
}

/// Shows the edit that writes the supposed constraints into the manifest, which the larger module makes.
fn adoption(adopt: Option<&Fix>, waiting: bool) -> Html {
    html! {
        <>
            <h3>{ "Adopt in agents.md" }</h3>
            if waiting {
                <p class="quiet">{ "…" }</p>
            } else if let Some(fix) = adopt {
                if fix.applicability == Applicability::Unsafe {
                    <p>{ "Less strict: these constraints admit servers that those of agents.md refuse." }</p>
                }
                { fixes([fix], None) }
            } else {
                <p class="quiet">{ "No edit of agents.md does just this: write it by hand." }</p>
            }
        </>
    }
}

/// Shows how many requirements each sensitivity satisfies under each residency. A cell supposes its
/// constraints; `constraints` are the supposed ones and the present ones.
fn grid(page: &Page, counts: &[u32], constraints: [&Constraints; 2]) -> Html {
    let about = &page.state.about;
    let all = page.content().requirements().len() as u32;
    let words = |words: &[String]| -> Vec<Option<String>> {
        let words = words.iter().cloned().map(Some);
        [None].into_iter().chain(words).collect()
    };
    let (residencies, sensitivities) = (words(&about.residencies), words(&about.sensitivities));
    let word = |word: &Option<String>| word.clone().unwrap_or_else(|| NONE.to_owned());
    let heads = residencies
        .iter()
        .map(|it| html! { <th scope="col">{ word(it) }</th> });
    let rows = sensitivities.iter().enumerate().map(|(row, sensitivity)| {
        let cells = residencies.iter().enumerate().map(|(column, residency)| {
            let number = counts.get(column * sensitivities.len() + row);
            let number = number.copied().unwrap_or_default();
            let wanted = Constraints {
                residency: residency.clone(),
                sensitivity: sensitivity.clone(),
                ..constraints[0].clone()
            };
            let [supposed, present] = constraints.map(|it| {
                (&it.residency, &it.sensitivity) == (&wanted.residency, &wanted.sensitivity)
            });
            let sign = Sign::of(number == all, "all satisfied", "not all satisfied");
            let met = format!("{}/{}", thousands(number), thousands(all));
            let label = format!(
                "{} and {}: {met} requirements{}",
                word(residency),
                word(sensitivity),
                if present { ", now" } else { "" },
            );
            let suppose = page.on(move |state| state.content.wanted.supposed = Some(wanted));
            html! {
                <td class={classes!(sign.class, present.then_some("present"))}>
                    <button
                        type="button"
                        aria-pressed={supposed.to_string()}
                        aria-label={label.clone()}
                        title={label}
                        onclick={suppose}
                    >
                        { sign.mark() }{ met }
                    </button>
                </td>
            }
        });
        html! { <tr><th scope="row">{ word(sensitivity) }</th>{ for cells }</tr> }
    });
    let signed = constraints[0].require_signed;
    html! {
        <>
            <h3>{ "Satisfied requirements by residency and sensitivity" }</h3>
            if signed { <p class="quiet">{ "With signatures required." }</p> }
            <div class="counts">
                <table>
                    <thead><tr><th scope="col">{ "sensitivity" }</th>{ for heads }</tr></thead>
                    <tbody>{ for rows }</tbody>
                </table>
            </div>
        </>
    }
}

fn badge(changed: bool) -> Html {
    html! { if changed { <span class="badge">{ "changed" }</span> } }
}

/// The word for no constraint.
const NONE: &str = "(none)";

fn chosen(word: String) -> Option<String> {
    (word != NONE).then_some(word)
}

/// Shows a field for one of some words.
fn choice(
    name: &'static str,
    words: &[String],
    values: [&Option<String>; 2],
    onchange: Callback<Event>,
) -> Html {
    let [supposed, present] = values.map(|value| value.as_deref().unwrap_or(NONE));
    let options = [NONE].into_iter().chain(words.iter().map(String::as_str));
    let options = options.map(|word| {
        html! {
            <option selected={word == supposed} value={word.to_owned()}>
                { word }
                if word == present { { " (current)" } }
            </option>
        }
    });
    html! {
        <label>
            { name }
            <select {onchange}>{ for options }</select>
            { badge(supposed != present) }
        </label>
    }
}

/// Shows the verdicts that change as the lines of a difference, and the number of the others.
fn comparison(lookalikes: &Lookalikes, supposed: &Supposed) -> Html {
    let all = &supposed.requirements;
    let differs =
        |row: &&SupposedRequirement| (&row.now, &row.now_tool) != (&row.then, &row.then_tool);
    let changed: Vec<_> = all.iter().filter(differs).collect();
    let (number, same) = (changed.len() as u32, (all.len() - changed.len()) as u32);
    let rows = changed.into_iter().map(|row| {
        let now = line(lookalikes, row, &row.now, &row.now_tool, row.now_eligible);
        let then = line(
            lookalikes,
            row,
            &row.then,
            &row.then_tool,
            row.then_eligible,
        );
        html! {
            <li class="changed">
                <h4>{ &row.name }</h4>
                <del>{ "− " }{ now }</del>
                <ins>{ "+ " }{ then }</ins>
                { for row.nearest.as_ref().map(|near| nearest(lookalikes, near)) }
            </li>
        }
    });
    html! {
        <>
            <p role="status">
                { format!("{number} of {} would change", count(all.len() as u32, "verdict")) }
                if number > 0 && same > 0 { { format!("; {same} as before") } }
            </p>
            if number > 0 { <ul class="comparison">{ for rows }</ul> }
        </>
    }
}

/// Shows a verdict on a requirement in a line.
fn line(
    lookalikes: &Lookalikes,
    row: &SupposedRequirement,
    server: &Option<ServerName>,
    tool: &Option<String>,
    eligible: u32,
) -> Html {
    let none = if row.tools { "no tool" } else { "no server" };
    match server {
        Some(server) => html! {
            <>
                { server_name(lookalikes, server, tool.as_deref()) }
                <span class="quiet">{ format!(" of {} eligible", thousands(eligible)) }</span>
            </>
        },
        None => html! { { none } },
    }
}

/// Shows the nearest candidate and the reasons against it.
fn nearest(lookalikes: &Lookalikes, near: &NearMiss) -> Html {
    html! {
        <div class="nearest">
            <span class="quiet">{ "nearest is " }</span>
            { server_name(lookalikes, &near.server, near.tool.as_deref()) }{ " " }
            { reasons(&near.reasons) }
        </div>
    }
}
