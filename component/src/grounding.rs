//! `agent:engine/grounding`

use crate::Component;
use crate::bindings::exports::agent::engine::grounding::{
    Diagnostic, Extent, Found, Grounding, Guest, Item, Missed, Quote, Reason, Verdict,
};
use crate::convert::all;
use agent_api::lower::Checked;
use agent_api::{GroundingAnswer, decide, explain, lower};
use std::ops::Range;

impl Guest for Component {
    fn ground(summary: Vec<u8>, payload: Vec<u8>) -> Result<Grounding, Vec<Diagnostic>> {
        let Checked { value, warnings } = lower::summarised(summary, payload).map_err(all)?;
        let (summary, payload) = &value;
        let answer = GroundingAnswer::new(summary, payload);
        let decided = answer.grounding();
        let items = decided.items().map(|(claim, verdict)| Item {
            claim: claim.claim.value.clone(),
            evidence: claim.evidence.value.clone(),
            place: summary.text.place(claim.evidence.span).into(),
            verdict: self::answer(decided, verdict),
        });
        Ok(Grounding {
            grounded: decided.grounded(),
            items: items.collect(),
            json: answer.json(),
            text: all(answer.text()),
            diagnostics: all(warnings.into_iter().chain(answer.diagnostics())),
        })
    }
}

fn answer(grounding: &decide::Grounding<'_>, verdict: &decide::Verdict) -> Verdict {
    match verdict {
        decide::Verdict::Grounded { first, count } => Verdict::Grounded(Found {
            first: quote(grounding, first),
            count: *count as u32,
        }),
        decide::Verdict::Ungrounded { reason, nearest } => Verdict::Ungrounded(Missed {
            reason: why(grounding, reason),
            nearest: nearest.as_ref().map(|near| quote(grounding, near)),
        }),
    }
}

fn why(grounding: &decide::Grounding<'_>, reason: &decide::Reason) -> Reason {
    match reason {
        decide::Reason::TooShort { code_points } => Reason::TooShort(*code_points as u32),
        decide::Reason::PartOfValue => Reason::PartOfValue,
        decide::Reason::Name(place) => Reason::Name((*place).into()),
        decide::Reason::NoText(place) => Reason::NoText((*place).into()),
        decide::Reason::AcrossLeaves([left, right]) => {
            Reason::AcrossLeaves((quote(grounding, left), quote(grounding, right)))
        }
        decide::Reason::Altered(differences) => Reason::Altered(all(differences.iter().copied())),
        decide::Reason::Absent => Reason::Absent,
    }
}

fn quote(grounding: &decide::Grounding<'_>, quote: &decide::Quote) -> Quote {
    let extent = |Range { start, end }: Range<usize>| Extent {
        start: start as u32,
        end: end as u32,
    };
    let cited = explain::cite(grounding, quote);
    Quote {
        pointer: cited.pointer,
        text: cited.text.to_owned(),
        place: cited.place.into(),
        bytes: extent(cited.bytes),
        characters: extent(cited.characters),
    }
}
