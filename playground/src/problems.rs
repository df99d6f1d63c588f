//! What is to be said about the inputs.

use crate::editor::file_name;
use crate::page::{Actor, count, use_actor};
use agent_protocol::{Diagnostic, Severity};
use yew::prelude::*;

/// How many problems are listed. An index may have a thousand.
const SHOWN: usize = 50;

/// Where the codes are explained.
const PAGES: &str = "https://github.com/agent-engine/agent/blob/main/docs/reference/codes";

#[derive(Properties, PartialEq)]
pub(crate) struct CodeProps {
    pub(crate) code: AttrValue,
}

/// A code, with a link to its page.
#[component]
pub(crate) fn Code(props: &CodeProps) -> Html {
    html! {
        <a class="code" href={format!("{PAGES}/{}.md", props.code)} target="_blank" rel="noreferrer">
            { &props.code }
        </a>
    }
}

/// A sentence of the engine, with what stands in backquotes as code.
pub(crate) fn prose(text: &str) -> Html {
    let pieces = text.split('`').enumerate().map(|(at, piece)| {
        if at % 2 == 0 {
            html! { { piece } }
        } else {
            html! { <code><bdi>{ piece }</bdi></code> }
        }
    });
    html! { <>{ for pieces }</> }
}

#[derive(Properties, PartialEq)]
pub(crate) struct PlaceProps {
    pub(crate) place: agent_protocol::Place,
}

/// A place; a click goes there.
#[component]
pub(crate) fn Place(props: &PlaceProps) -> Html {
    let actor = use_actor();
    let place = props.place;
    let onclick = Callback::from(move |_: MouseEvent| actor.go_to(place));
    html! {
        <button class="place" {onclick} title="Go there">
            { format!("{}:{}:{}", file_name(place.source), place.start.line, place.start.column) }
        </button>
    }
}

#[derive(Properties, PartialEq)]
pub(crate) struct ProblemsProps {
    #[prop_or(AttrValue::Static("Problems"))]
    pub(crate) label: AttrValue,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// All problems, errors first.
#[component]
pub(crate) fn Problems(props: &ProblemsProps) -> Html {
    let actor = use_actor();
    let all: Vec<_> = [Severity::Error, Severity::Warning, Severity::Note]
        .iter()
        .flat_map(|severity| {
            let of_it = props.diagnostics.iter();
            of_it.filter(move |found| found.severity == *severity)
        })
        // The requirement itself says so, and more about it.
        .filter(|found| found.code != "UNSATISFIED")
        .collect();
    let items = all.iter().take(SHOWN).map(|found| problem(&actor, found));
    let rest = all.len().saturating_sub(SHOWN) as u32;
    html! {
        if !all.is_empty() {
            <ul class="problems" aria-label={props.label.clone()}>
                { for items }
                if rest > 0 {
                    <li class="quiet">{ format!("and {}", count(rest, "more problem")) }</li>
                }
            </ul>
        }
    }
}

fn problem(actor: &Actor, found: &Diagnostic) -> Html {
    let (class, word) = match found.severity {
        Severity::Error => ("error", "error"),
        Severity::Warning => ("warning", "warning"),
        Severity::Note => ("note", "note"),
    };
    let onclick = found.labels.first().map(|label| {
        let (actor, place) = (actor.clone(), label.place);
        Callback::from(move |_: MouseEvent| actor.go_to(place))
    });
    let also = found.labels.iter().skip(1).map(|label| {
        html! {
            <li><Place place={label.place} />{ " " }{ &label.text }</li>
        }
    });
    let help = found.help.iter().map(|help| match help.split_once('\n') {
        Some((lead, snippet)) => html! { <li>{ prose(lead) }<pre>{ snippet }</pre></li> },
        None => html! { <li>{ prose(help) }</li> },
    });
    html! {
        <li class={classes!("problem", class)}>
            <p>
                <strong>{ word }</strong>{ " " }
                <Code code={found.code.clone()} />{ " " }
                <button class="message" {onclick}>{ prose(&found.message) }</button>{ " " }
                { found.labels.first().map(|label| html! { <Place place={label.place} /> }) }
            </p>
            if found.labels.len() > 1 {
                <ul class="also">{ for also }</ul>
            }
            if !found.help.is_empty() {
                <ul class="help">{ for help }</ul>
            }
        </li>
    }
}
