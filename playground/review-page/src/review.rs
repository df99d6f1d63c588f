//! The answer: the most important difference in a sentence, then all of them, more access first.

use crate::state::{Page, Reviews};
use crate::texts::{documents, tools};
use agent_answer::{Code, Drift, Review};
use agent_ui::answer::{Sign, reasoned_headline, status};
use agent_ui::page::use_page;
use agent_ui::problems::{Problems, drift, prose};
use agent_ui::words::count;
use agent_worker_protocol::review::Answer;
use std::rc::Rc;
use yew::prelude::*;

/// The two sets of documents, compared.
#[component]
pub(crate) fn ReviewArea() -> Html {
    let page = use_page::<Reviews>();
    let status = status(&page, page.content().answer.is_some());
    let Some(answer) = &page.content().answer else {
        return status;
    };
    let review = answer.review.as_ref();
    html! {
        <>
            { status }
            { summary(answer) }
            <Problems diagnostics={Rc::clone(&page.content().problems)} />
            { for review.map(|review| html! {
                <>
                    { changes("More access", &review.more) }
                    { changes("Other changes", &review.other) }
                    { changes("Less access", &review.less) }
                    { digests(review) }
                    { tools(review) }
                </>
            }) }
            { documents(&page, answer) }
            { for review.map(|review| copy(&page, review)) }
        </>
    }
}

/// Returns the names of tools that only the later lock has, each with its server.
fn new_tools(review: &Review) -> Vec<String> {
    let tools = review.tools.iter().flatten();
    tools
        .filter(|tool| tool.before.is_none())
        .map(|tool| format!("`{}` of `{}`", tool.name, tool.server))
        .collect()
}

/// Returns the sign of an answer: amber for more access alone.
pub(crate) fn sign(answer: &Answer) -> Sign {
    let Some(review) = &answer.review else {
        return match answer.problems.is_empty() {
            true => Sign::neutral("nothing to compare"),
            false => Sign::no("not compared"),
        };
    };
    let tools = review.tools.as_deref().unwrap_or_default();
    if !review.more.is_empty() || !new_tools(review).is_empty() {
        Sign::caution("more access")
    } else if review.sentence.is_some() || !tools.is_empty() {
        Sign::neutral("no more access")
    } else {
        Sign::yes("no difference")
    }
}

fn summary(answer: &Answer) -> Html {
    let sign = sign(answer);
    let Some(review) = &answer.review else {
        let words = match answer.problems.is_empty() {
            true => "There is no later lock. Paste agents.lock, or agents.md and its index.",
            false => "Nothing is compared: a document has an error",
        };
        return reasoned_headline(sign, words.into(), None, &[]);
    };
    let new = new_tools(review);
    let sentence = match (&review.sentence, &*new) {
        (Some(sentence), _) if !review.more.is_empty() => prose(sentence),
        (_, [first, rest @ ..]) => {
            let more = match rest.len() as u32 {
                0 => String::new(),
                more => format!(", and {}", count(more, "more new tool")),
            };
            prose(&format!("a tool is new: {first}{more}"))
        }
        (Some(_), []) => "No change gives the agent more access".into(),
        (None, []) if review.tools.as_ref().is_some_and(|it| !it.is_empty()) => {
            "The locks are the same, and definitions of tools differ".into()
        }
        (None, []) => "No differences".into(),
    };
    let mut facts: Vec<_> = answer.agent.iter().cloned().collect();
    let definitions = review.tools.iter().flatten();
    let changed = definitions.filter(|it| it.before.is_some() && it.after.is_some());
    for (number, noun, words) in [
        (review.more.len(), "change", " with more access"),
        (review.other.len(), "other change", ""),
        (review.less.len(), "change", " with less access"),
        (new.len(), "new tool", ""),
        (changed.count(), "changed definition", ""),
    ] {
        if number > 0 {
            facts.push(format!("{}{words}", count(number as u32, noun)));
        }
    }
    reasoned_headline(sign, sentence, None, &facts)
}

/// Shows differences of one kind, if there are any.
fn changes(heading: &'static str, drifts: &[Drift]) -> Html {
    html! {
        if !drifts.is_empty() {
            <section class="drifts" aria-label={heading}>
                <h3>{ heading }</h3>
                <ul>{ for drifts.iter().map(drift) }</ul>
            </section>
        }
    }
}

/// Says what would show the changes of definitions that are known by their digests alone.
fn digests(review: &Review) -> Html {
    let is_open = |drift: &Drift| match drift.code {
        Code::DefinitionChanged => drift.details.is_empty(),
        Code::IntegrityChanged | Code::VersionChanged => review.tools.is_none(),
        _ => false,
    };
    html! {
        if review.other.iter().any(is_open) {
            <p class="quiet">
                { "A lock has the digests of definitions alone. Paste the index of each side to compare their texts." }
            </p>
        }
    }
}

/// Offers the review as `agent diff --format markdown` prints it.
fn copy(page: &Page, review: &Review) -> Html {
    let markdown = review.markdown.clone();
    let copy = page.callback(move |page, _: MouseEvent| page.copy("the review", markdown.clone()));
    html! {
        <p class="actions"><button onclick={copy}>{ "Copy as Markdown" }</button></p>
    }
}
