//! Problems of documents, places and fixes.

use crate::editor::file_name;
use crate::words::{capitalised, count};
use agent_protocol::{Diagnostic, Fix, Label, Severity};
use std::rc::Rc;
use yew::prelude::*;

/// Maximum number of problems to list. An index may have a thousand.
const SHOWN: usize = 50;

/// The folder of the pages that explain the codes.
const PAGES: &str = "https://github.com/agent-engine/agent/blob/main/docs/reference/codes";

/// The callback that shows a place in its editor, for every component inside a page.
#[derive(Clone, PartialEq)]
pub struct Guide(pub(crate) Callback<agent_protocol::Place>);

/// Shows a code, with a link to its page.
pub fn code(code: &str) -> Html {
    html! {
        <a class="code" href={format!("{PAGES}/{code}.md")} target="_blank" rel="noreferrer">
            { code }
        </a>
    }
}

/// Shows a sentence of the engine, with the text in backquotes as code.
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

/// Shows a code and a sentence.
pub fn reason(name: &str, text: &str) -> Html {
    html! { <>{ code(name) }{ " " }{ prose(text) }</> }
}

/// The properties of a [`Place`].
#[derive(Properties, PartialEq)]
pub struct PlaceProps {
    /// The place.
    pub place: agent_protocol::Place,
    /// The class of the button.
    #[prop_or("place")]
    pub class: &'static str,
    /// The content of the button; without any, the place in figures.
    #[prop_or_default]
    pub children: Option<Html>,
}

/// A button that shows a place in its editor.
#[component]
pub fn Place(props: &PlaceProps) -> Html {
    let Guide(go_to) = use_context().expect("`App` is around every component");
    let place = props.place;
    let figures = || {
        let (name, start) = (file_name(place.source), place.start);
        html! { { format!("{name}:{}:{}", start.line, start.column) } }
    };
    html! {
        <button
            class={props.class}
            onclick={go_to.reform(move |_| place)}
            title={(props.children.is_none()).then_some("Go there")}
        >
            { props.children.clone().unwrap_or_else(figures) }
        </button>
    }
}

/// Shows places, each behind a space.
pub fn places<'p>(places: impl IntoIterator<Item = &'p agent_protocol::Place>) -> Html {
    let places = places.into_iter();
    places
        .map(|place| html! { <>{ " " }<Place place={*place} /></> })
        .collect()
}

/// The properties of [`Problems`].
#[derive(Properties, PartialEq)]
pub struct ProblemsProps {
    /// The name of the list, for screen readers.
    #[prop_or("Problems")]
    pub label: &'static str,
    /// The problems, in any order.
    pub diagnostics: Rc<[Diagnostic]>,
}

/// A list of problems, errors first.
#[component]
pub fn Problems(props: &ProblemsProps) -> Html {
    // The requirement itself says this, and more about it.
    let listed = props
        .diagnostics
        .iter()
        .filter(|it| it.code != "UNSATISFIED");
    let mut all: Vec<_> = listed.collect();
    all.sort_by_key(|it| it.severity as u8);
    let rest = all.len().saturating_sub(SHOWN) as u32;
    html! {
        if !all.is_empty() {
            <ul class="problems" aria-label={props.label}>
                { for all.into_iter().take(SHOWN).map(problem) }
                if rest > 0 {
                    <li class="quiet">{ format!("and {}", count(rest, "more problem")) }</li>
                }
            </ul>
        }
    }
}

/// The name of a severity.
pub(crate) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn problem(found: &Diagnostic) -> Html {
    let severity = severity(found.severity);
    let message = prose(&found.message);
    let (message, place) = match found.labels.first() {
        Some(Label { place, .. }) => (
            html! { <Place place={*place} class="message">{ message }</Place> },
            html! { <Place place={*place} /> },
        ),
        None => (message, html! {}),
    };
    html! {
        <li class={classes!("problem", severity)}>
            <p>
                <strong>{ severity }</strong>{ " " }{ code(&found.code) }{ " " }
                { message }{ " " }{ place }
            </p>
            { labels(found.labels.get(1..).unwrap_or_default()) }
            { help(&found.help) }
        </li>
    }
}

/// Shows what a problem is in conflict with.
pub fn labels(labels: &[Label]) -> Html {
    let items = labels.iter().map(|label| {
        html! { <li><Place place={label.place} />{ " " }{ &label.text }</li> }
    });
    html! { if !labels.is_empty() { <ul class="also">{ for items }</ul> } }
}

/// Shows hints. Lines behind the first of a hint are an excerpt.
pub fn help(help: &[String]) -> Html {
    let items = help.iter().map(|help| match help.split_once('\n') {
        Some((lead, excerpt)) => html! { <li>{ prose(lead) }<pre>{ excerpt }</pre></li> },
        None => html! { <li>{ prose(help) }</li> },
    });
    html! { if !help.is_empty() { <ul class="help">{ for items }</ul> } }
}

/// Shows suggested fixes, each with a button that applies it if it has edits.
pub fn fixes(fixes: &[Fix], on_apply: &Callback<Fix>) -> Html {
    let items = fixes.iter().map(|fix| {
        let applied = fix.clone();
        html! {
            <li class={classes!("fix", fix.widening.then_some("widening"))}>
                <span>{ prose(&capitalised(&fix.text)) }</span>
                if fix.edits.is_some() {
                    <button class="apply" onclick={on_apply.reform(move |_| applied.clone())}>
                        { "Apply" }
                    </button>
                }
            </li>
        }
    });
    html! { <ul class="fixes" aria-label="Suggested fixes">{ for items }</ul> }
}
