//! Whether a summary says what a payload says.

use crate::actor::{Page, use_page};
use crate::decision::nothing;
use crate::state::{Action, Engine, Told};
use agent_protocol::Fix;
use agent_protocol::plans::{Claim, Evidence, Grounding, NearMiss, Piece, Quote};
use agent_ui::failure::failure;
use agent_ui::fixes::fixes;
use agent_ui::problems::{Code, Place, Problems, prose};
use agent_ui::words::count;
use yew::prelude::*;

/// Every claim, and where its evidence is.
#[component]
pub(crate) fn GroundingView() -> Html {
    let page = use_page();
    let failed = match &page.state.engine {
        Engine::Failed(reason) => failure(reason),
        _ => html! {},
    };
    let Some(grounding) = page.state.answers.grounding.clone() else {
        return html! { <>{ failed }{ nothing(&page) }</> };
    };
    let claims = (0..).zip(&grounding.claims);
    let claims = claims.map(|(number, claim)| item(&page, number, claim));
    html! {
        <>
            { failed }
            { headline(&grounding) }
            <Problems diagnostics={grounding.diagnostics.clone()} />
            <ol class="requirements claims" aria-label="Claims">{ for claims }</ol>
        </>
    }
}

fn headline(grounding: &Grounding) -> Html {
    let (class, mark, answer) = match grounding.grounded {
        Some(true) => ("yes", "✓", "Every claim has its evidence"),
        Some(false) => ("no", "✗", "Not every claim has its evidence"),
        None => ("no", "✗", "Nothing is decided: an input has errors"),
    };
    let all = grounding.claims.len() as u32;
    let is_missed = |claim: &&Claim| matches!(claim.verdict, Evidence::Missed { .. });
    let missed = grounding.claims.iter().filter(is_missed).count();
    let facts = match missed {
        0 => count(all, "claim"),
        missed => format!("{missed} of {} without evidence", count(all, "claim")),
    };
    html! {
        <header class="headline" role="status">
            <p class={classes!("answer-line", class)}>
                <span class="mark" aria-hidden="true">{ mark }</span>
                { answer }
            </p>
            if all > 0 { <p class="facts">{ facts }</p> }
        </header>
    }
}

fn item(page: &Page, number: u32, claim: &Claim) -> Html {
    let (class, mark, said) = match claim.verdict {
        Evidence::Found { .. } => ("yes", "✓", "has its evidence"),
        Evidence::Missed { .. } => ("no", "✗", "has no evidence"),
    };
    let chosen = page.state.told == Told::Claim(number);
    let choose = {
        let (page, place) = (page.clone(), place_in_payload(claim));
        Callback::from(move |_: MouseEvent| {
            let told = if chosen {
                Told::Nothing
            } else {
                Told::Claim(number)
            };
            page.dispatch(Action::Tell(told));
            if let Some(place) = place.filter(|_| !chosen) {
                page.editors.reveal_soon(place, false);
            }
        })
    };
    html! {
        <li class={classes!("card", "claim", class, chosen.then_some("chosen"))} key={number}>
            <div class="card-head">
                <h3>
                    <span class="mark" aria-hidden="true">{ mark }</span>
                    <span class="visually-hidden">{ said }{ ": " }</span>
                    <button
                        class="claimed"
                        aria-pressed={chosen.to_string()}
                        title="Show it in the payload"
                        onclick={choose}
                    >
                        <bdi>{ &claim.claim }</bdi>
                    </button>
                </h3>
                <Place place={claim.place} />
            </div>
            { match &claim.verdict {
                Evidence::Found { first, count } => found(first, *count),
                Evidence::Missed { code, text, help, parts, near } => {
                    missed(page, claim, (code, text), help, parts, near.as_ref())
                }
            } }
        </li>
    }
}

/// What there is to be seen of a claim.
fn place_in_payload(claim: &Claim) -> Option<agent_protocol::Place> {
    match &claim.verdict {
        Evidence::Found { first, .. } => Some(first.place),
        Evidence::Missed { parts, near, .. } => {
            let near = near.as_ref().map(|near| near.quote.place);
            near.or_else(|| parts.first().copied())
        }
    }
}

/// A text of the payload and where it stands.
fn quoted(quote: &Quote) -> Html {
    html! {
        <>
            if quote.pointer.is_empty() {
                { "the whole" }
            } else {
                <code class="pointer"><bdi>{ &quote.pointer }</bdi></code>
            }
            { " " }<Place place={quote.place} />
        </>
    }
}

fn found(first: &Quote, times: u32) -> Html {
    html! {
        <>
            <blockquote class="quote yes"><bdi>{ &first.text }</bdi></blockquote>
            <p class="where">
                { quoted(first) }
                if times > 1 {
                    <span class="quiet">{ format!(", the first of {times}") }</span>
                }
            </p>
        </>
    }
}

fn missed(
    page: &Page,
    claim: &Claim,
    (code, text): (&str, &str),
    help: &[String],
    parts: &[agent_protocol::Place],
    near: Option<&NearMiss>,
) -> Html {
    let parts = parts
        .iter()
        .map(|place| html! { <>{ " " }<Place place={*place} /></> });
    let help = help.iter().map(|help| html! { <li>{ prose(help) }</li> });
    html! {
        <>
            <blockquote class="quote no"><bdi>{ &claim.evidence }</bdi></blockquote>
            <p><Code code={code.to_owned()} />{ " " }{ prose(text) }{ for parts }</p>
            <ul class="help">{ for help }</ul>
            { near.map(|near| nearest(page, near)) }
        </>
    }
}

/// What is nearest, and how it differs.
fn nearest(page: &Page, near: &NearMiss) -> Html {
    let fix = Fix {
        text: "quote what stands there".to_owned(),
        widening: false,
        edits: Some(near.edits.clone()),
    };
    html! {
        <>
            <h4>{ "Nearest in the payload" }</h4>
            <blockquote class="quote near">
                if near.pieces.is_empty() {
                    <bdi>{ &near.quote.text }</bdi>
                } else {
                    { for near.pieces.iter().map(piece) }
                }
            </blockquote>
            <p class="where">{ quoted(&near.quote) }</p>
            { fixes(&[fix], &page.on_apply()) }
        </>
    }
}

/// A piece of what is nearest, and of the evidence where they differ.
fn piece(piece: &Piece) -> Html {
    match piece {
        Piece::Both(text) => html! { <bdi>{ text }</bdi> },
        Piece::Evidence(text) => html! {
            <del title={code_points("only the evidence has it", text)}><bdi>{ text }</bdi></del>
        },
        Piece::Payload(text) => html! {
            <ins title={code_points("only the payload has it", text)}><bdi>{ text }</bdi></ins>
        },
    }
}

/// How many characters are named by their numbers.
const NAMED: usize = 3;

/// What is said of a piece: with the numbers of its characters where these may be all that differs.
fn code_points(said: &str, text: &str) -> String {
    if text.chars().nth(NAMED).is_some() {
        return said.to_owned();
    }
    let numbers = text.chars().map(|c| format!(" U+{:04X}", u32::from(c)));
    format!("{said}:{}", numbers.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::code_points;

    #[test]
    fn few_characters_are_named_by_their_numbers() {
        assert_eq!(
            code_points("only here", "\u{a0}“"),
            "only here: U+00A0 U+201C"
        );
        assert_eq!(code_points("only here", "many"), "only here");
    }
}
