//! The texts that differ: definitions of tools, and documents.

use crate::state::Page;
use agent_answer::{DocumentKind, Review, ReviewedTool};
use agent_ui::answer::Sign;
use agent_ui::editor::Viewer;
use agent_ui::names::{document_name, name};
use agent_ui::words::count;
use agent_worker_protocol::review::{Answer, earlier};
use std::rc::Rc;
use yew::prelude::*;

/// Maximum number of texts that are open at first.
const OPEN: usize = 3;

/// The documents whose lines are compared. The definitions in an index are compared by themselves.
const COMPARED: [DocumentKind; 3] = [
    DocumentKind::Manifest,
    DocumentKind::Policy,
    DocumentKind::Lock,
];

/// Shows the tools whose definitions differ: new ones first, as they give the agent more access.
pub(crate) fn tools(review: &Review) -> Html {
    let listed = review.tools.as_deref().unwrap_or_default();
    let mut sorted: Vec<_> = listed.iter().collect();
    sorted.sort_by_key(|tool| tool.before.is_some());
    let is_open = sorted.len() <= OPEN;
    html! {
        if !sorted.is_empty() {
            <section class="definitions" aria-label="Definitions of tools">
                <h3>{ "Definitions of tools" }</h3>
                { for sorted.into_iter().map(|tool| definition(tool, is_open)) }
                if review.more_tools > 0 {
                    <p class="quiet">{ format!("and {}", count(review.more_tools, "more tool")) }</p>
                }
            </section>
        }
    }
}

fn definition(tool: &ReviewedTool, is_open: bool) -> Html {
    let (sign, badge) = match (&tool.before, &tool.after) {
        (None, _) => (Sign::caution("new"), "warning"),
        (_, None) => (Sign::neutral("gone"), "neutral"),
        _ => (Sign::neutral("changed"), "neutral"),
    };
    let heading = html! {
        <>
            <strong>{ name(&tool.name, "") }</strong>{ " of " }{ name(&tool.server, "") }
            { " " }<span class={classes!("badge", badge)}>{ sign.words }</span>
        </>
    };
    let [before, after] = [&tool.before, &tool.after].map(|it| it.as_deref().map(Rc::from));
    let label = format!("Definition of {}", tool.name);
    let key = format!("{} {}", tool.server, tool.name);
    compared(key, heading, label, before, after, is_open)
}

/// Shows the documents of which both sides have a text, and these differ.
pub(crate) fn documents(page: &Page, answer: &Answer) -> Html {
    let text = |kind: DocumentKind, made: Option<&String>| -> Option<Rc<str>> {
        let text = String::from(page.editors.text(kind));
        let text = made.map_or(&*text, String::as_str);
        (!text.trim().is_empty()).then(|| text.into())
    };
    let changed = COMPARED.into_iter().filter_map(|kind| {
        let [first, second] = answer.made.each_ref().map(|made| {
            let made = made.as_ref();
            made.filter(|_| kind == DocumentKind::Lock)
        });
        let (before, after) = (text(earlier(kind), first)?, text(kind, second)?);
        let name = document_name(kind);
        let heading = html! { <code>{ name }</code> };
        let label = format!("Lines of {name}");
        (before != after).then(|| {
            compared(
                name.to_owned(),
                heading,
                label,
                Some(before),
                Some(after),
                false,
            )
        })
    });
    let changed: Vec<_> = changed.collect();
    html! {
        if !changed.is_empty() {
            <section class="definitions" aria-label="Documents">
                <h3>{ "Documents, line by line" }</h3>
                { for changed }
            </section>
        }
    }
}

/// Shows a text with its differences from the one before. A text on one side alone is shown as it is.
fn compared(
    key: String,
    heading: Html,
    label: String,
    before: Option<Rc<str>>,
    after: Option<Rc<str>>,
    is_open: bool,
) -> Html {
    let original = before.clone().filter(|_| after.is_some());
    let text = after.or(before).unwrap_or_default();
    html! {
        <details class="compared" {key} open={is_open}>
            <summary>{ heading }</summary>
            <Viewer {label} {text} {original} wrapped=true />
        </details>
    }
}
