//! The answer to a summary.

use crate::state::{Expanded, Page, Plans};
use agent_answer::{Claim, Evidence, Fix, Grounding, NearQuote, Piece, Quote};
use agent_ui::answer::{Sign, headline, status};
use agent_ui::page::use_page;
use agent_ui::problems::{ApplyAll, Place, Problems, fixes, help, places, reason};
use agent_ui::words::{capitalised, count};
use std::rc::Rc;
use yew::prelude::*;

/// Every claim, and the place of its evidence.
#[component]
pub(crate) fn GroundingView() -> Html {
    let page = use_page::<Plans>();
    let grounding = page.content().grounding();
    let status = status(&page, grounding.is_some());
    let Some(grounding) = grounding else {
        return status;
    };
    let claims = (0..).zip(&grounding.claims);
    let claims = claims.map(|(number, claim)| item(&page, number, claim));
    let diagnostics: Rc<[_]> = grounding.diagnostics.clone().into();
    let problems: Rc<[_]> = diagnostics.iter().map(|it| it.fixes.clone()).collect();
    html! {
        <>
            { status }
            { summary(grounding) }
            <ApplyAll {problems} />
            <Problems {diagnostics} />
            <ol class="requirements claims" aria-label="Claims">{ for claims }</ol>
        </>
    }
}

/// Returns the verdict, and the headline.
pub(crate) fn verdict(grounding: &Grounding) -> (Sign, String) {
    let sign = match grounding.grounded {
        Some(true) => Sign::yes(""),
        Some(false) => Sign::no(""),
        None => Sign::no("No decision: an input has errors"),
    };
    let sentence = match &*grounding.text {
        "" => sign.words.to_owned(),
        text => capitalised(text),
    };
    (sign, sentence)
}

fn summary(grounding: &Grounding) -> Html {
    let (sign, sentence) = verdict(grounding);
    let all = count(grounding.claims.len() as u32, "claim");
    let is_missed = |claim: &&Claim| matches!(claim.verdict, Evidence::Missed { .. });
    let facts = match grounding.claims.iter().filter(is_missed).count() {
        _ if grounding.claims.is_empty() => vec![],
        0 => vec![all],
        missed => vec![format!("{missed} of {all} without evidence")],
    };
    headline(sign, &sentence, &facts)
}

fn item(page: &Page, number: u32, claim: &Claim) -> Html {
    let found = matches!(claim.verdict, Evidence::Found { .. });
    let sign = Sign::of(found, "quotes the payload", "does not quote the payload");
    let chosen = page.content().expanded == Expanded::Claim(number);
    let place = place_in_payload(claim);
    let choose = page.callback(move |page, _| {
        if chosen {
            return page.update(|state| state.content.expanded = Expanded::Nothing);
        }
        page.update(move |state| state.content.expanded = Expanded::Claim(number));
        if let Some(place) = place {
            page.editors.reveal_soon(place, false);
        }
    });
    let name = html! {
        <button
            class="claimed"
            aria-pressed={chosen.to_string()}
            title="Show it in the payload"
            onclick={choose}
        >
            <bdi>{ &claim.claim }</bdi>
        </button>
    };
    html! {
        <li class={classes!("card", "claim", sign.class, chosen.then_some("chosen"))} key={number}>
            <div class="card-head">
                <h3>{ sign.before(name) }</h3>
                <Place place={claim.place} />
            </div>
            { match &claim.verdict {
                Evidence::Found { first, count } => evidence(first, *count),
                Evidence::Missed { code, text, notes, parts, near } => html! {
                    <>
                        <blockquote class="quote no"><bdi>{ &claim.evidence }</bdi></blockquote>
                        <p>{ reason(*code, text) }{ places(parts) }</p>
                        { help(notes.iter().map(String::as_str)) }
                        { for near.as_ref().map(near_miss) }
                    </>
                },
            } }
        </li>
    }
}

/// Returns the place in the payload that is worth seeing for a claim.
fn place_in_payload(claim: &Claim) -> Option<agent_answer::Place> {
    match &claim.verdict {
        Evidence::Found { first, .. } => Some(first.place),
        Evidence::Missed { parts, near, .. } => {
            let near = near.as_ref().map(|near| near.quote.place);
            near.or_else(|| parts.first().copied())
        }
    }
}

/// Shows the place of a quote.
fn quoted(quote: &Quote) -> Html {
    html! {
        <>
            if quote.pointer.is_empty() {
                { "the whole" }
            } else {
                <code class="pointer"><bdi>{ &quote.pointer }</bdi></code>
            }
            { places([&quote.place]) }
        </>
    }
}

fn evidence(first: &Quote, times: u32) -> Html {
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

/// Shows the nearest text, and its differences from the evidence.
fn near_miss(near: &NearQuote) -> Html {
    let fix = Fix {
        title: "quote the payload".to_owned(),
        ..near.fix.clone()
    };
    html! {
        <>
            <h4>{ "Nearest text in the payload" }</h4>
            <blockquote class="quote near">
                if near.pieces.is_empty() {
                    <bdi>{ &near.quote.text }</bdi>
                } else {
                    { for near.pieces.iter().map(piece) }
                }
            </blockquote>
            <p class="where">{ quoted(&near.quote) }</p>
            { fixes([&fix], None) }
        </>
    }
}

/// Shows a piece of the nearest text, or of the evidence where the two differ.
fn piece(piece: &Piece) -> Html {
    match piece {
        Piece::Both(text) => html! { <bdi>{ text }</bdi> },
        Piece::Evidence(text) => html! {
            <del title={code_points("only in the evidence", text)}><bdi>{ text }</bdi></del>
        },
        Piece::Payload(text) => html! {
            <ins title={code_points("only in the payload", text)}><bdi>{ text }</bdi></ins>
        },
    }
}

/// Maximum number of characters of a piece whose code points are shown.
const CODE_POINTS: usize = 3;

/// Appends the code points of a short piece: they may be its only visible difference.
fn code_points(label: &str, text: &str) -> String {
    if text.chars().nth(CODE_POINTS).is_some() {
        return label.to_owned();
    }
    let numbers = text.chars().map(|c| format!(" U+{:04X}", u32::from(c)));
    format!("{label}:{}", numbers.collect::<String>())
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
