//! Whether a summary says what a payload says, as it is shown.

use super::difference::pieces;
use super::{Session, shown, split_fixes};
use crate::convert;
use agent_api::decide::{self, Reason};
use agent_api::model;
use agent_api::{GroundingAnswer, explain};
use agent_protocol::plans::{Claim, Evidence, Grounding, NearMiss, Quote};

pub(super) fn grounding(session: &Session) -> Grounding {
    let found = [&session.summary.problems, &session.payload.problems];
    let found = found.map(Vec::as_slice).concat();
    let undecided = Grounding {
        diagnostics: convert::diagnostics(found),
        ..Grounding::default()
    };
    let (Some(summary), Some(payload)) = (&session.summary.value, &session.payload.value) else {
        return undecided;
    };
    let answer = GroundingAnswer::new(summary, payload);
    let decided = answer.grounding();
    let mut failures = answer.diagnostics().into_iter();
    let claims = decided.items().map(|(claim, verdict)| Claim {
        claim: shown(&claim.claim.value),
        evidence: shown(&claim.evidence.value),
        place: convert::place(&summary.text.place(claim.evidence.span)),
        verdict: match verdict {
            decide::Verdict::Grounded { first, count } => Evidence::Found {
                first: quote(decided, first),
                count: u32::try_from(*count).unwrap_or(u32::MAX),
            },
            decide::Verdict::Ungrounded { reason, nearest } => {
                // The fix with edits is the nearest text, which is shown by itself.
                let found = failures.next();
                let help = found.map_or_else(Vec::new, |mut it| split_fixes(&mut it).1);
                Evidence::Missed {
                    code: explain::ungrounded_code(reason).name().to_owned(),
                    text: explain::ungrounded_reason(decided, reason),
                    help,
                    parts: parts(decided, reason),
                    near: nearest.as_ref().map(|found| near(decided, claim, found)),
                }
            }
        },
    });
    Grounding {
        grounded: Some(decided.grounded()),
        claims: claims.collect(),
        ..undecided
    }
}

fn quote(grounding: &decide::Grounding<'_>, quote: &decide::Quote) -> Quote {
    let cited = explain::cite(grounding, quote);
    Quote {
        pointer: cited.pointer,
        text: shown(cited.text),
        place: convert::place(&cited.place),
    }
}

fn parts(grounding: &decide::Grounding<'_>, reason: &Reason) -> Vec<agent_protocol::Place> {
    match reason {
        Reason::Name(place) => vec![convert::place(place)],
        Reason::AcrossLeaves(parts) => {
            let parts = parts.iter().map(|part| explain::cite(grounding, part));
            parts.map(|part| convert::place(&part.place)).collect()
        }
        _ => Vec::new(),
    }
}

fn near(
    grounding: &decide::Grounding<'_>,
    claim: &model::Claim,
    found: &decide::Quote,
) -> NearMiss {
    let cited = explain::cite(grounding, found);
    NearMiss {
        quote: quote(grounding, found),
        pieces: pieces(&claim.evidence.value, cited.text),
        edits: vec![convert::edit(explain::requote(grounding, claim, found))],
    }
}
