//! What is to be said about the inputs.

use crate::editor::file_name;
use crate::words::count;
use agent_protocol::{Diagnostic, Severity};
use yew::prelude::*;

/// How many problems are listed. An index may have a thousand.
const SHOWN: usize = 50;

/// Where the codes are explained.
const PAGES: &str = "https://github.com/agent-engine/agent/blob/main/docs/reference/codes";

/// What a click on a place does, for everything that shows one: it goes there.
#[derive(Clone, PartialEq)]
pub struct Guide(pub Callback<agent_protocol::Place>);

#[hook]
fn use_guide() -> Callback<agent_protocol::Place> {
    let guide: Option<Guide> = use_context();
    guide
        .expect("a guide is around everything that shows places")
        .0
}

/// A code of the catalogue.
#[derive(Properties, PartialEq)]
pub struct CodeProps {
    /// Its name.
    pub code: AttrValue,
}

/// A code, with a link to its page.
#[component]
pub fn Code(props: &CodeProps) -> Html {
    html! {
        <a class="code" href={format!("{PAGES}/{}.md", props.code)} target="_blank" rel="noreferrer">
            { &props.code }
        </a>
    }
}

/// A sentence of the engine, with what stands in backquotes as code.
pub fn prose(text: &str) -> Html {
    let pieces = text.split('`').enumerate().map(|(at, piece)| {
        if at % 2 == 0 {
            html! { { piece } }
        } else {
            html! { <code><bdi>{ piece }</bdi></code> }
        }
    });
    html! { <>{ for pieces }</> }
}

/// A place in an input.
#[derive(Properties, PartialEq)]
pub struct PlaceProps {
    /// The place.
    pub place: agent_protocol::Place,
}

/// A place; a click goes there.
#[component]
pub fn Place(props: &PlaceProps) -> Html {
    let go_to = use_guide();
    let place = props.place;
    let onclick = go_to.reform(move |_: MouseEvent| place);
    html! {
        <button class="place" {onclick} title="Go there">
            { format!("{}:{}:{}", file_name(place.source), place.start.line, place.start.column) }
        </button>
    }
}

/// Problems of inputs.
#[derive(Properties, PartialEq)]
pub struct ProblemsProps {
    /// What they are called for screen readers.
    #[prop_or(AttrValue::Static("Problems"))]
    pub label: AttrValue,
    /// In any order.
    pub diagnostics: Vec<Diagnostic>,
}

/// All problems, errors first.
#[component]
pub fn Problems(props: &ProblemsProps) -> Html {
    let go_to = use_guide();
    let all: Vec<_> = [Severity::Error, Severity::Warning, Severity::Note]
        .iter()
        .flat_map(|severity| {
            let of_it = props.diagnostics.iter();
            of_it.filter(move |found| found.severity == *severity)
        })
        // The requirement itself says so, and more about it.
        .filter(|found| found.code != "UNSATISFIED")
        .collect();
    let items = all.iter().take(SHOWN).map(|found| problem(&go_to, found));
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

fn problem(go_to: &Callback<agent_protocol::Place>, found: &Diagnostic) -> Html {
    let (class, word) = match found.severity {
        Severity::Error => ("error", "error"),
        Severity::Warning => ("warning", "warning"),
        Severity::Note => ("note", "note"),
    };
    let onclick = found.labels.first().map(|label| {
        let place = label.place;
        go_to.reform(move |_: MouseEvent| place)
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
